//===- microbatches_test.cpp - splitting the batch ------------------------===//

#include "test/unit/frontend/bind/training/training_plan.h"

#include <limits>

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// Two inputs with this many samples.
ModelOutline samples(int64_t count) {
  ModelOutline model = llama(1);
  for (OutlineValue &input : model.inputs)
    input.dims[0].extent = count;
  return model;
}

/// The statements around `microbatches` for a batch that is sharded over dp = 2.
const std::string overDp = "loss loss\ninput input_ids, labels: [batch over dp, seq]\n";
const std::string onEach = "loss loss\ninput input_ids, labels: [batch, seq]\n";

TEST(BindMicrobatches, CountAndMean) {
  BoundPlan plan = bound("loss loss\ninput input_ids: [batch, seq]\nmicrobatches 2 mean");
  EXPECT_EQ(plan.microbatches.count, 2);
  EXPECT_TRUE(plan.microbatches.mean);
  EXPECT_EQ(plan.microbatches.calls(), 2);
  EXPECT_EQ(bound("loss loss\ninput input_ids: [batch, seq]\nmicrobatches n").microbatches.count, 4);
  EXPECT_EQ(bound("").microbatches.count, 1);
}

TEST(BindMicrobatches, OneIsNoSplit) {
  BoundPlan plan = bound("loss loss per token\ninput input_ids: [batch = 4, seq]\nmicrobatches 1 mean");
  EXPECT_EQ(plan.microbatches.count, 1);
  EXPECT_EQ(plan.microbatches.calls(), 1);
  EXPECT_EQ(plan.inputs.at(0).dims.at(0).extent, 4);
}

TEST(BindMicrobatches, MoreThanOneNeedALossAndABatch) {
  EXPECT_THAT(faults("microbatches 2"),
              ElementsAre("microbatches are for training, and the plan has no loss", "add 'loss loss'",
                          HasSubstr("no input has a dim 'batch'"), "name it: 'input NAME: [batch, ...]'"));
  // A misspelled loss counts as a loss.
  EXPECT_THAT(faults("loss los\ninput labels: [batch, _]\nmicrobatches 2"),
              ElementsAre("unknown output 'los'", "did you mean 'loss'?"));
}

TEST(BindMicrobatches, TheSamplesOfEachRankDivideEvenly) {
  for (int64_t count : {2, 3, 4, 6, 12})
    EXPECT_EQ(bound(overDp + "microbatches " + std::to_string(count), samples(24)).microbatches.count, count);
  for (int64_t count : {5, 7, 8, 9, 10, 11, 13, 24})
    EXPECT_EQ(faults(overDp + "microbatches " + std::to_string(count), samples(24)).size(), 2u) << count;
  EXPECT_EQ(bound(onEach + "microbatches 24", samples(24)).microbatches.count, 24);
}

TEST(BindMicrobatches, TheNearestNumbersThatDivideAreNamed) {
  EXPECT_THAT(
      faults(overDp + "microbatches 5", samples(24)),
      ElementsAre("the batch has 24 samples, and 5 microbatches over dp = 2 need a multiple of 10",
                  "write 'microbatches 4' or 'microbatches 6': the 12 samples of each rank have to divide evenly"));
  EXPECT_THAT(faults(onEach + "microbatches 5", samples(7)),
              ElementsAre("the batch has 7 samples, and 5 microbatches need a multiple of 5",
                          "write 'microbatches 7': the 7 samples have to divide evenly"));
  EXPECT_EQ(faults(overDp + "microbatches 24", samples(24)).back(),
            "write 'microbatches 12': the 12 samples of each rank have to divide evenly");
  EXPECT_EQ(faults(overDp + "microbatches 2", samples(2)).back(),
            "remove the statement: there is one sample for each rank");
  EXPECT_EQ(faults(onEach + "microbatches 2", samples(1)).back(), "remove the statement: there is one sample");
}

TEST(BindMicrobatches, RanksWithDifferentNumbersOfSamplesHaveNone) {
  EXPECT_THAT(faults(overDp + "microbatches 3", samples(7)),
              ElementsAre("the batch has 7 samples, and 3 microbatches over dp = 2 need a multiple of 6",
                          "remove the statement, or use a batch of 6 or 12"));
  EXPECT_THAT(faults("loss loss\ninput input_ids, labels: [batch over (dp, tp), seq]\nmicrobatches 2", samples(7)),
              ElementsAre("the batch has 7 samples, and 2 microbatches over (dp, tp) = 6 need a multiple of 12",
                          "remove the statement, or use a batch of 12"));
}

