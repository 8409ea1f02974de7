//===- serialize_test.cpp - content of an artifact ------------------------===//

#include "compiler/target/artifact/artifact.h"
#include "runtime/schema/format.h"
#include "runtime/schema/schedule_generated.h"
#include "test/unit/target/sched_module.h"
#include <array>

using namespace meshplan;

/// A rowwise linear layer on 2 x 3 ranks, and the same on one rank.
static const std::string program = schedHead + R"(
sched.program @forward memory <parameters = 10, constants = 20, inputs = 30, peak = 70, least = 60> {
  %w = sched.parameter ["w", "tied"] trainable : <[8, 28 over {1:(1)3} unit 4], f32>
  %c = sched.constant "mask" dense<[true, false, true]> : tensor<3xi1> : <[3], i1>
  %x = sched.input "x" dims ["batch", ""] : <[8 over {0:(1)2}, 28 over {1:(1)3} unit 4], f32> loc("mlp.plan":4:3)
  %p = sched.compute "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>}
    in "layers.0.down"
    : (!sched.tensor<[8 over {0:(1)2}, 28 over {1:(1)3} unit 4], f32>, !sched.tensor<[8, 28 over {1:(1)3} unit 4], f32>)
    -> !sched.tensor<[8 over {0:(1)2}, 8], f32, partial = sum {1:(1)3}> loc("model.py":7:1)
  %t = sched.start reduce_scatter %p dim 1 over @tp sequence 0 because "rowwise tp"
    : !sched.tensor<[8 over {0:(1)2}, 8], f32, partial = sum {1:(1)3}> -> <!sched.tensor<[8 over {0:(1)2}, 8 over {1:(1)3}], f32>>
    loc(fused["model.py":7:1, "down"("mlp.plan":9:5)])
  %y = sched.wait %t : !sched.token<!sched.tensor<[8 over {0:(1)2}, 8 over {1:(1)3}], f32>>
  sched.free %p : !sched.tensor<[8 over {0:(1)2}, 8], f32, partial = sum {1:(1)3}>
  sched.output "y" %y : <[8 over {0:(1)2}, 8 over {1:(1)3}], f32>
}
sched.program @reference role <reference> devices [#base.mesh_axis<"rank" = 1>] {
  %x = sched.input "x" : <[8], bf16>
  sched.output "x" %x : <[8], bf16>
}
)";

/// Axes as triples, for comparison.
static std::vector<std::array<int64_t, 3>> axisTriples(const std::vector<artifact::AxisRef> &axes) {
  std::vector<std::array<int64_t, 3>> result;
  for (const artifact::AxisRef &axis : axes)
    result.push_back({axis.axis(), axis.pre(), axis.size()});
  return result;
}

namespace {
class Serialize : public testing::Test {
protected:
  void SetUp() override {
    auto result = serialize(module.get(), {"1.2.3", "abcd", "mlp", "cuda"});
    ASSERT_TRUE(succeeded(result));
    bytes = *result;
    flatbuffers::Verifier verifier(bytes.data(), bytes.size());
    ASSERT_TRUE(artifact::VerifyScheduleBuffer(verifier));
    ASSERT_TRUE(artifact::ScheduleBufferHasIdentifier(bytes.data()));
    artifact::GetSchedule(bytes.data())->UnPackTo(&schedule);
  }

  SchedModule module{program};
  std::vector<uint8_t> bytes;
  artifact::ScheduleT schedule;
};
} // namespace

TEST_F(Serialize, WritesWhatTheModuleShares) {
  EXPECT_EQ(schedule.format, artifactFormat);
  EXPECT_EQ(schedule.compiler, "1.2.3");
  EXPECT_EQ(schedule.fingerprint, "abcd");
  EXPECT_EQ(schedule.plan_name, "mlp");
  EXPECT_EQ(schedule.device, "cuda");
  ASSERT_EQ(schedule.mesh.size(), 2u);
  EXPECT_EQ(schedule.mesh[1]->name, "tp");
  EXPECT_EQ(schedule.mesh[1]->size, 3);
  ASSERT_EQ(schedule.communicators.size(), 3u);
  EXPECT_EQ(schedule.communicators[2]->name, "dp_tp");
  EXPECT_THAT(axisTriples(schedule.communicators[2]->axes),
              testing::ElementsAre((std::array<int64_t, 3>{0, 1, 2}), (std::array<int64_t, 3>{1, 1, 3})));
}

