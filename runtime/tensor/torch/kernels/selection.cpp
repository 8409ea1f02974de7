//===- selection.cpp - top-k along a sharded dim --------------------------===//
//
// Why not the k largest of each rank, merged? The values would be right, but among equal elements PyTorch's choice
// depends on the state of its heap, which is that of std::partial_sort over the whole row. So the ranks continue one
// heap, in the order of the positions.
//
// Example: k = 2 of 8 elements; rank 0 holds positions 0-3 and rank 1 positions 4-7. Step [0, 4): rank 0 returns its
// heap, rank 1 the lowest numbers, and the max over the ranks gives the heap to both. Step [4, 8): rank 1 continues
// with it and sorts, since the row ends there.
//
// The steps follow one another, so the time is that of a single rank, but no rank ever holds the whole row.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/torch/kernels/parts.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <algorithm>
#include <limits>
#include <vector>

using namespace meshplan;

namespace {

template <typename Number> using Candidate = std::pair<Number, int64_t>;

template <typename Number> bool isNan(Number value) {
  if constexpr (std::is_integral_v<Number>)
    return false;
  else
    return value != value;
}

/// The order of candidates. NaN is the largest.
template <typename Number> struct Order {
  bool largest;
  bool operator()(const Candidate<Number> &left, const Candidate<Number> &right) const {
    bool isFirst = isNan(left.first), isSecond = isNan(right.first);
    if (largest)
      return (isFirst && !isSecond) || left.first > right.first;
    return (!isFirst && isSecond) || left.first < right.first;
  }
};

/// std::partial_sort of a row, as in aten.topk, which can stop after any element and continue later.
template <typename Number> class Selection {
public:
  Selection(int64_t count, bool largest) : count(static_cast<size_t>(count)), order{largest} {
    kept.reserve(count + 1);
  }

  /// Adds an element that was kept before, in the order of `elements`. A complete heap is valid without sorting.
  void resume(Number value, int64_t index) { kept.push_back({value, index}); }

  void add(Number value, int64_t index) {
    // Most elements are not among the k largest, and are rejected by one comparison with the smallest kept one.
    if (kept.size() == count && !order({value, index}, kept.front()))
      return;
    kept.push_back({value, index});
    if (kept.size() == count)
      std::make_heap(kept.begin(), kept.end(), order);
    if (kept.size() <= count)
      return;
    // The new element replaces the front, as in std::partial_sort.
    std::pop_heap(kept.begin(), kept.end(), order);
    kept.pop_back();
  }

  void sort() { std::sort_heap(kept.begin(), kept.end(), order); }

  const std::vector<Candidate<Number>> &elements() const { return kept; }

private:
  size_t count;
  Order<Number> order;
  std::vector<Candidate<Number>> kept;
};

/// One step over rows of contiguous tensors, whose last dim is selected from.
struct Step : TopkStep {
  int64_t first; ///< index of `begin` among the rank's positions
};

} // namespace

template <typename Number>
static void selectRow(const Step &step, const Number *row, const Number *before, const int64_t *positionsBefore,
                      Number *values, int64_t *indices) {
  Selection<Number> selection(step.k, step.largest);
  for (int64_t index = 0; index < std::min(step.k, step.begin); ++index)
    selection.resume(before[index], positionsBefore[index]);
  for (int64_t position = step.begin; position < step.end; ++position)
    selection.add(row[step.first + position - step.begin], position);
  if (step.end == step.size)
    // Only after the last run. Between ranks the elements are passed on in heap order.
    selection.sort();
  int64_t index = 0;
  for (const auto &[value, position] : selection.elements()) {
    values[index] = value;
    indices[index++] = position;
  }
}

