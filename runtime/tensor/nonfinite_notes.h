//===- nonfinite_notes.h - ranks with non-finite gradients ------*- C++ -*-===//
//
// The kernel meshplan.note_nonfinite notes non-finite elements of a gradient on
// the rank that made them, before the gradient is reduced: after the reduction
// all ranks have them.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_NONFINITE_NOTES_H
#define MESHPLAN_RUNTIME_TENSOR_NONFINITE_NOTES_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace meshplan {

struct NonfiniteNotesAccess;

struct NonfiniteNote {
  std::string name;      ///< name of the parameter
  int64_t count = 0;     ///< number of non-finite elements, at least one
  bool isSummed = false; ///< the gradient was already reduced over ranks, any of which may have made these
};

/// Collects the notes of this thread's operators during its lifetime; an inner object takes over. Create, read and
/// destroy on the same thread.
class NonfiniteNotes {
public:
  NonfiniteNotes();
  NonfiniteNotes(const NonfiniteNotes &) = delete;
  NonfiniteNotes &operator=(const NonfiniteNotes &) = delete;
  ~NonfiniteNotes();

  /// One note per name that has non-finite elements, in the order of the first calls. Waits for the device.
  std::vector<NonfiniteNote> read() const;

private:
  friend struct NonfiniteNotesAccess;
  struct Calls;
  std::unique_ptr<Calls> calls;
  NonfiniteNotes *outer;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_NONFINITE_NOTES_H