TEST_F(Serialize, WritesGivenValues) {
  const artifact::ProgramT &forward = *schedule.programs[0];
  EXPECT_EQ(forward.name, "forward");
  EXPECT_TRUE(forward.devices.empty());
  EXPECT_EQ(forward.memory->parameters, 10);
  EXPECT_EQ(forward.memory->constants, 20);
  EXPECT_EQ(forward.memory->inputs, 30);
  EXPECT_EQ(forward.memory->peak, 70);
  ASSERT_EQ(forward.parameters.size(), 1u);
  EXPECT_THAT(forward.parameters[0]->names, testing::ElementsAre("w", "tied"));
  EXPECT_TRUE(forward.parameters[0]->trainable);
  const artifact::ValueT &weight = *forward.values[forward.parameters[0]->value];
  EXPECT_EQ(weight.dtype, artifact::DType::f32);
  ASSERT_EQ(weight.dims.size(), 2u);
  EXPECT_EQ(weight.dims[1]->extent, 28);
  EXPECT_EQ(weight.dims[1]->unit, 4);
  EXPECT_THAT(axisTriples(weight.dims[1]->axes), testing::ElementsAre((std::array<int64_t, 3>{1, 1, 3})));
  ASSERT_EQ(forward.constants.size(), 1u);
  EXPECT_EQ(forward.constants[0]->name, "mask");
  EXPECT_THAT(forward.constants[0]->data, testing::ElementsAre(1, 0, 1));
  EXPECT_EQ(forward.values[forward.constants[0]->value]->dtype, artifact::DType::boolean);
  ASSERT_EQ(forward.inputs.size(), 1u);
  EXPECT_EQ(forward.inputs[0]->name, "x");
  EXPECT_EQ(forward.values[forward.inputs[0]->value]->dims[0]->name, "batch");
}

TEST_F(Serialize, WritesTheSteps) {
  const artifact::ProgramT &forward = *schedule.programs[0];
  ASSERT_EQ(forward.instructions.size(), 4u);
  const artifact::ComputeT &compute = *forward.instructions[0]->action.AsCompute();
  EXPECT_EQ(compute.target, "aten.linear.default");
  ASSERT_EQ(compute.args.size(), 2u);
  EXPECT_EQ(compute.args[1]->name, "weight");
  EXPECT_EQ(compute.args[1]->kind, artifact::ArgKind::value);
  EXPECT_THAT(compute.args[1]->values, testing::ElementsAre(forward.parameters[0]->value));
  const artifact::StartT &start = *forward.instructions[1]->action.AsStart();
  EXPECT_EQ(start.kind, artifact::CollectiveKind::reduce_scatter);
  EXPECT_EQ(start.communicator, 0);
  EXPECT_THAT(compute.outputs, testing::ElementsAre(start.input));
  EXPECT_EQ(start.dim, 1);
  EXPECT_EQ(start.from_dim, -1);
  EXPECT_EQ(start.reduction, artifact::Reduction::sum);
  EXPECT_EQ(start.sequence, 0);
  EXPECT_EQ(forward.values[start.input]->partial, artifact::Reduction::sum);
  EXPECT_THAT(axisTriples(forward.values[start.input]->partial_axes),
              testing::ElementsAre((std::array<int64_t, 3>{1, 1, 3})));
  EXPECT_EQ(forward.instructions[2]->action.AsWait()->sequence, 0);
  EXPECT_THAT(forward.instructions[3]->action.AsFree()->values, testing::ElementsAre(start.input));
  ASSERT_EQ(forward.outputs.size(), 1u);
  EXPECT_EQ(forward.outputs[0]->name, "y");
  EXPECT_EQ(forward.outputs[0]->value, start.output);
}

