//===- loaded_schedule.h - a schedule and its ranks' views ------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_EXEC_LOADED_SCHEDULE_H
#define MESHPLAN_TEST_UNIT_EXEC_LOADED_SCHEDULE_H

#include "runtime/exec/rank_view.h"
#include "test/unit/exec/schedule_builder.h"
#include "test/unit/temporary_directory.h"

#include <gtest/gtest.h>
#include <optional>

namespace meshplan {

/// Writes the schedule and loads it; it must be valid.
class LoadedSchedule {
public:
  explicit LoadedSchedule(const ScheduleBuilder &builder) : size(builder.worldSize()) {
    builder.write(folder / "test.sched");
    auto loaded = loadSchedule(folder / "test.sched");
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    artifact.emplace(*std::move(loaded));
  }

  const artifact::Schedule &schedule() const { return artifact->schedule(); }
  const artifact::Program &program() const { return *schedule().programs()->Get(0); }
  const artifact::Instruction &instruction(int index) const { return *program().instructions()->Get(index); }
  RankView view(int64_t rank) const { return {schedule(), program(), rank}; }
  int64_t worldSize() const { return size; }

private:
  TemporaryDirectory folder;
  std::optional<Artifact> artifact;
  int64_t size;
};

/// Row-major indices, in the tensor of `shape`, of the elements inside `ranges`, in the order of the local tensor: one
/// element at a time.
inline std::vector<int64_t> elementsIn(const SliceRanges &ranges, const std::vector<int64_t> &shape) {
  std::vector<int64_t> elements = {0};
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    std::vector<int64_t> next;
    for (int64_t element : elements)
      for (const Range &range : ranges[dim])
        for (int64_t i = 0; i < range.size; ++i)
          next.push_back(element * shape[dim] + range.offset + i);
    elements = std::move(next);
  }
  return elements;
}

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_EXEC_LOADED_SCHEDULE_H