TEST(BindMicrobatches, TheInputThatIsDividedMostCounts) {
  for (const char *inputs : {"input input_ids: [batch over dp, _]\ninput labels: [batch, _]\n",
                             "input input_ids: [batch, _]\ninput labels: [batch over dp, _]\n"}) {
    EXPECT_EQ(bound(std::string("loss loss\n") + inputs + "microbatches 2").microbatches.count, 2);
    EXPECT_EQ(faults(std::string("loss loss\n") + inputs + "microbatches 3").size(), 2u) << "one error for a statement";
    EXPECT_THAT(faults(std::string("loss loss\n") + inputs + "microbatches 3").front(),
                "the batch has 4 samples, and 3 microbatches over dp = 2 need a multiple of 6");
  }
}

TEST(BindMicrobatches, TheBatchIsFoundByItsName) {
  EXPECT_EQ(bound("loss loss\ninput labels: [_, batch]\nmicrobatches 8").microbatches.count, 8);
}

TEST(BindMicrobatches, EveryInputDivides) {
  // 6 samples are enough for dp = 2 and 3 microbatches; tp = 3 has fewer shards than (dp, tp), and differs from dp.
  std::string inputs = "loss loss\ninput input_ids: [batch over dp, _]\ninput labels: [batch over tp, _]\n";
  EXPECT_THAT(faults(inputs + "microbatches 3", samples(6)).front(),
              "the batch has 6 samples, and 3 microbatches over tp = 3 need a multiple of 9");
  EXPECT_THAT(faults(inputs + "microbatches 3", samples(9)).front(),
              "the batch has 9 samples, and 3 microbatches over dp = 2 need a multiple of 6");
  EXPECT_EQ(bound(inputs + "microbatches 3", samples(18)).microbatches.count, 3);
}

TEST(BindMicrobatches, HugeNumbersDoNotOverflow) {
  constexpr int64_t huge = std::numeric_limits<int64_t>::max();
  std::string count = "microbatches " + std::to_string(huge);
  EXPECT_THAT(faults("loss loss\ninput input_ids: [batch over (dp, tp), _]\n" + count),
              ElementsAre("the batch has 4 samples, and 9223372036854775807 microbatches over (dp, tp) = 6 need a "
                          "multiple of 18446744073709551615",
                          "remove the statement"));
  EXPECT_EQ(bound(onEach + count, samples(huge)).microbatches.count, huge);
  EXPECT_EQ(faults(onEach + count, samples(huge - 1)).back(),
            "write 'microbatches 9223372036854775806': the 9223372036854775806 samples have to divide evenly");
  EXPECT_EQ(faults(onEach + "microbatches " + std::to_string(huge / 2 + 1), samples(huge)).back(),
            "write a number that divides the 9223372036854775807 samples")
      << "none is looked for far away";
  EXPECT_EQ(faults(onEach + "microbatches " + std::to_string(huge - 1), samples(huge)).back(),
            "write 'microbatches 9223372036854775807': the 9223372036854775807 samples have to divide evenly");
}

TEST(BindMicrobatches, AnUnknownExtentIsReportedAlone) {
  ModelOutline model = llama(1);
  model.inputs[0].dims[0] = {0, "s0"};
  EXPECT_THAT(faults("loss loss\ninput input_ids: [batch, _]\nmicrobatches 8", model).front(),
              HasSubstr("has no extent"));
  EXPECT_EQ(faults("loss loss\ninput input_ids: [batch, _]\nmicrobatches 8", model).size(), 2u);
}

//===----------------------------------------------------------------------===//
// With a mean of their own
//===----------------------------------------------------------------------===//

/// Two inputs whose number of samples is a symbol.
ModelOutline openSamples() {
  ModelOutline model = llama(1);
  for (OutlineValue &input : model.inputs)
    input.dims[0] = {0, "s0"};
  return model;
}

/// The extent of the first dim of the first input.
int64_t firstExtent(const BoundPlan &plan) { return plan.inputs.at(0).dims.at(0).extent; }

