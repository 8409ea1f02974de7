//===- run_schedule.h - running small schedules -----------------*- C++ -*-===//
//
// Runs a schedule on all ranks as threads, and returns whole tensors.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TEST_UNIT_EXEC_RUN_SCHEDULE_H
#define MESHPLAN_TEST_UNIT_EXEC_RUN_SCHEDULE_H

#include "runtime/comm/run_rank.h"
#include "runtime/exec/program_runner.h"
#include "test/unit/exec/schedule_builder.h"
#include "test/unit/temporary_directory.h"

#include <ATen/ATen.h>
#include <map>

namespace meshplan {

using Tensors = std::map<std::string, at::Tensor, std::less<>>;

/// Adds a constant with the tensor's elements.
int addConstant(ScheduleBuilder &builder, std::string name, std::vector<TestDim> dims, const at::Tensor &whole);

/// Feeds whole tensors from memory.
class TensorFeed final : public Feed {
public:
  explicit TensorFeed(Tensors tensors);
  Status read(const FeedRequest &request, std::span<std::byte> out) const override;

private:
  Tensors tensors;
};

/// Runs a rank's body, on its world or on another one.
using RunBody = std::function<Status(World &world, const RankBody &body)>;

/// Runs the program once on all ranks; parameters and inputs come from `tensors`.
Expected<Tensors> runSchedule(const ScheduleBuilder &builder, const Tensors &tensors,
                              std::chrono::milliseconds timeout = std::chrono::seconds(20),
                              const RunBody &runBody = nullptr);

/// The same for a program that must succeed.
Tensors mustRun(const ScheduleBuilder &builder, const Tensors &tensors);

/// All tensors of a safetensors file, and a file of tensors.
Tensors readTensors(const std::string &path);
void writeTensors(const std::string &path, const Tensors &tensors);

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_EXEC_RUN_SCHEDULE_H
