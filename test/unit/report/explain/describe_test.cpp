//===- describe_test.cpp - values in words --------------------------------===//

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
  // The addends are the doing of `down`, their division that of the norm.
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