static void selectRows(const Step &step, const at::Tensor &self, const at::Tensor &before,
                       const at::Tensor &positionsBefore, at::Tensor &values, at::Tensor &indices) {
  int64_t columns = self.size(-1), rows = self.numel() / columns;
  AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, self.scalar_type(), "topk_part", [&] {
    const auto *all = self.const_data_ptr<scalar_t>();
    const auto *old = before.defined() ? before.const_data_ptr<scalar_t>() : nullptr;
    const auto *oldPlaces = before.defined() ? positionsBefore.const_data_ptr<int64_t>() : nullptr;
    auto *value = values.data_ptr<scalar_t>();
    auto *index = indices.data_ptr<int64_t>();
    // Short rows are grouped, so that a thread has enough work.
    at::parallel_for(0, rows, std::max<int64_t>(1, (1 << 15) / columns), [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row)
        selectRow<scalar_t>(step, all + row * columns, old ? old + row * step.k : nullptr,
                            old ? oldPlaces + row * step.k : nullptr, value + row * step.k, index + row * step.k);
    });
  });
}

/// On a device, the values are those of aten.topk. Which of equal elements is selected is unspecified there.
static void selectOnDevice(const Step &step, const at::Tensor &self, const at::Tensor &before,
                           const at::Tensor &positionsBefore, at::Tensor &values, at::Tensor &indices) {
  at::Tensor candidates = self.narrow(-1, step.first, step.end - step.begin);
  at::Tensor positions = at::arange(step.begin, step.end, indices.options()).expand(candidates.sizes());
  int64_t known = std::min(step.k, step.begin);
  if (before.defined()) {
    candidates = at::cat({before.narrow(-1, 0, known), candidates}, -1);
    positions = at::cat({positionsBefore.narrow(-1, 0, known), positions}, -1);
  }
  int64_t count = std::min(step.k, candidates.size(-1));
  // The earlier candidates come first, and compete with the elements of this run.
  auto [chosen, where] = candidates.topk(count, -1, step.largest);
  values.narrow(-1, 0, count).copy_(chosen);
  indices.narrow(-1, 0, count).copy_(positions.gather(-1, where));
}

/// The lowest number of a dtype.
static at::Scalar leastOf(at::ScalarType type) {
  if (at::isFloatingType(type))
    return -std::numeric_limits<double>::infinity();
  return AT_DISPATCH_INTEGRAL_TYPES(type, "topk_part",
                                    [] { return at::Scalar(std::numeric_limits<scalar_t>::lowest()); });
}

static at::Tensor rowsOf(const std::optional<at::Tensor> &tensor, int64_t dim) {
  return tensor ? tensor->movedim(dim, -1).contiguous() : at::Tensor();
}

std::tuple<at::Tensor, at::Tensor> meshplan::topkPart(const at::Tensor &self, const at::Tensor &positions,
                                                      const std::optional<at::Tensor> &values,
                                                      const std::optional<at::Tensor> &indices, const TopkStep &step) {
  auto [k, dim, largest, begin, end, size] = step;
  TORCH_CHECK(positions.dim() == 1 && positions.size(0) == self.size(dim), "positions ", positions.sizes(),
              " do not fit dim ", dim, " of ", self.sizes());
  TORCH_CHECK(values.has_value() == (begin > 0) && indices.has_value() == (begin > 0), "a heap of ", begin,
              " elements");
  std::vector<int64_t> shape = self.movedim(dim, -1).sizes().vec();
  shape.back() = k;
  // Ranks without the run return the lowest value and the index -1; a max over the ranks then finds the real ones.
  at::Tensor chosen = at::full(shape, leastOf(self.scalar_type()), self.options());
  at::Tensor where = at::full(shape, -1, positions.options());
  // A run is a range of the dim that one rank holds completely.
  int64_t own = positions.ge(begin).logical_and_(positions.lt(end)).sum().item<int64_t>();
  TORCH_CHECK(own == 0 || own == end - begin, "a rank has ", own, " of the indices from ", begin, " to ", end);
  if (own > 0 && chosen.numel() > 0) {
    Step rows{step, positions.lt(begin).sum().item<int64_t>()};
    auto select = self.is_cpu() ? selectRows : selectOnDevice;
    select(rows, self.movedim(dim, -1).contiguous(), rowsOf(values, dim), rowsOf(indices, dim), chosen, where);
  }
  return {chosen.movedim(-1, dim).contiguous(), where.movedim(-1, dim).contiguous()};
}
