//===- nonfinite_notes.cpp - notes of gradients ---------------------------===//

#include "runtime/tensor/nonfinite_notes.h"

#include "runtime/tensor/torch/kernels/training/nonfinite.h"

#include <ATen/ATen.h>
#include <algorithm>

using namespace meshplan;

namespace {
thread_local NonfiniteNotes *current = nullptr;
} // namespace

/// Counts stay on the device until they are read.
struct NonfiniteNotes::Calls {
  struct Call {
    std::string name;
    at::Tensor count;
    bool isSummed;
  };
  std::vector<Call> list;
};

struct meshplan::NonfiniteNotesAccess {
  static void add(NonfiniteNotes &notes, std::string name, at::Tensor count, bool isSummed) {
    notes.calls->list.push_back({std::move(name), std::move(count), isSummed});
  }
};

/// Notes nest, as scopes do: the innermost of the thread gets them.
NonfiniteNotes::NonfiniteNotes() : calls(std::make_unique<Calls>()), outer(current) { current = this; }

NonfiniteNotes::~NonfiniteNotes() { current = outer; }

std::vector<NonfiniteNote> NonfiniteNotes::read() const {
  std::vector<NonfiniteNote> notes;
  for (const auto &[name, tensor, isSummed] : calls->list) {
    // Counts stay on the device until here, because reading one synchronizes with the device.
    int64_t count = tensor.item<int64_t>();
    if (count == 0)
      continue;
    // A gradient is noted once per microbatch.
    auto known = std::ranges::find(notes, name, &NonfiniteNote::name);
    if (known == notes.end())
      notes.push_back({name, count, isSummed});
    else
      known->count += count;
  }
  return notes;
}

at::Tensor meshplan::noteNonfinite(const at::Tensor &self, std::string_view name, bool summed) {
  if (current)
    NonfiniteNotesAccess::add(*current, std::string(name), nonfiniteCount(self), summed);
  return self;
}
