//===- describe_test.cpp - descriptions of values -------------------------===//

#include "compiler/report/explain/describe.h"
#include "test/unit/report/explain/plan_module.h"

using namespace meshplan;
using testing::ElementsAre;

TEST(ShardExtents, OneEntryIfAllAreEqual) {
  EXPECT_THAT(shardExtents({48, {}}), ElementsAre(48));
  EXPECT_THAT(shardExtents({48, {{0, 1, 3}}}), ElementsAre(16));
}

TEST(ShardExtents, OneForEachShardElse) {
  EXPECT_THAT(shardExtents({49, {{0, 1, 2}, {1, 1, 2}}}), ElementsAre(13, 12, 12, 12));
  EXPECT_THAT(shardExtents({40, {{0, 1, 2}}, 8}), ElementsAre(24, 16)); // five heads of 8
  EXPECT_THAT(shardExtents({15, {{0, 1, 2}}, 1, {9, 3, 3}}), ElementsAre(5 + 2 + 2, 4 + 1 + 1));
}

namespace {

class DescribeTest : public testing::Test {
protected:
  DescribeTest() {
    sources.add("a.plan", "norm: sequence tp\nlay:  colwise tp\nlay:  rowwise tp\n\n\n\n\n\nx\n");
    for (plan::CallOp call : module.function().getOps<plan::CallOp>())
      calls.push_back(call);
  }

  PlanModule module{twoLayers};
  Sources sources;
  Describer describer{plan::getMesh(module.get()), sources};
  std::vector<plan::CallOp> calls;
};

} // namespace

TEST_F(DescribeTest, Parameters) {
  TensorExplanation tensor = describer.tensor(module.function().getArgument(2));
  EXPECT_EQ(tensor.dtype, "f32");
  EXPECT_EQ(tensor.layout, "[12 over tp, 8]");
  EXPECT_EQ(tensor.globalBytes, 12 * 8 * 4);
  EXPECT_EQ(tensor.rankBytes, 6 * 8 * 4);
  ASSERT_EQ(tensor.dims[0].reasons.size(), 1u);
  EXPECT_EQ(tensor.dims[0].reasons[0].text, "colwise tp");
  EXPECT_EQ(tensor.dims[0].reasons[0].range.line, 2);
  EXPECT_TRUE(tensor.dims[1].reasons.empty());
  EXPECT_FALSE(tensor.partial);
}

TEST_F(DescribeTest, Addends) {
  TensorExplanation tensor = describer.tensor(calls[2].getResult(0));
  ASSERT_TRUE(tensor.partial);
  EXPECT_EQ(tensor.partial->reduction, "sum");
  EXPECT_EQ(tensor.partial->axes[0].name, "tp");
  EXPECT_EQ(tensor.partial->axes[0].size, 2);
  EXPECT_EQ(tensor.partial->reasons[0].text, "rowwise tp");
}

TEST_F(DescribeTest, AStatementWithoutTextIsWhatThePlanHasThere) {
  mlir::Location place =
      mlir::FileLineColRange::get(mlir::StringAttr::get(module.get().getContext(), "a.plan"), 1, 7, 1, 15);
  EXPECT_EQ(describer.statement(place).text, "sequence");
  mlir::Location unknown = mlir::UnknownLoc::get(module.get().getContext());
  EXPECT_FALSE(describer.statement(unknown).range.hasLine());
}

TEST_F(DescribeTest, Reshards) {
  MoveTable moves(module.function());
  ReshardExplanation scatter = describer.reshard(moves[1]);
  EXPECT_EQ(scatter.producer.what, "aten.linear.default");
  EXPECT_EQ(scatter.producer.name, "layers.0.down");
  EXPECT_EQ(scatter.producer.layout, "[2, 6, 8], partial over tp");
  ASSERT_EQ(scatter.consumers.size(), 1u);
  EXPECT_EQ(scatter.consumers[0].name, "layers.0");
  EXPECT_EQ(scatter.consumers[0].layout, "[2, 6 over tp, 8]");
  ASSERT_EQ(scatter.steps.size(), 1u);
  EXPECT_EQ(scatter.steps[0].kind, "reduce_scatter");
  EXPECT_EQ(scatter.steps[0].bytes, 2 * 2 * 6 * 8 * 4 / 2); // a ring of two: half is sent, half received
  EXPECT_EQ(scatter.statement.text, "rowwise tp");
  // `down` causes the addends, the norm their sharding.
  ASSERT_EQ(scatter.needs.size(), 1u);
  EXPECT_EQ(scatter.needs[0].text, "sequence tp");
  EXPECT_TRUE(describer.reshard(moves[0]).needs.empty());
}

