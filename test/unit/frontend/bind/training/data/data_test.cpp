//===- data_test.cpp - valid data blocks ----------------------------------===//

#include "test/unit/frontend/bind/training/training_plan.h"

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

namespace {

/// The data blocks of a plan for a Llama of one layer on dp = 2, cp = 2, tp = 3.
std::vector<BoundData> boundData(const std::string &blocks) {
  Outcome outcome =
      bindTo(llama(1), "plan p {\nmesh dp = 2, cp = 2, tp = 3\nlet n = 4\nrest: replicate\n" + blocks + "\n}\n");
  EXPECT_EQ(outcome.text, "");
  return outcome.plan ? outcome.plan->data : std::vector<BoundData>();
}

BoundData oneBlock(const std::string &options) {
  std::vector<BoundData> blocks = boundData("data dp, cp { " + options + " }");
  EXPECT_EQ(blocks.size(), 1u);
  return blocks.empty() ? BoundData() : blocks[0];
}

/// Statements for several microbatches.
const std::string inTime = "\nloss loss\ninput input_ids: [batch, _]\nmicrobatches 2";

/// A block of a plan with microbatches.
BoundData oneInTime(const std::string &options) {
  std::vector<BoundData> blocks = boundData("data dp, cp { " + options + " }" + inTime);
  return blocks.empty() ? BoundData() : blocks[0];
}

/// The errors in one option of a block on dp and cp, and their helps.
std::vector<std::string> blockFaults(const std::string &option) {
  return faultsOfPlan("plan p {\nmesh dp = 2, cp = 2, tp = 3\nlet n = 4\nrest: replicate\ndata dp, cp { " + option +
                          " }\n}\n",
                      llama(1));
}

/// Everything is sharded, as needed for gathered parameters.
const std::string whole = "shard parameters, gradients, optimizer; ";

TEST(BindData, WhatTheBlockDoesNotSayIsNotSharded) {
  BoundData data = oneBlock("average in collective");
  EXPECT_THAT(data.axes, ElementsAre(0, 1));
  EXPECT_THAT(data.shard, IsEmpty());
  EXPECT_EQ(data.bucketBytes, std::nullopt);
  EXPECT_TRUE(data.overlapGradients) << "what the plan does not say overlaps";
  EXPECT_FALSE(data.overlapParameters) << "none are gathered";
  EXPECT_EQ(data.prefetch, 0);
  EXPECT_EQ(data.reduce, std::nullopt);
  EXPECT_EQ(data.average, AverageTime::InCollective);
}

TEST(BindData, WhatIsMovedOverlapsUnlessThePlanSays) {
  struct Case {
    const char *options;
    bool gradients, parameters;
    int64_t prefetch;
  };
  for (const Case &each : {Case{"", true, true, 1}, Case{"overlap gradients, parameters", true, true, 1},
                           Case{"overlap parameters", false, true, 1}, Case{"overlap gradients", true, false, 0},
                           Case{"overlap none", false, false, 0}, Case{"prefetch 3", true, true, 3},
                           Case{"prefetch 0", true, false, 0}, Case{"overlap gradients; prefetch 0", true, false, 0},
                           Case{"overlap parameters; prefetch 2", false, true, 2}}) {
    BoundData data = oneBlock(whole + each.options);
    EXPECT_EQ(data.overlapGradients, each.gradients) << each.options;
    EXPECT_EQ(data.overlapParameters, each.parameters) << each.options;
    EXPECT_EQ(data.prefetch, each.prefetch) << each.options;
  }
  EXPECT_TRUE(oneBlock("shard gradients, optimizer").overlapGradients);
  EXPECT_FALSE(oneBlock("shard gradients, optimizer").overlapParameters);
  EXPECT_FALSE(oneBlock("overlap none").overlapGradients);
  for (const char *shard : {"shard optimizer", "shard gradients, optimizer"}) {
    BoundData data = oneBlock(std::string(shard) + "; overlap gradients, parameters");
    EXPECT_TRUE(data.overlapGradients && data.overlapParameters && data.gathersInStep()) << shard;
    EXPECT_EQ(data.prefetch, 1) << shard;
    EXPECT_EQ(oneBlock(std::string(shard) + "; overlap parameters; prefetch 2").prefetch, 2) << shard;
  }
  EXPECT_FALSE(oneBlock(whole).gathersInStep()) << "each pass gathers";
}

TEST(BindData, KindsAreShardedOverTheBlockOrSomeOfIt) {
  BoundData all = oneBlock("shard parameters, gradients, optimizer");
  EXPECT_THAT(all.shard, ElementsAre(DataKind::Parameters, DataKind::Gradients, DataKind::Optimizer));
  EXPECT_THAT(all.shardAxes, ElementsAre(0, 1));
  BoundData hybrid = oneBlock("shard optimizer over cp");
  EXPECT_THAT(hybrid.shard, ElementsAre(DataKind::Optimizer));
  EXPECT_THAT(hybrid.shardAxes, ElementsAre(1)) << "over dp it is replicated";
}

TEST(BindData, WhatIsUpdatedIsShardedAsTheUpdateIs) {
  EXPECT_THAT(oneBlock("shard gradients, optimizer").shard, ElementsAre(DataKind::Gradients, DataKind::Optimizer));
  EXPECT_THAT(oneBlock("shard optimizer, parameters, gradients").shard.size(), 3u) << "in any order";
  for (const char *shard : {"parameters", "gradients", "parameters, gradients", "parameters, optimizer"})
    EXPECT_THAT(blockFaults("shard " + std::string(shard)).at(0), testing::HasSubstr("' without ")) << shard;
  EXPECT_EQ(blockFaults("shard parameters over cp").back(), "write 'shard parameters, gradients, optimizer over cp'");
  EXPECT_EQ(blockFaults("shard gradients over pp").back(), "write 'shard gradients, optimizer'") << "no such axis";
  EXPECT_EQ(blockFaults("shard gradients over (cp, dp)").back(), "write 'shard gradients, optimizer over (cp, dp)'");
}

TEST(BindData, WhatIsAboutTheGatherNeedsShardedParameters) {
  auto expectFault = [](const std::string &block, const char *why) {
    EXPECT_THAT(blockFaults(block).at(0), testing::HasSubstr(why)) << block;
    EXPECT_EQ(blockFaults(block).size(), 2u) << block;
  };
  for (const char *option : {"overlap parameters", "overlap gradients, parameters", "prefetch 1", "keep lm_head"})
    expectFault(option, "no parameter is gathered");
  for (const char *option : {"prefetch 1", "keep lm_head"})
    expectFault(option + std::string("; shard optimizer"), "after the optimizer");
  expectFault("keep lm_head; overlap parameters; shard optimizer", "all are kept");
  EXPECT_EQ(blockFaults("prefetch 1; shard optimizer").back(),
            "write 'shard parameters, gradients, optimizer', or add 'overlap parameters'");
  EXPECT_THAT(blockFaults("prefetch 1; shard weights").at(0), "cannot read 'shard weights'");
  EXPECT_EQ(blockFaults("prefetch 1; shard weights").size(), 2u) << "what was meant is not known";
  EXPECT_THAT(blockFaults("shard optimizer, optimizer").at(0), "'optimizer' is repeated");
}

TEST(BindData, BucketsHaveSizesInBytes) {
  std::pair<const char *, int64_t> cases[] = {{"64 MiB", int64_t(64) << 20},
                                              {"64MiB", int64_t(64) << 20},
                                              {"1.5 KiB", 1536},
                                              {"2 GiB", int64_t(2) << 30},
                                              {"3 KB", 3000},
                                              {"0.5 MB", 500000},
                                              {"1 GB", 1000000000}};
  for (auto [text, bytes] : cases)
    EXPECT_THAT(oneBlock(std::string("bucket ") + text).bucketBytes, Optional(bytes)) << text;
  EXPECT_THAT(oneBlock("bucket none").bucketBytes, Optional(int64_t(0))) << "each tensor alone, and not what is usual";
}

TEST(BindData, UnitsAreOfWhatIsSharded) {
  for (const char *shard : {"optimizer", "gradients, optimizer", "parameters, gradients, optimizer"})
    EXPECT_EQ(oneBlock("unit model.layers.*; shard " + std::string(shard)).units.size(), 1u) << shard;
  EXPECT_THAT(blockFaults("unit model.layers.*; bucket 1 MiB"),
              ElementsAre("'unit model.layers.*' without 'shard': replicated parameters are not in a unit",
                          "write 'shard optimizer', 'shard gradients, optimizer' or 'shard parameters, gradients, "
                          "optimizer', or remove 'unit model.layers.*'; 'bucket SIZE' coalesces gradients, too"));
  EXPECT_EQ(blockFaults("unit model.layers.*; unit lm_head").size(), 4u) << "each of them";
  EXPECT_THAT(blockFaults("unit lm_head; shard weights").front(), "cannot read 'shard weights'")
      << "what was meant is unknown";
  EXPECT_EQ(blockFaults("unit lm_head; shard weights").size(), 2u);
}

TEST(BindData, WhenGradientsAreReducedIsForMicrobatches) {
  for (std::string option : {"reduce each microbatch", "reduce last microbatch"})
    EXPECT_THAT(blockFaults(option),
                ElementsAre("'" + option + "' without microbatches: gradients are computed once in a step",
                            "add 'microbatches NUMBER', or remove '" + option + "'"));
  EXPECT_EQ(boundData("loss loss\ndata dp { reduce each microbatch }\nmicrobatches 1").size(), 1u)
      << "their number may be set to 1";
}

TEST(BindData, OverlapPrefetchReduceAndAverage) {
  EXPECT_TRUE(oneBlock("overlap gradients").overlapGradients);
  EXPECT_FALSE(oneBlock("overlap gradients").overlapParameters);
  BoundData both = oneBlock(whole + "overlap gradients, parameters");
  EXPECT_TRUE(both.overlapGradients && both.overlapParameters);
  BoundData none = oneBlock("overlap none");
  EXPECT_FALSE(none.overlapGradients || none.overlapParameters);
  EXPECT_EQ(oneBlock(whole + "prefetch 2").prefetch, 2);
  EXPECT_EQ(oneBlock(whole + "prefetch n").prefetch, 4) << "a value of the plan";
  EXPECT_EQ(oneInTime("reduce each microbatch").reduce, ReduceTime::EachMicrobatch);
  EXPECT_EQ(oneInTime("reduce last microbatch").reduce, ReduceTime::LastMicrobatch);
  EXPECT_EQ(oneBlock("average after collective").average, AverageTime::AfterCollective);
  EXPECT_EQ(oneBlock("average in collective").average, AverageTime::InCollective);
}

TEST(BindData, WhatIsMovedInPiecesMayBeContiguous) {
  BoundData none = oneBlock(whole);
  EXPECT_FALSE(none.contiguousParameters || none.contiguousGradients || none.registerBuffers);
  BoundData both = oneBlock(whole + "contiguous parameters, gradients; register buffers");
  EXPECT_TRUE(both.contiguousParameters && both.contiguousGradients && both.registerBuffers);
  EXPECT_FALSE(oneBlock(whole + "contiguous parameters").contiguousGradients);
  EXPECT_FALSE(oneBlock("bucket 1 MiB; contiguous gradients").contiguousParameters) << "gradients of what stays whole";
  for (const char *shard : {"shard optimizer", "shard gradients, optimizer"})
    EXPECT_TRUE(oneBlock(std::string(shard) + "; contiguous gradients, parameters").contiguousParameters) << shard;
}

TEST(BindData, WhatIsMovedAloneIsNotContiguous) {
  EXPECT_THAT(
      blockFaults(whole + "bucket none; contiguous parameters"),
      ElementsAre("'contiguous parameters' and 'bucket none' contradict each other: transfers are not coalesced",
                  "remove one of them"));
  EXPECT_THAT(blockFaults("contiguous gradients"),
              ElementsAre("'contiguous gradients' without 'bucket': gradients of replicated parameters are not "
                          "coalesced",
                          "write 'bucket SIZE', as in 'bucket 64 MiB', or remove 'contiguous gradients'"));
  const std::string sharding = "write 'shard optimizer', 'shard gradients, optimizer' or 'shard parameters, gradients, "
                               "optimizer', or ";
  EXPECT_THAT(blockFaults("bucket 1 MiB; contiguous parameters"),
              ElementsAre("'contiguous parameters' without 'shard': no parameter is gathered",
                          sharding + "remove 'contiguous parameters'"));
  EXPECT_THAT(blockFaults("bucket 1 MiB; contiguous parameters, gradients").back(),
              sharding + "'contiguous gradients'");
  EXPECT_THAT(blockFaults(whole + "contiguous gradients, parameters, gradients"),
              ElementsAre("'gradients' is repeated", "keep one of them"));
}

TEST(BindData, BuffersAreRegisteredThatAreThere) {
  EXPECT_THAT(blockFaults(whole + "register buffers"),
              ElementsAre("'register buffers' without 'contiguous': no buffer persists between steps",
                          "write 'contiguous parameters, gradients', or remove 'register buffers'"));
}

TEST(BindData, EachOptionHasAForm) {
  struct {
    const char *name, *form;
    std::vector<const char *> wrong;
  } cases[] = {
      {"overlap",
       "overlap gradients, parameters | none",
       {"overlap", "overlap 3", "overlap model.norm", "overlap weights", "overlap gradients, none",
        "overlap none, none"}},
      {"prefetch", "prefetch NUMBER", {"prefetch", "prefetch 0.5", "prefetch -1", "prefetch 1, 2", "prefetch 2 KiB"}},
      {"reduce",
       "reduce each microbatch | reduce last microbatch",
       {"reduce", "reduce each", "reduce microbatch", "reduce first microbatch"}},
      {"average",
       "average in | after collective",
       {"average", "average in", "average collective", "average before collective", "average in collective now"}},
      {"contiguous",
       "contiguous parameters, gradients",
       {"contiguous", "contiguous 2", "contiguous optimizer", "contiguous none"}},
      {"register", "register buffers", {"register", "register parameters", "register buffers now"}},
  };
  for (const auto &[name, form, wrong] : cases)
    for (const char *option : wrong) {
      std::vector<std::string> said = blockFaults(option);
      ASSERT_FALSE(said.empty()) << option;
      EXPECT_EQ(said.back(), "the form is '" + std::string(form) + "'") << option;
    }
  for (const char *option :
       {"shard", "shard 3", "shard weights", "shard over cp", "shard gradients over",
        "shard gradients, weights over cp", "bucket", "bucket 64", "bucket all", "bucket 1 us", "bucket -1 MiB"}) {
    std::vector<std::string> said = blockFaults(option);
    ASSERT_FALSE(said.empty()) << option;
    EXPECT_THAT(said.back(), testing::StartsWith("the form is '" + std::string(option).substr(0, 4))) << option;
  }
}

TEST(BindData, WhatIsShardedLiesOnAxesOfTheBlock) {
  EXPECT_THAT(blockFaults("shard optimizer over tp"),
              ElementsAre("axis 'tp' is not an axis of this block, '(dp, cp)'"));
  EXPECT_THAT(blockFaults("shard optimizer over cp, tp"),
              ElementsAre("axis 'tp' is not an axis of this block, '(dp, cp)'"));
}

} // namespace