TEST_F(Serialize, WritesOrigins) {
  const artifact::ProgramT &forward = *schedule.programs[0];
  const artifact::OriginT &compute = *schedule.origins[forward.instructions[0]->origin];
  EXPECT_EQ(compute.module_, "layers.0.down");
  EXPECT_EQ(compute.plan, -1);
  const artifact::OriginT &start = *schedule.origins[forward.instructions[1]->origin];
  const artifact::SourceT &source = *schedule.sources[start.plan];
  EXPECT_EQ(source.file, "mlp.plan");
  EXPECT_EQ(source.line, 9);
  EXPECT_EQ(source.column, 5);
  EXPECT_EQ(source.text, "rowwise tp");
  EXPECT_EQ(forward.instructions[2]->origin, forward.instructions[1]->origin);
  EXPECT_EQ(forward.instructions[3]->origin, -1);
}

TEST_F(Serialize, WritesProgramsOnDevicesOfTheirOwn) {
  ASSERT_EQ(schedule.programs.size(), 2u);
  const artifact::ProgramT &reference = *schedule.programs[1];
  ASSERT_EQ(reference.devices.size(), 1u);
  EXPECT_EQ(reference.devices[0]->size, 1);
  EXPECT_EQ(reference.memory, nullptr);
  EXPECT_EQ(reference.values[0]->dtype, artifact::DType::bf16);
}

TEST_F(Serialize, IsDeterministic) {
  SchedModule again(program);
  EXPECT_EQ(*serialize(again.get(), {"1.2.3", "abcd", "mlp", "cuda"}), bytes);
}

static std::vector<uint8_t> constantData(const std::string &value, const std::string &shape, const std::string &type) {
  SchedModule module(schedHead + "sched.program @f {\n%c = sched.constant \"c\" " + value + " : tensor<" + shape + "x" +
                     type + "> : <[" + shape + "], " + type + ">\n}");
  auto bytes = serialize(module.get(), {});
  EXPECT_TRUE(succeeded(bytes));
  artifact::ScheduleT schedule;
  artifact::GetSchedule(bytes->data())->UnPackTo(&schedule);
  return schedule.programs[0]->constants[0]->data;
}

TEST(SerializeConstant, RepeatsSplats) {
  EXPECT_THAT(constantData("dense<258>", "2", "i16"), testing::ElementsAre(2, 1, 2, 1));
  EXPECT_THAT(constantData("dense<true>", "3", "i1"), testing::ElementsAre(1, 1, 1));
}

TEST(SerializeConstant, WritesLittleEndianElements) {
  EXPECT_THAT(constantData("dense<[1, -2]>", "2", "i32"), testing::ElementsAre(1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff));
  EXPECT_THAT(constantData("dense<[1.0]>", "1", "bf16"), testing::ElementsAre(0x80, 0x3f));
}

TEST(SerializeConstant, WritesResources) {
  SchedModule module(schedHead + R"(
sched.program @f {
  %c = sched.constant "c" dense_resource<blob> : tensor<2xi16> : <[2], i16>
}
{-# dialect_resources: { builtin: { blob: "0x0200000001000200" } } #-}
)");
  auto bytes = serialize(module.get(), {});
  ASSERT_TRUE(succeeded(bytes));
  artifact::ScheduleT schedule;
  artifact::GetSchedule(bytes->data())->UnPackTo(&schedule);
  EXPECT_THAT(schedule.programs[0]->constants[0]->data, testing::ElementsAre(1, 0, 2, 0));
}

TEST(SerializeErrors, NamesAConstantWithoutBytes) {
  SchedModule module(schedHead + "sched.program @f {\n%c = sched.constant \"c\" dense_resource<none> : tensor<2xi16> : "
                                 "<[2], i16>\n}");
  EXPECT_TRUE(failed(serialize(module.get(), {})));
  EXPECT_THAT(module.messages, testing::ElementsAre("'sched.constant' op 'c' has no bytes in this module"));
}

TEST(SerializeErrors, NamesAnElementTypeWithoutDType) {
  SchedModule module(schedHead + "sched.program @f {\n%x = sched.input \"x\" : <[2], i5>\n}");
  EXPECT_TRUE(failed(serialize(module.get(), {})));
  EXPECT_THAT(module.messages, testing::ElementsAre("'sched.input' op has the element type 'i5', which the artifact "
                                                    "cannot represent"));
}

TEST(SerializeErrors, NeedsAMesh) {
  SchedModule module("module {}");
  EXPECT_TRUE(failed(serialize(module.get(), {})));
  EXPECT_THAT(module.messages, testing::ElementsAre("has no mesh and cannot become an artifact"));
}
