//===- loss_unit_test.cpp - a loss that the plan redefines ----------------===//

#include "test/unit/frontend/bind/training/training_plan.h"

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

TEST(BindLossUnit, AsThePlanSays) {
  const std::string samples = "input labels: [batch, _]\n";
  EXPECT_EQ(bound("loss loss").loss->unit, LossUnit::Model);
  EXPECT_EQ(bound("loss loss per token").loss->unit, LossUnit::Token);
  EXPECT_EQ(bound(samples + "loss 0 per sequence").loss->unit, LossUnit::Sequence);
  // This statement alone trains nothing.
  EXPECT_FALSE(bound("loss loss per token").optimizer);
}

TEST(BindLossUnit, OneInputWithSamplesIsEnough) {
  EXPECT_EQ(bound("loss loss per sequence\ninput input_ids: [_, _]\ninput labels: [batch, seq]").loss->unit,
            LossUnit::Sequence);
  EXPECT_THAT(faults("loss loss per sequence"),
              ElementsAre("'per sequence' counts samples along the dim 'batch', and no input has a dim 'batch'",
                          "name it: 'input NAME: [batch, ...]'"));
  EXPECT_THAT(faults("loss loss per sequence\ninput labels: [b, batches]").front(), HasSubstr("dim 'batch'"));
  EXPECT_EQ(bound("loss loss per token\ninput labels: [b, _]").loss->unit, LossUnit::Token);
}

TEST(BindLossUnit, NothingElse) {
  for (const char *word : {"tokens", "Token", "sample", "batch", "model"})
    EXPECT_THAT(faults(std::string("loss loss per ") + word),
                ElementsAre(HasSubstr(std::string("not per '") + word + "'"), HasSubstr("write 'per token'")))
        << word;
  // For an unknown output, only that is reported.
  EXPECT_THAT(faults("loss los per sample"), ElementsAre("unknown output 'los'", "did you mean 'loss'?"));
}

TEST(BindLossUnit, NamesAndMeanings) {
  EXPECT_EQ(lossUnitName(LossUnit::Model), "");
  EXPECT_EQ(lossUnitName(LossUnit::Token), "token");
  EXPECT_EQ(lossUnitName(LossUnit::Sequence), "sequence");
  EXPECT_EQ(lossUnitMeaning(LossUnit::Model), "as the model computes it");
  EXPECT_TRUE(lossUnitMeaning(LossUnit::Token).contains("all targets"));
  EXPECT_EQ(lossText({0, {}, LossUnit::Token}, llama(1)), "loss loss per token");
  EXPECT_EQ(lossText({0, {}, LossUnit::Model}, llama(1)), "loss loss");
  EXPECT_TRUE(lossUnitMeaning(LossUnit::Sequence).contains("of the mean over the targets of each"));
}

} // namespace
