//===- run_test.cpp - schedules on ranks that are threads -----------------===//
//
// Runs small schedules on a stand-in for LibTorch, and compares with whole tensors. The sanitizer checks the state that
// ranks share: buffers of collectives, memory pools, the artifact, the outputs.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/threads/run_threads.h"
#include "runtime/exec/program_runner.h"
#include "runtime/exec/shared_output.h"
#include "runtime/tensor/memory.h"
#include "test/unit/exec/schedule_builder.h"
#include "test/unit/temporary_directory.h"

#include <cstring>
#include <gmock/gmock.h>

using namespace meshplan;

namespace {

using Doubles = std::vector<double>;

/// The whole tensors by name, row-major.
class MemoryFeed final : public Feed {
public:
  explicit MemoryFeed(std::map<std::string, Doubles> tensors) : tensors(std::move(tensors)) {}

  Status read(const FeedRequest &request, std::span<std::byte> out) const override {
    const Doubles &whole = tensors.at(request.names.front());
    return forEachRun(request.ranges, request.shape, contiguousStrides(request.shape),
                      [&](int64_t global, int64_t local, int64_t count) {
                        std::memcpy(&out[local * sizeof(double)], &whole[global], count * sizeof(double));
                        return Status();
                      });
  }

private:
  std::map<std::string, Doubles> tensors;
};

/// 0, 1, 2, ...
Doubles counted(int64_t count) {
  Doubles numbers(count);
  for (int64_t i = 0; i < count; ++i)
    numbers[i] = static_cast<double>(i);
  return numbers;
}

Doubles product(const Doubles &left, const Doubles &right, int64_t rows, int64_t shared, int64_t columns) {
  Doubles result(rows * columns, 0);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t k = 0; k < shared; ++k)
        result[i * columns + j] += left[i * shared + k] * right[k * columns + j];
  return result;
}

class RunTest : public testing::Test {
protected:
  /// Runs the program `times` times on every rank, each with its own pool, and reads output "y".
  Expected<Doubles> run(const ScheduleBuilder &builder, const Feed &feed, int times = 20) {
    builder.write(folder / "test.sched");
    MESHPLAN_ASSIGN_OR_RETURN(Artifact artifact, loadSchedule(folder / "test.sched"));
    const artifact::Program &program = *artifact.schedule().programs()->Get(0);
    auto statuses = runThreads(builder.worldSize(), {.timeout = std::chrono::seconds(60)}, [&](World &world) {
      PoolScope pooled(std::make_shared<MemoryPool>());
      return runRank(artifact, program, feed, world, times);
    });
    MESHPLAN_RETURN_IF_ERROR(rootCause(statuses));
    return readOutput();
  }

  TemporaryDirectory folder;

private:
  Status runRank(const Artifact &artifact, const artifact::Program &program, const Feed &feed, World &world,
                 int times) {
    MESHPLAN_ASSIGN_OR_RETURN(auto runner, ProgramRunner::create(artifact, program, world));
    MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(feed));
    MESHPLAN_RETURN_IF_ERROR(runner.loadInputs(feed));
    Trace trace;
    for (int i = 0; i < times; ++i)
      MESHPLAN_RETURN_IF_ERROR(runner.walk().run(&trace));
    MESHPLAN_ASSIGN_OR_RETURN(SharedOutput output,
                              SharedOutput::open(world, folder / "y.safetensors", outputSpecs(program)));
    MESHPLAN_RETURN_IF_ERROR(runner.walk().writeOutputs(output.writer()));
    return output.commit();
  }

  Expected<Doubles> readOutput() const {
    MESHPLAN_ASSIGN_OR_RETURN(TensorSource source, TensorSource::open(folder / "y.safetensors"));
    const StoredTensor *tensor = source.find("y");
    Doubles numbers(elementCount(tensor->shape));
    MESHPLAN_RETURN_IF_ERROR(
        source.read(*tensor, wholeTensor(tensor->shape), DType::f64, std::as_writable_bytes(std::span(numbers))));
    return numbers;
  }
};

void expectNumbers(const Expected<Doubles> &actual, const Doubles &wanted) {
  ASSERT_TRUE(actual.ok()) << actual.status().message();
  EXPECT_EQ(*actual, wanted);
}

} // namespace

TEST_F(RunTest, AProductOfDividedMatrices) {
  // x w with the shared dim over tp and the rows over dp: an all-reduce.
  ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
  int x = builder.input("x", {{8, {"dp"}}, {7, {"tp"}}}), w = builder.parameter({"w"}, {{7, {"tp"}}, {5}});
  int part = builder.value({{8, {"dp"}}, {5}}, DType::f64, {"tp"}), y = builder.value({{8, {"dp"}}, {5}});
  builder.compute("aten.mm.default", {tensorArg("self", x), tensorArg("mat2", w)}, {part});
  builder.collective(Kind::all_reduce, {"tp"}, part, y);
  builder.free({x, part});
  builder.output("y", y);
  expectNumbers(run(builder, MemoryFeed({{"x", counted(56)}, {"w", counted(35)}})),
                product(counted(56), counted(35), 8, 7, 5));
}

