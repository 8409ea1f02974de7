//===- describe_program_test.cpp - artifacts as text, some of them invalid ===//

#include "compiler/target/artifact/artifact.h"
#include "compiler/target/artifact/describe_program.h"
#include "runtime/schema/format.h"
#include "test/unit/schema/artifact_bytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace meshplan;
using namespace meshplan::artifact;
using testing::ElementsAre;

namespace {

/// A schedule on dp = 2 and tp = 3 with one program, which the tests fill.
class DescribeProgram : public testing::Test {
protected:
  DescribeProgram() {
    schedule.format = artifactFormat;
    schedule.mesh.push_back(axis("dp", 2));
    schedule.mesh.push_back(axis("tp", 3));
    schedule.programs.push_back(std::make_unique<ProgramT>());
    program().name = "p";
  }

  ProgramT &program() { return *schedule.programs[0]; }

  static std::unique_ptr<AxisT> axis(const std::string &name, int64_t size) {
    auto made = std::make_unique<AxisT>();
    made->name = name;
    made->size = size;
    return made;
  }

  ValueT &value(DType dtype = DType::f32) {
    program().values.push_back(std::make_unique<ValueT>());
    program().values.back()->dtype = dtype;
    return *program().values.back();
  }
  static DimT &dim(ValueT &value, int64_t extent, std::vector<artifact::AxisRef> axes = {}) {
    value.dims.push_back(std::make_unique<DimT>());
    value.dims.back()->extent = extent;
    value.dims.back()->axes = std::move(axes);
    return *value.dims.back();
  }

  template <typename Step> InstructionT &instruction(Step step) {
    program().instructions.push_back(std::make_unique<InstructionT>());
    program().instructions.back()->action.Set(std::move(step));
    return *program().instructions.back();
  }

  /// Adds an argument to the only call of the program, and creates the call.
  ArgT &argument(ArgKind kind) {
    if (program().instructions.empty()) {
      ComputeT compute;
      compute.target = "op";
      instruction(std::move(compute));
    }
    auto &args = program().instructions[0]->action.AsCompute()->args;
    args.push_back(std::make_unique<ArgT>());
    args.back()->kind = kind;
    return *args.back();
  }

  /// The lines of the program.
  std::vector<std::string> lines() {
    std::string text;
    llvm::raw_string_ostream stream(text);
    EXPECT_FALSE(static_cast<bool>(describeArtifact(withChecksum(packed(schedule)), stream)));
    std::vector<std::string> all;
    llvm::SmallVector<llvm::StringRef> parts;
    llvm::StringRef(text).substr(text.find("program ")).split(parts, '\n', -1, false);
    for (llvm::StringRef part : parts)
      all.push_back(part.trim().str());
    return all;
  }