const std::string batch24 = "loss loss\ninput input_ids, labels: [batch = 24 over dp, seq]\n";

TEST(MeanOfMicrobatches, TheModelTakesOneMicrobatch) {
  BoundPlan open = bound(batch24 + "microbatches 3 mean", openSamples());
  EXPECT_EQ(firstExtent(open), 8);
  EXPECT_EQ(open.symbols.at(0).extent, 8);
  EXPECT_EQ(firstExtent(bound(batch24 + "microbatches 3 mean", samples(8))), 8);
  EXPECT_EQ(firstExtent(bound(overDp + "microbatches 3 mean", samples(8))), 8) << "of a batch of 24";
  EXPECT_EQ(firstExtent(bound(batch24 + "microbatches 3", samples(24))), 24);
}

TEST(MeanOfMicrobatches, RanksMayHaveDifferentNumbersOfSamples) {
  EXPECT_EQ(firstExtent(bound(overDp + "microbatches 3 mean", samples(7))), 7);
}

TEST(MeanOfMicrobatches, OtherDimsAreAsStated) {
  BoundPlan plan = bound("loss loss\ninput input_ids, labels: [batch = 12, seq = 24]\nmicrobatches 3 mean", [] {
    ModelOutline model = openSamples();
    for (OutlineValue &input : model.inputs)
      input.dims[1].extent = 24;
    return model;
  }());
  EXPECT_EQ(firstExtent(plan), 4);
  EXPECT_EQ(plan.inputs.at(0).dims.at(1).extent, 24);
}

TEST(MeanOfMicrobatches, AnArchiveOfTheWholeBatchIsRefused) {
  EXPECT_THAT(faults(batch24 + "microbatches 3 mean", samples(24)),
              ElementsAre("dim 0 of 'input_ids' is 24 in the model, which is called with one microbatch, and that has "
                          "24 / 3 = 8",
                          "export the model with a batch of 8 or a symbolic one, or write 'batch = 72'",
                          "without 'mean' the model is called with the whole batch, and no operator may mix samples "
                          "but by sums",
                          HasSubstr("dim 0 of 'labels' is 24"), HasSubstr("export the model"), HasSubstr("without")));
}

TEST(MeanOfMicrobatches, OneSizeForAll) {
  std::string plan = "loss loss\ninput input_ids, labels: [batch = NUMBER, seq]\nmicrobatches 3 mean";
  auto of = [&](const char *number) { return std::string(plan).replace(plan.find("NUMBER"), 6, number); };
  EXPECT_THAT(
      faults(of("25"), openSamples()),
      ElementsAre("the batch has 25 samples, and 3 microbatches need a multiple of 3", "use a batch of 24 or 27"));
  EXPECT_EQ(faults(of("2"), openSamples()).back(), "use a batch of 3");
}

TEST(MeanOfMicrobatches, ALossThatThePlanDefinesHasNoOtherMean) {
  EXPECT_THAT(faults("loss loss per token\ninput input_ids: [batch, _]\nmicrobatches 3 mean"),
              ElementsAre("'mean' is the mean of the losses of microbatches, and the loss is the mean over all targets "
                          "of the batch that count",
                          "leave 'mean' or 'per token' out"));
  EXPECT_EQ(faults("loss loss per sequence\ninput input_ids: [batch, _]\nmicrobatches 3 mean").back(),
            "leave 'mean' or 'per sequence' out");
}

TEST(MeanOfMicrobatches, SamplesLieAlongOneDim) {
  EXPECT_THAT(faults("loss loss\ninput labels: [batch, batch]\nmicrobatches 2 mean",
                     [] {
                       ModelOutline model = llama(1);
                       model.inputs[1].dims[1] = model.inputs[1].dims[0];
                       return model;
                     }()),
              ElementsAre("input 'labels' has two dims 'batch', and 'mean' splits microbatches along one",
                          "leave out 'mean', or give one of the dims another name"));
}

TEST(MeanOfMicrobatches, NeedsALossAndABatch) {
  EXPECT_THAT(faults("microbatches 2 mean"),
              ElementsAre("microbatches are for training, and the plan has no loss", "add 'loss loss'",
                          HasSubstr("no input has a dim 'batch'"), "name it: 'input NAME: [batch, ...]'"));
}

} // namespace
