//===- deferred.h - what an instance leaves to the next one -----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_ARTIFACT_DEFERRED_H
#define MESHPLAN_RUNTIME_ARTIFACT_DEFERRED_H

#include "runtime/schema/schedule_generated.h"

#include <set>
#include <vector>

namespace meshplan {

/// The instructions `deferred` of a program, and the values that therefore outlive an instance. The program need not be
/// verified: indices that do not exist are left out.
struct DeferredInstructions {
  explicit DeferredInstructions(const artifact::Program &program);

  std::vector<size_t> instructions; ///< indices into Program.instructions, in order
  std::set<int64_t> waits;          ///< sequences of collectives and copies whose wait is deferred
  std::vector<int64_t> lastUse;     ///< by value: index into `instructions` of the last that uses it, or -1
  std::vector<bool> isMade;         ///< by value: a deferred instruction makes it

  /// True if a deferred instruction uses or makes the value, or what it waits for does.
  bool uses(size_t value) const { return lastUse[value] >= 0; }
};

/// By value: an instruction of the first instance makes it, so that no other instance makes it again. The program need
/// not be verified.
std::vector<bool> madeByFirst(const artifact::Program &program);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_ARTIFACT_DEFERRED_H
