//===- pipeline_layout_test.cpp - Megatron's string of pipeline stages ----===//

#include "compiler/adopt/megatron/pipeline_layout.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan;
using testing::ElementsAre;
using testing::SizeIs;

static PipelineStages stages(llvm::StringRef text) {
  auto result = parsePipelineLayout(text);
  auto *found = std::get_if<PipelineStages>(&result);
  return found ? *found : PipelineStages();
}

static std::string problem(llvm::StringRef text) {
  auto result = parsePipelineLayout(text);
  auto *error = std::get_if<LayoutError>(&result);
  return error ? std::to_string(error->offset) + ": " + error->message : "";
}

TEST(PipelineLayout, RepeatsLayersAndGroups) {
  EXPECT_THAT(stages("Ett|tt|L"), ElementsAre("Ett", "tt", "L"));
  EXPECT_THAT(stages("Et*3|(tt|)*2,m|L"), ElementsAre("Ettt", "tt", "tt", "m", "L"));
  EXPECT_THAT(stages("E|(t|t)*2|L"), ElementsAre("E", "t", "tt", "t", "L"));
  EXPECT_THAT(stages("E||tL"), ElementsAre("E", "", "tL"));
  // The example of Megatron's own documentation.
  EXPECT_THAT(stages("Et*3|(tt|)*29,m|L"), SizeIs(32));
}

TEST(PipelineLayout, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(problem("Etx|L"), "2: 'x' is not a layer: layers are E, t, m and L, and '|' ends a stage");
  EXPECT_EQ(problem("E(tx)*2|L"), "3: 'x' is not a layer: layers are E, t, m and L, and '|' ends a stage");
  EXPECT_EQ(problem("E(tt|L"), "1: '(' is not closed");
  EXPECT_EQ(problem("E(tt)|L"), "5: '*' and a number follow a group");
  EXPECT_EQ(problem("Et*|L"), "3: a number follows '*'");
  EXPECT_EQ(problem("E((t)*2)*2L"), "2: a group inside of another");
  EXPECT_EQ(problem("tE|L"), "0: the first layer is E, the embedding, and no other one is");
  EXPECT_EQ(problem("EtE|L"), "0: the first layer is E, the embedding, and no other one is");
  EXPECT_EQ(problem(""), "0: the first layer is E, the embedding, and no other one is");
  EXPECT_EQ(problem("Et|t"), "3: the last layer is L, the loss, and no other one is");
  EXPECT_EQ(problem("Em|tL"), "1: layers t come before layers m");
  EXPECT_EQ(problem("Et*99999999L"), "11: more than 100000 layers");
  EXPECT_EQ(problem("E(tt|)*99999999L"), "15: more than 100000 layers");
  // Twice this number is 2 in 64 bits, and with the letters before it this number is 0.
  EXPECT_EQ(problem("E(tt)*9223372036854775809L"), "25: more than 100000 layers");
  EXPECT_EQ(problem("Et*18446744073709551615L"), "23: more than 100000 layers");
  EXPECT_EQ(problem("Et*18446744073709551616L"), "3: a number follows '*'");
  EXPECT_EQ(problem("E()*18446744073709551615L"), "");
}
