//===- training_test.cpp - valid training statements ----------------------===//

#include "test/unit/frontend/bind/training/training_plan.h"

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

TEST(BindTraining, WithoutStatementsNothingIsSaid) {
  BoundPlan plan = bound("");
  EXPECT_FALSE(plan.precision || plan.optimizer || plan.clipGradNorm || plan.nonfinite);
  EXPECT_THAT(plan.recomputes, IsEmpty());
  EXPECT_THAT(plan.trainable, IsEmpty());
}

TEST(BindTraining, StatementsStandTogether) {
  EXPECT_TRUE(bound("loss loss\noptimizer adamw { schedule constant { } }\nclip_grad_norm 1.0\nfreeze model.norm\n"
                    "unused model.embed_tokens\ntrain only lm_head\nrecompute model.layers.*")
                  .optimizer);
  EXPECT_TRUE(bound("precision { compute bf16 }\ndata dp { bucket none }").precision);
}

TEST(BindTraining, RecomputeNamesModules) {
  BoundPlan plan = bound("recompute model.layers.*.self_attn keep attention, mlp\nrecompute lm_head, **.act_fn");
  ASSERT_EQ(plan.recomputes.size(), 2u);
  EXPECT_THAT(plan.recomputes[0].keep, ElementsAre("attention", "mlp"));
  EXPECT_EQ(plan.recomputes[0].paths.size(), 1u);
  EXPECT_EQ(plan.recomputes[0].paths[0].modules.size(), 2u);
  EXPECT_THAT(plan.recomputes[1].keep, IsEmpty());
  EXPECT_EQ(plan.recomputes[1].paths.at(1).modules.size(), 2u) << "modules without parameters, too";
}

TEST(BindTraining, AModuleIsRecomputedOnce) {
  EXPECT_THAT(faults("recompute model.layers.*, model.layers.1").front(),
              "module 'model.layers.1' is recomputed twice");
  EXPECT_EQ(faults("recompute model.layers.*.mlp, lm_head\nrecompute {lm_head, model.layers.*.mlp}").size(), 2u)
      << "one error for a path";
}

TEST(BindTraining, AModuleIsNotRecomputedInsideAnother) {
  EXPECT_THAT(faults("recompute model.layers.*\nrecompute model.layers.0.mlp").front(),
              "module 'model.layers.0.mlp' is inside 'model.layers.0', which is recomputed with all that is inside");
  EXPECT_THAT(faults("recompute model.norm\nrecompute model.layers.0, model.layers.1"), IsEmpty());
}

TEST(BindTraining, RecomputeNamesNoParameter) {
  EXPECT_THAT(faults("recompute {lm_head, lm_head.weight}"),
              ElementsAre("'lm_head.weight' names a parameter, and 'recompute' names modules",
                          "name the module that holds it"));
  EXPECT_THAT(faults("recompute model.layers"),
              ElementsAre("'model.layers' matches no module", "write 'model.layers.*' for the modules of the list"));
}

TEST(BindTraining, ANormIsANumberAboveZero) {
  EXPECT_DOUBLE_EQ(bound("loss loss\noptimizer sgd\nclip_grad_norm 0.5").clipGradNorm->norm, 0.5);
  for (const char *norm : {"0", "-1", "0.0", "1 MiB", "50 %", "1e400"})
    EXPECT_THAT(faults("loss loss\noptimizer sgd\nclip_grad_norm " + std::string(norm)),
                ElementsAre("the norm is a number above 0"))
        << norm;
  EXPECT_THAT(faults("loss loss\noptimizer sgd\nclip_grad_norm 1e-3"), IsEmpty());
}

TEST(BindTraining, GradientsAreClippedForAnOptimizer) {
  EXPECT_THAT(faults("loss loss\nclip_grad_norm 1").front(),
              "'clip_grad_norm' without an optimizer: nothing is clipped");
  EXPECT_THAT(faults("loss loss\nclip_grad_norm 1\noptimizer sdg"),
              ElementsAre("unknown optimizer 'sdg'", "did you mean 'sgd'?"));
}

TEST(BindTraining, GradientsThatAreNotFiniteStopOrSkip) {
  EXPECT_EQ(bound("loss loss\noptimizer sgd\nnonfinite gradients stop").nonfinite->action, NonfiniteAction::Stop);
  BoundPlan plan = bound("loss loss\noptimizer sgd\nnonfinite gradients skip");
  EXPECT_EQ(plan.nonfinite->action, NonfiniteAction::Skip);
  EXPECT_EQ(plan.nonfinite->range.line, 7);
}

TEST(BindTraining, NonfiniteIsAboutGradientsOfAnOptimizer) {
  EXPECT_THAT(faults("loss loss\noptimizer sgd\nnonfinite gradients skp"),
              ElementsAre("unknown action 'skp'", "did you mean 'skip'?"));
  EXPECT_THAT(faults("loss loss\noptimizer sgd\nnonfinite gradients wait"),
              ElementsAre("unknown action 'wait'", "actions: 'stop', 'skip'"));
  EXPECT_THAT(faults("loss loss\noptimizer sgd\nnonfinite parameters stop"),
              ElementsAre("'nonfinite' looks at gradients, and not at 'parameters'",
                          "the form is 'nonfinite gradients stop | skip'"));
  EXPECT_THAT(faults("loss loss\nnonfinite gradients stop"),
              ElementsAre("'nonfinite' without an optimizer: no step is taken",
                          "add 'optimizer KIND { ... }', or remove the statement"));
}

TEST(BindTraining, AnOptimizerNeedsALoss) {
  EXPECT_THAT(faults("optimizer sgd"), ElementsAre("a plan without a loss cannot be trained", "add 'loss loss'"));
  ModelOutline model = llama(1);
  model.outputs.push_back({"aux", {}});
  EXPECT_EQ(faults("optimizer sgd", model).back(), "add 'loss NAME'; outputs that are scalars: 'loss', 'aux'");
  model.outputs = {{"logits", {{4, ""}}}};
  EXPECT_EQ(faults("optimizer sgd", model).back(), "return the loss, a scalar, from the model, and add 'loss NAME'");
  EXPECT_THAT(faults("loss logits\noptimizer sgd").front(), testing::StartsWith("the loss is a scalar"));
  EXPECT_EQ(faults("loss logits\noptimizer sgd").size(), 2u);
}

} // namespace
