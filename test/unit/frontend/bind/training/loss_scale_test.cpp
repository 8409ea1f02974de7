//===- loss_scale_test.cpp - gradients that are too small for 16 bits -----===//

#include "test/unit/frontend/bind/training/training_plan.h"

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

const std::string trainedPlan = "loss loss\noptimizer adamw\n";

BoundLossScale scaleOf(const std::string &option) {
  BoundPlan plan = bound(trainedPlan + "precision { " + option + " }");
  EXPECT_TRUE(plan.precision && plan.precision->lossScale) << option;
  return plan.precision && plan.precision->lossScale ? *plan.precision->lossScale : BoundLossScale();
}

TEST(BindLossScale, ANumberStays) {
  EXPECT_EQ(scaleOf("loss_scale 1024").initial, 1024);
  EXPECT_EQ(scaleOf("loss_scale 0.5").interval, 0);
  EXPECT_FALSE(bound(trainedPlan + "precision { loss_scale 8 }").nonfinite);
}

TEST(BindLossScale, ADynamicOneHasTheNumbersOfGradScaler) {
  BoundLossScale scale = scaleOf("loss_scale dynamic");
  EXPECT_EQ(scale.initial, 65536);
  EXPECT_EQ(scale.growth, 2);
  EXPECT_EQ(scale.backoff, 0.5);
  EXPECT_EQ(scale.interval, 2000);
  scale = scaleOf("loss_scale dynamic { initial 256; growth 4; backoff 0.25; interval 10 }");
  EXPECT_EQ(scale.initial, 256);
  EXPECT_EQ(scale.growth, 4);
  EXPECT_EQ(scale.backoff, 0.25);
  EXPECT_EQ(scale.interval, 10);
}

TEST(BindLossScale, ADynamicOneSkipsSteps) {
  BoundPlan plan = bound(trainedPlan + "precision { loss_scale dynamic }");
  ASSERT_TRUE(plan.nonfinite);
  EXPECT_EQ(plan.nonfinite->action, NonfiniteAction::Skip);
  EXPECT_THAT(
      faults(trainedPlan + "precision { loss_scale dynamic }\nnonfinite gradients stop"),
      ElementsAre("'nonfinite gradients stop' and 'loss_scale dynamic' contradict each other: the scale is adapted "
                  "by steps whose gradients are not finite",
                  "write 'nonfinite gradients skip', or give the scale a number"));
}

TEST(BindLossScale, NumbersHaveARange) {
  auto said = [](const std::string &option) { return faults(trainedPlan + "precision { " + option + " }"); };
  const std::string range = " from 1.2e-38 to 8.5e37, so that it and its inverse are numbers of f32";
  EXPECT_THAT(said("loss_scale 0"), ElementsAre("the scale is a number" + range + ", and this is 0"));
  EXPECT_THAT(said("loss_scale 1e300"), ElementsAre("the scale is a number" + range + ", and this is 1e+300"));
  EXPECT_THAT(said("loss_scale 1e-39"), ElementsAre("the scale is a number" + range + ", and this is 1e-39"));
  EXPECT_THAT(said("loss_scale 1e38"), ElementsAre("the scale is a number" + range + ", and this is 1e+38"))
      << "its inverse is not normal";
  EXPECT_THAT(said("loss_scale 8e37"), IsEmpty());
  EXPECT_THAT(said("loss_scale dynamic { initial 0 }"), ElementsAre("initial is a number" + range + ", and this is 0"));
  EXPECT_THAT(said("loss_scale dynamic { growth 1 }"),
              ElementsAre("growth is a number above 1 that f32 holds, and this is 1"));
  EXPECT_THAT(said("loss_scale dynamic { backoff 1 }"),
              ElementsAre("backoff is a number between 0 and 1, and this is 1"));
  EXPECT_THAT(said("loss_scale dynamic { interval 0 }"), ElementsAre("interval is at least 1, and this is 0"));
}

TEST(BindLossScale, OtherFormsAreRefused) {
  for (const char *option : {"loss_scale", "loss_scale static", "loss_scale 8 { interval 3 }", "loss_scale 1, 2"}) {
    std::vector<std::string> said = faults(trainedPlan + "precision { " + std::string(option) + " }");
    ASSERT_EQ(said.size(), 2u) << option;
    EXPECT_EQ(said[1], "the form is 'loss_scale NUMBER | dynamic { initial NUMBER; growth NUMBER; backoff NUMBER; "
                       "interval STEPS }'");
  }
  EXPECT_THAT(faults("precision { loss_scale 8 }"),
              ElementsAre("'loss_scale' is for gradients, and the plan has no optimizer",
                          "add 'optimizer KIND { ... }', or remove the option"));
}

TEST(BindLossScale, GradientsOf16BitsAreLikelyToVanish) {
  ModelOutline half = llama(1);
  for (OutlineParameter &parameter : half.parameters)
    parameter.dtype = "f16";
  std::vector<std::string> said = faults(trainedPlan, half);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_THAT(said[0], testing::HasSubstr("are f16, where numbers below 6e-8 are 0"));
  EXPECT_EQ(said[1], "add 'precision { loss_scale dynamic }'");
  EXPECT_THAT(faults(trainedPlan + "precision { loss_scale 1024 }", half), IsEmpty());
  EXPECT_THAT(faults(trainedPlan + "precision { compute f16 }"),
              ElementsAre("'compute f16' computes gradients in f16, where numbers below 6e-8 are 0",
                          "add 'precision { loss_scale dynamic }'"));
  EXPECT_THAT(faults(trainedPlan + "precision { compute f16; loss_scale dynamic }"), IsEmpty());
  EXPECT_THAT(faults(trainedPlan + "precision { compute bf16 }"), IsEmpty()) << "bf16 has the exponents of f32";
}

} // namespace
