//===- needed_steps.h - the steps that some outputs need --------*- C++ -*-===//
//
// A caller may take only some outputs of a program, as validation takes the loss alone. Steps that only the other
// outputs need are then left out, and the peak of the memory is lower. The runtime leaves them out, and the compiler
// counts the memory of what is left, by the function below.
//
// Example: `logits = mm(x, w)`, `loss = cross(logits, y)`, `best = argmax(logits)`. For `loss` alone the first two are
// needed: the loss reads the logits. For `best` the second is left out.
//
// Header only, standard library only, no state. All functions are pure and thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_SCHEMA_NEEDED_STEPS_H
#define MESHPLAN_RUNTIME_SCHEMA_NEEDED_STEPS_H

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace meshplan {

/// The values that a step reads and makes, by number.
struct StepUses {
  std::vector<int64_t> read, made;
  bool overwrites = false; ///< writes a result in place of a value
};

/// For each step of a program, in order, whether it is needed. `isRead` tells for each value whether it is read after
/// the last step: an output that was asked for, or an update.
inline std::vector<bool> neededSteps(std::span<const StepUses> steps, std::vector<bool> isRead) {
  std::vector<bool> needed(steps.size());
  // Backwards, so that all readers of a value are known before the step that makes it is reached.
  for (size_t index = steps.size(); index-- > 0;) {
    const StepUses &uses = steps[index];
    // A step that overwrites a value may change a parameter: an effect that no output shows.
    needed[index] = uses.overwrites || std::ranges::any_of(uses.made, [&](int64_t value) { return isRead[value]; });
    if (needed[index])
      for (int64_t value : uses.read)
        isRead[value] = true;
  }
  return needed;
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_SCHEMA_NEEDED_STEPS_H
