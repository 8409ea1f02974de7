//===- step_parts_test.cpp - what the operations of a step are for --------===//

#include "compiler/sharding/dataflow/step_parts.h"
#include "test/unit/dialect/plan_text.h"

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;
using base::Direction;
using base::Purpose;

namespace {

class StepPartsTest : public PlanText {
protected:
  StepPartsTest() {
    // A parameter is gathered, multiplied, and the result summed over tp; its gradient is scattered, its norm summed,
    // and the parameter updated with a rate that is computed, and gathered. The step returns the new parameter and a
    // sum of its input. All that a step adds to the model is marked, the update too.
    readOnMesh(2, 2, R"(
      !flat = tensor<4x4xf32, #plan.sharding<[{}, {}], flat = {"dp"}>>
      !partial = tensor<4x4xf32, #plan.sharding<[{}, {}], partial = sum {"dp"}>>
      !sum = tensor<4x4xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
      !whole = tensor<4x4xf32, #plan.sharding<[{}, {}]>>
      !part = tensor<f32, #plan.sharding<[], partial = sum {"dp"}>>
      !number = tensor<f32, #plan.sharding<[]>>
      func.func @step(%m: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["h.3.mlp.bias"]},
                      %w: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["h.3.mlp.weight"]},
                      %v: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["h.3.attention.weight"]},
                      %x: !whole {plan.kind = #plan.kind<input>}, %lr: !number {plan.kind = #plan.kind<setting>})
          -> (!number {plan.name = "loss"}, !whole {plan.updates = #plan.argument<parameter "h.3.mlp.bias">}) {
        %0 = plan.all_gather %w [#plan.axis<"dp">] bucket 0 : !flat -> !whole
        %1 = plan.all_gather %v [#plan.axis<"dp">] bucket 0 : !flat -> !whole
        %2 = plan.call "aten.mm.default"(%x, %0) {self = #base.operand<0>, mat2 = #base.operand<1>} in "h.3.mlp" : (!whole, !whole) -> !sum
        %3 = plan.all_reduce %2 [#plan.axis<"tp">] : !sum -> !whole
        %4 = plan.call "aten.mm.default"(%3, %1) {self = #base.operand<0>, mat2 = #base.operand<1>} in "h.3.mlp" backward : (!whole, !whole) -> !partial
        %5 = plan.reduce_scatter %4 [#plan.axis<"dp">] : !partial -> !flat
        %6 = plan.call "meshplan.square_sum"(%5) {self = #base.operand<0>} backward : (!flat) -> !part
        %7 = plan.all_reduce %6 [#plan.axis<"dp">] : !part -> !number
        %8 = plan.call "aten.neg.default"(%lr) {self = #base.operand<0>} backward : (!number) -> !number
        %9 = plan.slice %m [#plan.axis<"dp">] : !whole -> !flat
        %10 = plan.call "meshplan.sgd"(%9, %5, %8) {parameter = #base.operand<0>, gradient = #base.operand<1>, lr = #base.operand<2>} backward : (!flat, !flat, !number) -> !flat
        %11 = plan.all_gather %10 [#plan.axis<"dp">] : !flat -> !whole
        %12 = plan.call "meshplan.assign"(%m, %11) {self = #base.operand<0>, source = #base.operand<1>} backward : (!whole, !whole) -> !whole
        %13 = plan.call "aten.sum.default"(%x) {self = #base.operand<0>} : (!whole) -> !part
        %14 = plan.all_reduce %13 [#plan.axis<"dp">] : !part -> !number
        return %14, %12 : !number, !whole
      })");
  }
};

TEST_F(StepPartsTest, DirectionsFollowTheGradient) {
  StepParts parts(function());
  for (unsigned index : {0u, 2u})
    EXPECT_EQ(parts.directionOf(op(index)), Direction::forward) << index;
  for (unsigned index : {1u, 3u})
    EXPECT_EQ(parts.directionOf(op(index)), Direction::backward) << index << ": only the backward pass reads it";
  EXPECT_EQ(parts.directionOf(op(4)), Direction::backward) << "although all that follows from it is of the update";
  EXPECT_EQ(parts.directionOf(op(5)), Direction::backward) << "the reduction ends the gradient";
  for (unsigned index : {6u, 7u, 10u, 11u, 12u})
    EXPECT_EQ(parts.directionOf(op(index)), Direction::update) << index;
  EXPECT_EQ(parts.directionOf(op(8)), Direction::update) << "only the update reads the rate";
  EXPECT_EQ(parts.directionOf(op(9)), Direction::update) << "only the update reads the shard";
  for (unsigned index : {13u, 14u})
    EXPECT_EQ(parts.directionOf(op(index)), Direction::forward) << index << ": the loss, which only the step returns";
}

TEST_F(StepPartsTest, PurposesOfCollectives) {
  StepParts parts(function());
  EXPECT_EQ(parts.purposeOf(op(0)), Purpose::parameters);
  EXPECT_EQ(parts.purposeOf(op(1)), Purpose::parameters);
  EXPECT_EQ(parts.purposeOf(op(3)), Purpose::activations);
  EXPECT_EQ(parts.purposeOf(op(5)), Purpose::gradients);
  EXPECT_EQ(parts.purposeOf(op(7)), Purpose::optimizer);
  EXPECT_EQ(parts.purposeOf(op(11)), Purpose::parameters);
  EXPECT_EQ(parts.purposeOf(op(14)), Purpose::activations) << "a sum of the loss";
}

TEST_F(StepPartsTest, SubjectsAreTheInnermostCommonModule) {
  StepParts parts(function());
  EXPECT_EQ(parts.subjectOf({op(0)}), "h.3.mlp");
  EXPECT_EQ(parts.subjectOf({op(0), op(1)}), "h.3");
  EXPECT_EQ(parts.subjectOf({op(3)}), "h.3.mlp") << "of the op that computes its input";
  EXPECT_EQ(parts.subjectOf({op(5)}), "h.3.mlp") << "of the parameter";
  EXPECT_EQ(parts.subjectOf({op(0), op(7)}), "");
}

} // namespace