  ScheduleT schedule;
};

TEST_F(DescribeProgram, AnEmptyProgram) { EXPECT_THAT(lines(), ElementsAre("program p")); }

TEST_F(DescribeProgram, RoleAndTimeline) {
  program().role = ProgramRole::eval;
  EXPECT_THAT(lines(), ElementsAre("program p role eval"));
  program().timeline = {{0, 0}, {0, 1}, {0, 2}, {7, 0}, {0, 4}};
  EXPECT_THAT(lines(), ElementsAre("program p role eval timeline p 0 to 2, #7 0, p 4"));
}

TEST_F(DescribeProgram, ValuesAreTheirDtypesDimsAndAddends) {
  dim(value(), 8, {{0, 1, 2}, {1, 1, 3}}).name = "batch";
  DimT &parts = dim(value(DType::bf16), 12, {{1, 1, 3}});
  parts.parts = {{8, 2, 1}, {4, 1, 3}};
  dim(value(DType::i64), 6, {{1, 1, 3}}).repeat = 4;
  value(DType::boolean).partial = Reduction::max;
  program().values[3]->partial_axes = {{0, 1, 2}};
  for (int32_t index = 0; index < 4; ++index) {
    auto port = std::make_unique<PortT>();
    port->name = "x" + std::to_string(index);
    port->value = index;
    program().inputs.push_back(std::move(port));
  }
  EXPECT_THAT(lines(),
              ElementsAre("program p", "input v0 f32[batch=8 over dp, tp] 'x0'",
                          "input v1 bf16[12 over tp parts 8 unit 2 + 4 repeat 3] 'x1'",
                          "input v2 i64[6 over tp repeat 4] 'x2'", "input v3 boolean[] partial max over dp 'x3'"));
}

TEST_F(DescribeProgram, ArgumentsOfEveryKind) {
  argument(ArgKind::none).name = "a";
  argument(ArgKind::value).values = {3};
  argument(ArgKind::value_list).values = {1, -1};
  argument(ArgKind::integer).ints = {IntExpr(7, -1, 0, 0, 0)};
  argument(ArgKind::int_list).ints = {IntExpr(0, 2, 1, 0, 1), IntExpr(5, 2, 0, 1, -3), IntExpr(0, 0, 0, 2, 0)};
  argument(ArgKind::real).reals = {0.1};
  argument(ArgKind::real_list).reals = {1, -2.5};
  argument(ArgKind::boolean).bools = {1};
  argument(ArgKind::bool_list).bools = {0, 1};
  argument(ArgKind::string).text = "floor";
  argument(ArgKind::dtype).dtype = DType::bf16;
  ArgT &timed = argument(ArgKind::int_list);
  timed.ints = {IntExpr(7, -1, 0, 0, 0), IntExpr(0, 2, 0, 3, 0)};
  timed.microbatch_scales = {0, 2};
  argument(ArgKind::int_list).name = "empty";
  EXPECT_THAT(
      lines(),
      ElementsAre("program p",
                  "= op(a=none, v3, [v1, none], 7, [extent(v2, 1), 5 + offset(v2, 0) + -3 * "
                  "extent(v2, 0), 2 * offset(v0, 0)], 0.10000000000000001, [1, -2.5], true, "
                  "[false, true], 'floor', bf16, [7, 3 * offset(v2, 0) + 2 * microbatch * extent(v2, 0)], empty=[])"));
}

TEST_F(DescribeProgram, StepsOfEveryKind) {
  dim(value(), 4);
  schedule.communicators.push_back(std::make_unique<CommunicatorT>());
  schedule.communicators[0]->name = "tp";
  StartT start;
  start.kind = CollectiveKind::all_to_all;
  start.from_dim = 1;
  start.dim = 0;
  start.sequence = 5;
  instruction(start);
  start.kind = CollectiveKind::reduce_scatter;
  start.from_dim = -1;
  start.reduction = Reduction::sum;
  instruction(start).origin = 2;
  WaitT wait;
  wait.sequence = 5;
  instruction(wait);
  SliceT slice;
  slice.input = 0;
  instruction(slice);
  CopyT copy;
  copy.input = 3;
  copy.sequence = 6;
  instruction(copy);
  copy.target = 2;
  instruction(copy);
  FreeT free;
  free.values = {0, 3};
  instruction(free);
  EXPECT_THAT(lines(), ElementsAre("program p", "v0 f32[4] = start 5 all_to_all v0 from 1 dim 0 over tp",
                                   "v0 f32[4] = start 5 reduce_scatter v0 dim 0 sum over tp  origin 2", "wait 5",
                                   "v0 f32[4] = slice v0", "v0 f32[4] = copy 6 v3", "v0 f32[4] = copy 6 v3 into v2",
                                   "free v0, v3"));
}

TEST_F(DescribeProgram, AnExchangeHasTheNumbersOfRows) {
  dim(value(), 8);
  program().values[0]->routed = std::make_unique<RoutedT>();
  program().values[0]->routed->kind = RoutedKind::arrivals;
  program().values[0]->routed->dims = 3;
  program().values[0]->routed->slots = 2;
  StartT start;
  start.kind = CollectiveKind::all_to_all;
  start.counts = 6;
  start.bytes = 40;
  instruction(std::move(start));
  EXPECT_THAT(lines(),
              ElementsAre("program p", "v0 f32[8] routed arrivals by 3 dims, 2 slots = start 0 all_to_all v0 by v6 "
                                       "over #0, 40 bytes of activations"));
}

TEST_F(DescribeProgram, ParametersConstantsAndMemory) {
  value();
  program().parameters.push_back(std::make_unique<ParameterT>());
  program().parameters[0]->names = {"w", "tied"};
  program().parameters[0]->trainable = true;
  program().constants.push_back(std::make_unique<ConstantT>());
  program().constants[0]->name = "empty";
  program().memory = std::make_unique<MemoryT>();
  program().memory->peak = 9;
  EXPECT_THAT(lines(), ElementsAre("program p", "memory parameters 0 constants 0 inputs 0 states 0 peak 9",
                                   "parameter v0 f32[] trainable 'w' 'tied'", "constant v0 f32[] 'empty' 0 bytes"));
}

TEST_F(DescribeProgram, BuffersAndWhatIsPutIntoThem) {
  dim(value(), 8);
  dim(value(), 8);
  value().members = {0};
  value().members = {1};
  auto accumulator = std::make_unique<AccumulatorT>();
  accumulator->name = "a.gradient";
  accumulator->scratch = true;
  program().accumulators.push_back(std::move(accumulator));
  auto buffer = std::make_unique<BufferT>();
  buffer->name = "gradients from a";
  buffer->values = {0};
  buffer->registered = true;
  program().buffers.push_back(std::move(buffer));
  artifact::PackRunT pack;
  pack.inputs = {0};
  pack.output = 2;
  pack.in_place = true;
  instruction(std::move(pack));
  StartT start;
  start.input = start.target = 2;
  start.output = 3;
  start.kind = CollectiveKind::all_reduce;
  start.reduction = Reduction::sum;
  start.communicator = 7;
  instruction(std::move(start));
  artifact::UnpackRunT unpack;
  unpack.input = 3;
  unpack.outputs = {1};
  unpack.targets = {0};
  instruction(std::move(unpack));
  EXPECT_THAT(lines(), ElementsAre("program p", "accumulator v0 f32[8] 'a.gradient' scratch",
                                   "buffer 'gradients from a' of v0 registered", "v2 f32 packed(v0) = pack v0 in place",
                                   "v3 f32 packed(v1) = start 0 all_reduce v2 into v2 sum over #7",
                                   "v1 f32[8] = unpack v3 into v0"));
}

TEST_F(DescribeProgram, DevicesReplaceTheMesh) {
  dim(value(), 8, {{0, 1, 1}});
  program().devices.push_back(axis("rank", 1));
  program().outputs.push_back(std::make_unique<PortT>());
  program().outputs[0]->name = "y";
  program().inputs.push_back(std::make_unique<PortT>());
  program().inputs[0]->name = "x";
  EXPECT_THAT(lines(), ElementsAre("program p rank=1", "input v0 f32[8 over rank] 'x'", "output v0 'y'"));
}

TEST_F(DescribeProgram, IndicesThatAreOutOfRangeArePrintedAsTheyAre) {
  dim(value(), 8, {{7, 1, 2}, {-1, 2, 3}});
  program().inputs.push_back(std::make_unique<PortT>());
  StartT start;
  start.input = 99;
  start.output = -4;
  start.communicator = 3;
  instruction(start);
  SliceT slice;
  slice.output = 1;
  instruction(slice);
  instruction(WaitT());
  EXPECT_THAT(lines(), ElementsAre("program p", "input v0 f32[8 over #7:(1)2, #-1:(2)3] ''",
                                   "v-4 = start 0 all_gather v99 over #3", "v1 = slice v0", "wait 0"));
}

TEST_F(DescribeProgram, APartOfAnAxisHasItsDigit) {
  dim(value(), 8, {{1, 3, 1}, {0, 1, 2}});
  program().inputs.push_back(std::make_unique<PortT>());
  EXPECT_THAT(lines(), ElementsAre("program p", "input v0 f32[8 over tp:(3)1, dp] ''"));
}

} // namespace
