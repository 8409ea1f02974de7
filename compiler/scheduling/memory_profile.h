//===- memory_profile.h - bytes that a solution needs -----------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_MEMORY_PROFILE_H
#define MESHPLAN_COMPILER_SCHEDULING_MEMORY_PROFILE_H

#include "compiler/scheduling/solution.h"

namespace meshplan::scheduling {

/// The largest number of bytes that are held at once.
struct Peak {
  int64_t bytes = 0;
  /// First step of the solution at which it is reached: 0 if only permanent buffers are ever held, the last one if it
  /// is reached when the caller receives the kept buffers.
  size_t step = 0;
};

/// Memory of one rank of each class over the solution. Permanent buffers count all the time. A storage counts from the
/// step that begins its producer until the last buffer that shares it is freed. A workspace counts while its operation
/// runs; a collective runs until its wait. After the last step Problem::handover counts as well, on the device.
struct MemoryProfile {
  llvm::SmallVector<Peak, 2> peaks; ///< for each rank class
  ClassBytes permanent;             ///< for each rank class
};

/// What a rank of one class holds on the device at its peak.
struct HeldAtPeak {
  llvm::SmallVector<std::pair<unsigned, int64_t>> storages; ///< buffers that own their storage, and its bytes
  int64_t workspace = 0;             ///< of the operations that run at the peak; at the end, Problem::handover
  std::optional<unsigned> operation; ///< runs at the peak; none at the end or without steps
};

/// The profile of one memory, for a solution that keeps rules V1 to V6 and has no choices: resolve() it first.
MemoryProfile profileMemory(const Problem &problem, const Solution &solution, Memory memory = Memory::device);

/// The buffers that make up the peak that profileMemory reports for the device.
HeldAtPeak heldAtPeak(const Problem &problem, const Solution &solution, unsigned rankClass);

/// The largest of them by name, with their bytes, for messages: "g1 100, w1 50, w2 50 and 3 more at 'layer_2'".
std::string describeHeld(const Problem &problem, const Solution &solution, unsigned rankClass);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_MEMORY_PROFILE_H
