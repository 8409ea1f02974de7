//===- run_schedule.cpp - running small schedules -------------------------===//

#include "test/unit/exec/run_schedule.h"

#include "runtime/exec/shared_output.h"
#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/torch/access.h"
#include "runtime/tensor/torch/dtype.h"
#include "test/unit/exec/run_test_ranks.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace meshplan;

int meshplan::addConstant(ScheduleBuilder &builder, std::string name, std::vector<TestDim> dims,
                          const at::Tensor &whole) {
  at::Tensor packed = whole.contiguous();
  std::span<const std::byte> bytes(static_cast<const std::byte *>(packed.data_ptr()), packed.nbytes());
  return builder.constant(std::move(name), std::move(dims), *dtypeOf(whole.scalar_type()), bytes);
}

TensorFeed::TensorFeed(Tensors whole) : tensors(std::move(whole)) {
  for (auto &[name, tensor] : tensors)
    tensor = tensor.contiguous();
}

Status TensorFeed::read(const FeedRequest &request, std::span<std::byte> out) const {
  auto found = tensors.end();
  for (const std::string &name : request.names)
    if (found == tensors.end())
      found = tensors.find(name);
  if (found == tensors.end())
    return Status::error(StatusCode::notFound, "no tensor '", request.names.front(), "'");
  auto *source = static_cast<const std::byte *>(found->second.data_ptr());
  int64_t size = dtypeSize(request.dtype);
  return forEachRun(request.ranges, request.shape, contiguousStrides(request.shape),
                    [&](int64_t global, int64_t local, int64_t count) {
                      std::memcpy(&out[local * size], source + global * size, count * size);
                      return Status();
                    });
}

Tensors meshplan::readTensors(const std::string &path) {
  Tensors tensors;
  auto source = TensorSource::open(path);
  EXPECT_TRUE(source.ok()) << source.status().message();
  for (const std::string &name : source->names()) {
    const StoredTensor &stored = *source->find(name);
    at::Tensor tensor = at::empty(stored.shape, scalarTypeOf(stored.dtype));
    std::span<std::byte> bytes(static_cast<std::byte *>(tensor.data_ptr()), tensor.nbytes());
    EXPECT_TRUE(source->read(stored, wholeTensor(stored.shape), stored.dtype, bytes).ok());
    tensors[name] = tensor;
  }
  return tensors;
}

void meshplan::writeTensors(const std::string &path, const Tensors &tensors) {
  std::vector<TensorSpec> specs;
  for (const auto &[name, tensor] : tensors)
    specs.push_back({name, *dtypeOf(tensor.scalar_type()), tensor.sizes().vec()});
  auto writer = SafetensorsWriter::create(path, specs);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  for (const auto &[name, tensor] : tensors) {
    at::Tensor packed = tensor.contiguous();
    std::span<const std::byte> bytes(static_cast<const std::byte *>(packed.data_ptr()), packed.nbytes());
    ASSERT_TRUE(writer->write(name, wholeTensor(tensor.sizes().vec()), bytes).ok());
  }
  ASSERT_TRUE(writer->commit().ok());
}

Expected<Tensors> meshplan::runSchedule(const ScheduleBuilder &builder, const Tensors &tensors,
                                        std::chrono::milliseconds timeout, const RunBody &runBody) {
  TemporaryDirectory folder;
  builder.write(folder / "test.sched");
  MESHPLAN_ASSIGN_OR_RETURN(Artifact artifact, loadSchedule(folder / "test.sched"));
  MESHPLAN_ASSIGN_OR_RETURN(const artifact::Program *program,
                            findProgram(artifact.schedule(), artifact::ProgramRole::forward));
  std::string path = sharedFile(folder.path());
  TensorFeed feed(tensors);
  RankBody body = [&](World &world) -> Status {
    ComputeScope scope(1);
    MESHPLAN_ASSIGN_OR_RETURN(auto runner, ProgramRunner::create(artifact, *program, world));
    MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(feed));
    MESHPLAN_RETURN_IF_ERROR(runner.loadInputs(feed));
    MESHPLAN_RETURN_IF_ERROR(runner.walk().run());
    MESHPLAN_ASSIGN_OR_RETURN(SharedOutput output, SharedOutput::open(world, path, outputSpecs(*program)));
    MESHPLAN_RETURN_IF_ERROR(runner.walk().writeOutputs(output.writer()));
    return output.commit();
  };
  auto statuses = runTestRanks(builder.worldSize(), timeout,
                               [&](World &world) { return runBody ? runBody(world, body) : body(world); });
  MESHPLAN_RETURN_IF_ERROR(rootCause(statuses));
  return readTensors(path);
}

Tensors meshplan::mustRun(const ScheduleBuilder &builder, const Tensors &tensors) {
  auto results = runSchedule(builder, tensors);
  EXPECT_TRUE(results.ok()) << results.status().message();
  return results ? *results : Tensors();
}
