//===- training_test.cpp - a step after the forward pass ------------------===//

#include "compiler/report/explain/training.h"
#include "test/unit/report/explain/plan_module.h"

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// One layer whose weight `w` is sharded over dp; `f` is frozen. The gradient is converted before it is reduced.
constexpr char oneStep[] = R"(
!part = tensor<4x6xf32, #plan.sharding<[{}, {}], flat = {"dp"}>>
!whole = tensor<4x6xf32, #plan.sharding<[{}, {}]>>
!addend = tensor<4x6xf32, #plan.sharding<[{}, {}], partial = sum {"dp"}>>
!wide = tensor<4x6xf64, #plan.sharding<[{}, {}], partial = sum {"dp"}>>
!widePart = tensor<4x6xf64, #plan.sharding<[{}, {}], flat = {"dp"}>>
!x = tensor<2x6xf32, #plan.sharding<[{"dp"}, {}]>>
!y = tensor<2x4xf32, #plan.sharding<[{"dp"}, {}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>]
func.func @step(
    %x: !x {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: !part {plan.kind = #plan.kind<parameter>, plan.names = ["up.w", "tied.w"]},
    %f: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["up.f"]},
    %a: !part {plan.kind = #plan.kind<state>, plan.names = ["up.w.momentum_buffer"], plan.of = #plan.argument<parameter "up.w">}) -> !part attributes {plan.role = #base.role<step>} {
  %forward = plan.all_gather %w [#plan.axis<"dp">] because "data dp" : !part -> !whole
  %y = plan.call "aten.linear.default"(%x, %forward) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (!x, !whole) -> !y
  %again = plan.all_gather %w [#plan.axis<"dp">] because "data dp" : !part -> !whole
  %h = plan.call "aten.matmul.default"(%y, %again) {self = #base.operand<0>, other = #base.operand<1>} in "up" backward
      : (!y, !whole) -> !x
  %g = plan.call "meshplan.weight_gradient"(%y, %h) {left = #base.operand<0>, right = #base.operand<1>} in "up" backward
      : (!y, !x) -> !addend
  %c = plan.call "aten._to_copy.default"(%g) {self = #base.operand<0>} backward : (!addend) -> !wide
  %r = plan.reduce_scatter %c [#plan.axis<"dp">] because "data dp" : !wide -> !widePart
  %d = plan.call "aten._to_copy.default"(%r) {self = #base.operand<0>} backward : (!widePart) -> !part
  %n = plan.call "meshplan.sgd"(%w, %d, %a) {parameter = #base.operand<0>, gradient = #base.operand<1>, momentum = #base.operand<2>} backward
      : (!part, !part, !part) -> !part
  return %n : !part
})";

class ExplainTraining : public testing::Test {
protected:
  std::optional<TrainingExplanation> explain(std::string kind, std::string path) {
    Explanation explanation;
    explanation.kind = std::move(kind);
    explanation.path = std::move(path);
    explainTraining(module.function(), explanation, sources);
    return explanation.training;
  }

  static std::vector<std::string> kindsOf(const TrainingExplanation &training) {
    std::vector<std::string> kinds;
    for (const ReshardExplanation &reshard : training.reshards)
      for (const StepExplanation &step : reshard.steps)
        kinds.push_back(step.kind);
    return kinds;
  }

  PlanModule module{oneStep};
  Sources sources;
};

} // namespace

TEST_F(ExplainTraining, AParameterHasAGradientAndStates) {
  for (std::string name : {"up.w", "tied.w"}) {
    std::optional<TrainingExplanation> training = explain("parameter", name);
    ASSERT_TRUE(training && training->gradient) << name;
    EXPECT_EQ(training->gradient->dtype, "f32") << "as it is computed, not as it is accumulated";
    EXPECT_EQ(training->gradient->layout, "[4, 6], partial over dp");
    ASSERT_EQ(training->states.size(), 1u);
    EXPECT_EQ(training->states[0].name, "momentum_buffer");
    EXPECT_EQ(training->states[0].tensor.rankBytes, 48);
    EXPECT_THAT(kindsOf(*training), ElementsAre("all_gather", "reduce_scatter"))
        << "the gather of the forward pass is none";
  }
}

TEST_F(ExplainTraining, AModuleHasCollectivesOnlyThoseOfItsGradientsToo) {
  std::optional<TrainingExplanation> training = explain("module", "up");
  ASSERT_TRUE(training);
  EXPECT_FALSE(training->gradient);
  EXPECT_THAT(training->states, IsEmpty());
  EXPECT_THAT(kindsOf(*training), ElementsAre("all_gather", "reduce_scatter"));
  EXPECT_THAT(kindsOf(*explain("module", "down")), IsEmpty());
}

TEST_F(ExplainTraining, OthersHaveNone) {
  EXPECT_FALSE(explain("parameter", "up.f")) << "frozen";
  EXPECT_FALSE(explain("parameter", "down.w")) << "of no step";
  EXPECT_FALSE(explain("input", "x"));
}
