//===- nonfinite_notes.h - where a rank met NaN or infinity ------*- C++ -*-===//
//
// The kernel meshplan.note_nonfinite says of a gradient which rank made the first
// element that is no number: behind the reduction all ranks have it.
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
  std::string name;      ///< of the parameter
  int64_t count = 0;     ///< of elements, at least one
  bool isSummed = false; ///< ranks have added the gradient up before: any of them may have made these
};

/// Gathers what operators of this thread note, for as long as it lives; an inner one takes over. Create, read and
/// destroy on the same thread.
class NonfiniteNotes {
public:
  NonfiniteNotes();
  NonfiniteNotes(const NonfiniteNotes &) = delete;
  NonfiniteNotes &operator=(const NonfiniteNotes &) = delete;
  ~NonfiniteNotes();

  /// One note for each name with elements that are no numbers, in the order of their first calls. Waits for the device.
  std::vector<NonfiniteNote> read() const;

private:
  friend struct NonfiniteNotesAccess;
  struct Calls;
  std::unique_ptr<Calls> calls;
  NonfiniteNotes *outer;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_NONFINITE_NOTES_H
