//===- microbatches_test.cpp - the batch in pieces ------------------------===//

#include "test/unit/frontend/bind/training/training_plan.h"

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// Two inputs of 7 samples.
ModelOutline seven() {
  ModelOutline model = llama(1);
  for (OutlineValue &input : model.inputs)
    input.dims[0].extent = 7;
  return model;
}

TEST(BindMicrobatches, CountAndMean) {
  BoundPlan plan = bound("loss loss\ninput input_ids: [batch, seq]\nmicrobatches 2 mean");
  EXPECT_EQ(plan.microbatches.count, 2);
  EXPECT_TRUE(plan.microbatches.mean);
  EXPECT_EQ(plan.later.at(0).name, "microbatches N mean");
  EXPECT_EQ(bound("loss loss\ninput input_ids: [batch, seq]\nmicrobatches n").microbatches.count, 4);
  EXPECT_EQ(bound("").microbatches.count, 1);
}

TEST(BindMicrobatches, OneIsNoSplit) {
  BoundPlan plan = bound("microbatches 1");
  EXPECT_TRUE(plan.later.empty());
  EXPECT_EQ(plan.microbatches.count, 1);
}

TEST(BindMicrobatches, MoreThanOneNeedALossAndABatch) {
  EXPECT_THAT(faults("microbatches 2"),
              ElementsAre("microbatches are for training, and the plan has no loss", "add 'loss loss'",
                          HasSubstr("no input has a dim 'batch'"), "name it: 'input NAME: [batch, ...]'"));
  // A loss that is wrong is a loss.
  EXPECT_THAT(faults("loss los\ninput labels: [batch, _]\nmicrobatches 2"),
              ElementsAre("unknown output 'los'", "did you mean 'loss'?"));
}

TEST(BindMicrobatches, SamplesNeedNotDivide) {
  std::string inputs = "loss loss\ninput input_ids, labels: [batch over dp, seq]\n";
  EXPECT_EQ(bound(inputs + "microbatches 2", seven()).microbatches.count, 2);
  EXPECT_EQ(bound(inputs + "microbatches 3", seven()).microbatches.count, 3) << "6 of 7 have one each";
  EXPECT_THAT(faults(inputs + "microbatches 4", seven()),
              ElementsAre("the batch has 7 samples, and 4 microbatches over dp = 2 need 8",
                          "there can be at most 3 microbatches"));
}

TEST(BindMicrobatches, EveryRankHasASampleInEachOfThem) {
  std::string inputs = "loss loss\ninput input_ids, labels: [batch over (dp, tp), seq]\n";
  EXPECT_THAT(
      faults(inputs + "microbatches 2", seven()),
      ElementsAre("the batch has 7 samples, and 2 microbatches over (dp, tp) = 6 need 12", "remove the statement"));
  EXPECT_THAT(faults("loss loss\ninput input_ids: [batch, seq]\nmicrobatches 8", seven()).front(),
              "the batch has 7 samples, and 8 microbatches need 8");
}

TEST(BindMicrobatches, TheInputThatIsDividedMostCounts) {
  for (const char *inputs : {"input input_ids: [batch over dp, _]\ninput labels: [batch, _]\n",
                             "input input_ids: [batch, _]\ninput labels: [batch over dp, _]\n"}) {
    EXPECT_EQ(bound(std::string("loss loss\n") + inputs + "microbatches 2").microbatches.count, 2);
    EXPECT_THAT(faults(std::string("loss loss\n") + inputs + "microbatches 3").front(),
                "the batch has 4 samples, and 3 microbatches over dp = 2 need 6");
  }
}

TEST(BindMicrobatches, TheBatchIsFoundByItsName) {
  EXPECT_EQ(bound("loss loss\ninput labels: [_, batch]\nmicrobatches 8").microbatches.count, 8);
}

TEST(BindMicrobatches, HugeCountsDoNotOverflow) {
  EXPECT_THAT(faults("loss loss\ninput input_ids: [batch over (dp, tp), _]\nmicrobatches 9223372036854775807").front(),
              "the batch has 4 samples, and 9223372036854775807 microbatches over (dp, tp) = 6 need "
              "18446744073709551615");
}

TEST(BindMicrobatches, AnUnknownExtentIsReportedAlone) {
  ModelOutline model = llama(1);
  model.inputs[0].dims[0] = {0, "s0"};
  EXPECT_THAT(faults("loss loss\ninput input_ids: [batch, _]\nmicrobatches 8", model).front(),
              HasSubstr("has no extent"));
  EXPECT_EQ(faults("loss loss\ninput input_ids: [batch, _]\nmicrobatches 8", model).size(), 2u);
}

} // namespace
