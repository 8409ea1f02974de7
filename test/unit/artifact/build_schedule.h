//===- build_schedule.h - a small valid artifact ----------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_ARTIFACT_BUILD_SCHEDULE_H
#define MESHPLAN_TEST_UNIT_ARTIFACT_BUILD_SCHEDULE_H

#include "runtime/artifact/artifact.h"

namespace meshplan {

/// Values of the program of buildSchedule, in its order.
enum TestValue { weight, table, input, product, sum, part, whole, testValueCount };

/// Instructions of that program.
enum TestInstruction { linear, startSum, waitSum, freeProduct, slicePart, startGather, waitGather, freePart };

/// "forward" on a mesh dp = 2, tp = 3: a linear that is partial over tp, an
/// all-reduce, a slice and an all-gather.
artifact::ScheduleT buildSchedule();

/// The file's bytes, aligned as a mapped file is.
std::vector<uint64_t> pack(const artifact::ScheduleT &schedule, size_t &size);

/// Writes the checksum of all preceding bytes into the last bytes.
void seal(std::span<std::byte> file);

/// Message of verifySchedule; empty when it is valid.
std::string verificationError(const artifact::ScheduleT &schedule);

artifact::ProgramT &forwardOf(artifact::ScheduleT &schedule);
artifact::ValueT &valueOf(artifact::ScheduleT &schedule, TestValue value);
artifact::ArgT &argOf(artifact::ScheduleT &schedule, size_t index);
artifact::StartT &startOf(artifact::ScheduleT &schedule, TestInstruction instruction);

inline artifact::WaitT waitFor(int sequence) {
  artifact::WaitT wait;
  wait.sequence = sequence;
  return wait;
}

/// Adds an instruction at the end.
template <typename Action> void append(artifact::ScheduleT &schedule, Action action) {
  auto instruction = std::make_unique<artifact::InstructionT>();
  instruction->action.Set(std::move(action));
  forwardOf(schedule).instructions.push_back(std::move(instruction));
}

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_ARTIFACT_BUILD_SCHEDULE_H