TEST_F(RunTest, ThereAndBack) {
  // Rows to columns to replicated to rows again, with a strided input on the way.
  ScheduleBuilder builder({{"tp", 4}});
  int x = builder.input("x", {{6, {"tp"}}, {9}}), columns = builder.value({{6}, {9, {"tp"}}});
  int whole = builder.value({{6}, {9}}), rows = builder.value({{6, {"tp"}}, {9}});
  int turned = builder.value({{9}, {6, {"tp"}}}), y = builder.value({{9}, {6}});
  builder.collective(Kind::all_to_all, {"tp"}, x, columns, 1, 0);
  builder.collective(Kind::all_gather, {"tp"}, columns, whole, 1);
  builder.slice(whole, rows);
  builder.free({whole, columns});
  builder.compute("aten.t.default", {tensorArg("self", rows)}, {turned});
  builder.collective(Kind::all_gather, {"tp"}, turned, y, 1);
  builder.output("y", y);
  Doubles wanted;
  for (int64_t column = 0; column < 9; ++column)
    for (int64_t row = 0; row < 6; ++row)
      wanted.push_back(static_cast<double>(row * 9 + column));
  expectNumbers(run(builder, MemoryFeed({{"x", counted(54)}})), wanted);
}

TEST_F(RunTest, CollectivesInFlightTogether) {
  // All are started before the first wait, and operators run in between.
  ScheduleBuilder builder({{"tp", 3}});
  int x = builder.input("x", {{6, {"tp"}}, {2}}), first = builder.value({{6}, {2}}), second = builder.value({{6}, {2}});
  int positive = builder.value({{6, {"tp"}}, {2}}), y = builder.value({{6}, {2}});
  builder.collective(Kind::all_gather, {"tp"}, x, first, 0);
  builder.compute("aten.relu.default", {tensorArg("self", x)}, {positive});
  builder.collective(Kind::all_gather, {"tp"}, positive, second, 0);
  builder.compute("aten.add.Tensor", {tensorArg("self", first), tensorArg("other", second)}, {y});
  builder.output("y", y);
  // start, wait, relu, start, wait, add: moves the first wait after the second start.
  auto &instructions = builder.program().instructions;
  std::rotate(instructions.begin() + 1, instructions.begin() + 2, instructions.begin() + 4);
  Doubles wanted = counted(12);
  for (double &number : wanted)
    number *= 2;
  expectNumbers(run(builder, MemoryFeed({{"x", counted(12)}})), wanted);
}

TEST_F(RunTest, AReductionThatIsScattered) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 2}});
  int x = builder.input("x", {{4}, {6, {"tp"}}}), w = builder.parameter({"w"}, {{6, {"tp"}}, {4}});
  int part = builder.value({{4}, {4}}, DType::f64, {"tp"}), y = builder.value({{4, {"tp"}}, {4}});
  builder.compute("aten.mm.default", {tensorArg("self", x), tensorArg("mat2", w)}, {part});
  builder.collective(Kind::reduce_scatter, {"tp"}, part, y, 0);
  builder.output("y", y);
  expectNumbers(run(builder, MemoryFeed({{"x", counted(24)}, {"w", counted(24)}})),
                product(counted(24), counted(24), 4, 6, 4));
}

TEST_F(RunTest, CopiesBesideWhatIsComputed) {
  ScheduleBuilder builder({{"tp", 4}});
  int x = builder.input("x", {{12, {"tp"}}}), there = builder.value({{12, {"tp"}}}),
      doubled = builder.value({{12, {"tp"}}}), back = builder.value({{12, {"tp"}}}), y = builder.value({{12, {"tp"}}});
  builder.onHost(there);
  builder.copy(x, there);
  builder.compute("aten.add.Tensor", {tensorArg("self", x), tensorArg("other", x)}, {doubled});
  builder.copy(there, back);
  builder.compute("aten.add.Tensor", {tensorArg("self", doubled), tensorArg("other", back)}, {y});
  builder.output("y", y);
  // copy, wait, add, ...: the wait comes after the addition, which reads what is copied.
  auto &instructions = builder.program().instructions;
  std::swap(instructions[1], instructions[2]);
  Doubles wanted = counted(12);
  for (double &number : wanted)
    number *= 3;
  expectNumbers(run(builder, MemoryFeed({{"x", counted(12)}})), wanted);
}

TEST_F(RunTest, ARankThatFailsWhileOthersWait) {
  // Each rank holds other columns; the operand of rank 2 does not fit.
  ScheduleBuilder builder({{"tp", 4}});
  int x = builder.input("x", {{5, {"tp"}}, {2}}), w = builder.parameter({"w"}, {{2}, {2}});
  int whole = builder.value({{5}, {2}}), bad = builder.value({{2}, {2}}), y = builder.value({{5}, {2}});
  builder.collective(Kind::all_gather, {"tp"}, x, whole, 0);
  builder.compute("aten.add.Tensor", {tensorArg("self", x), tensorArg("other", w)}, {bad});
  builder.collective(Kind::all_reduce, {"tp"}, bad, y);
  builder.program().values[bad]->partial = artifact::Reduction::sum;
  builder.program().values[bad]->partial_axes = {{0, 1, 4}};
  builder.program().values[bad]->dims[0]->extent = 5;
  builder.program().instructions[3]->action.AsStart()->reduction = artifact::Reduction::sum;
  builder.output("y", y);
  Expected<Doubles> result = run(builder, MemoryFeed({{"x", counted(10)}, {"w", counted(4)}}));
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.status().message(), testing::HasSubstr("aten.add.Tensor"));
}