TEST_F(DescribeTest, EndsOfTheProgram) {
  mlir::OpOperand &output = module.function().getBody().front().getTerminator()->getOpOperand(0);
  EXPECT_EQ(describer.consumer(output).what, "output");
  EXPECT_EQ(describer.consumer(output).name, "y");
  mlir::Value x = module.function().getArgument(0);
  EXPECT_EQ(describer.producer(x, x).what, "input");
  EXPECT_EQ(describer.producer(x, x).name, "x");
}

TEST_F(DescribeTest, EachConsumerIsNamedOnce) {
  PlanModule several(R"(
!split = tensor<4x8xf32, #plan.sharding<[{"tp"}, {}]>>
!whole = tensor<4x8xf32, #plan.sharding<[{}, {}]>>
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @forward(%x: !split {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> (!whole {plan.name = "y"}) {
  %w = plan.all_gather %x [#plan.axis<"tp">] dim 0 because "first" : !split -> !whole loc("a.plan":1:7)
  %a = plan.call "aten.relu.default"(%w) {self = #base.operand<0>} in "a" : (!whole) -> !whole
  %b = plan.call "aten.relu.default"(%w) {self = #base.operand<0>} in "a" : (!whole) -> !whole
  %c = plan.call "aten.relu.default"(%w) {self = #base.operand<0>} in "b" : (!whole) -> !whole
  %d = plan.call "aten.tanh.default"(%w) {self = #base.operand<0>} in "a" : (!whole) -> !whole
  %e = plan.call "aten.add.Tensor"(%w, %w) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  return %w : !whole
}
)");
  Describer own(plan::getMesh(several.get()), sources);
  ReshardExplanation gather = own.reshard(MoveTable(several.function())[0]);
  std::vector<std::string> ends;
  for (const End &end : gather.consumers)
    ends.push_back(end.what + " '" + end.name + "'");
  EXPECT_THAT(ends, testing::UnorderedElementsAre("aten.relu.default 'a'", "aten.relu.default 'b'",
                                                  "aten.tanh.default 'a'", "aten.add.Tensor ''", "output 'y'"));
}

TEST_F(DescribeTest, BytesOfEachKindOfStep) {
  // A value of 4 x 8 floats on two ranks; in a permute a rank sends and receives its whole shard.
  PlanModule steps(R"(
!rows = tensor<4x8xf32, #plan.sharding<[{"tp"}, {}]>>
!others = tensor<4x8xf32, #plan.sharding<[{"dp"}, {}]>>
!columns = tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>
!whole = tensor<4x8xf32, #plan.sharding<[{}, {}]>>
!addend = tensor<4x8xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @forward(%x: !rows {plan.kind = #plan.kind<input>, plan.names = ["x"]}, %p: !addend {plan.kind = #plan.kind<input>, plan.names = ["p"]})
    -> (!columns, !whole, !rows, !whole, !others) {
  %a = plan.all_to_all %x [#plan.axis<"tp">] from 0 to 1 : !rows -> !columns loc("a.plan":1:7)
  %b = plan.all_reduce %p [#plan.axis<"tp">] : !addend -> !whole loc("a.plan":1:7)
  %c = plan.slice %b [#plan.axis<"tp">] dim 0 : !whole -> !rows loc("a.plan":2:7)
  %d = plan.all_gather %c [#plan.axis<"tp">] dim 0 : !rows -> !whole loc("a.plan":3:7)
  %e = plan.permute %x [#plan.axis<"dp">, #plan.axis<"tp">] : !rows -> !others loc("a.plan":9:1)
  return %a, %b, %c, %d, %e : !columns, !whole, !rows, !whole, !others
}
)");
  ASSERT_TRUE(steps.get());
  Describer own(plan::getMesh(steps.get()), sources);
  MoveTable moves(steps.function());
  std::vector<std::string> texts;
  for (unsigned index = 0; index < 5; ++index) {
    StepExplanation step = own.reshard(moves[index]).steps.front();
    texts.push_back(step.kind + " " + std::to_string(step.bytes));
  }
  // Of 128 bytes: all-to-all of halves of halves each way, twice the half each way, nothing, and the half each way.
  EXPECT_THAT(texts, ElementsAre("all_to_all 64", "all_reduce 256", "slice 0", "all_gather 128", "permute 128"));
}
