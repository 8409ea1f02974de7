//===- units_test.cpp - which parameters a data block has -----------------===//

#include "test/unit/frontend/bind/training/training_plan.h"

#include <set>

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

const std::string sharded = "shard parameters, gradients, optimizer\n";

std::vector<BoundData> blocks(const std::string &body, const ModelOutline &model = llama(1)) {
  return bound(body, model).data;
}

std::vector<std::string> saidOfUnits(const std::string &options, const ModelOutline &model = llama(2)) {
  return faults("data dp { " + sharded + options + " }", model);
}

TEST(BindDataUnits, UnitsAreGroupsOfPaths) {
  BoundData data = blocks("data dp { " + sharded +
                          "unit model.layers.*, [model.norm, lm_head]\nunit model.embed_tokens\n"
                          "keep model.norm, lm_head }")
                       .at(0);
  ASSERT_EQ(data.units.size(), 3u);
  EXPECT_EQ(data.units[0].size(), 1u);
  EXPECT_EQ(data.units[0][0].parameters.size(), 9u) << "seven projections and two norms";
  EXPECT_EQ(data.units[1].size(), 2u);
  EXPECT_EQ(data.keep.size(), 2u);
}

TEST(BindDataUnits, AUnitForEachModuleOfAPath) {
  std::vector<BoundData> found = blocks(
      "data dp { " + sharded + "unit model.layers.*, [model.norm, lm_head], model.embed_tokens.weight }", llama(3));
  ASSERT_EQ(found.size(), 1u);
  std::vector<size_t> sizes;
  std::set<size_t> all;
  for (const std::vector<size_t> &unit : found[0].unitParameters) {
    sizes.push_back(unit.size());
    all.insert(unit.begin(), unit.end());
  }
  EXPECT_THAT(sizes, ElementsAre(9, 9, 9, 2, 1)) << "three layers, two modules together, and one parameter";
  EXPECT_EQ(all.size(), 30u) << "no parameter is in two";
}

TEST(BindDataUnits, EachParameterIsInOneBlock) {
  std::vector<BoundData> found =
      blocks("data dp on model.layers.** { shard optimizer }\ndata dp, tp on lm_head { }\ndata tp { bucket none }");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].parameters.size(), 9u);
  EXPECT_EQ(found[1].parameters.size(), 1u);
  EXPECT_EQ(found[2].parameters.size(), 2u) << "embedding and norm, which no other block names";
  std::vector<size_t> all;
  for (const BoundData &block : found)
    all.insert(all.end(), block.parameters.begin(), block.parameters.end());
  std::sort(all.begin(), all.end());
  for (size_t index = 0; index < all.size(); ++index)
    EXPECT_EQ(all[index], index);
  EXPECT_EQ(all.size(), 12u);
}

TEST(BindDataUnits, WithoutAGeneralBlockTheRestIsInNone) {
  std::vector<BoundData> found = blocks("data dp on lm_head { bucket none }");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].parameters.size(), 1u);
  EXPECT_THAT(blocks(""), IsEmpty());
}

TEST(BindDataUnits, AParameterIsInOneUnit) {
  EXPECT_THAT(saidOfUnits("unit lm_head, lm_head.weight").front(), "parameter 'lm_head.weight' is in two units");
  EXPECT_THAT(saidOfUnits("unit model.layers.*\nunit model.layers.1").front(), HasSubstr("is in two units"));
  EXPECT_THAT(saidOfUnits("unit [lm_head, model.norm], model.norm").front(),
              "parameter 'model.norm.weight' is in two units");
  EXPECT_THAT(saidOfUnits("unit [lm_head, **.lm_head]"), IsEmpty()) << "twice in one unit";
  EXPECT_EQ(saidOfUnits("unit model, model").size(), 2u) << "one error for a path";
}

TEST(BindDataUnits, ModulesOfOnePathShareNoParameter) {
  EXPECT_THAT(saidOfUnits("unit model.layers.**").front(),
              HasSubstr("makes 'model.layers.0' and 'model.layers.0.self_attn' units"));
  EXPECT_THAT(saidOfUnits("unit **").front(), HasSubstr("makes '' and 'model' units")) << "the root is a module";
  EXPECT_THAT(saidOfUnits("unit {model.norm, lm_head}, model.layers.*.mlp, model.layers.*.self_attn"), IsEmpty());
  EXPECT_THAT(saidOfUnits("unit [model.**, lm_head]"), IsEmpty()) << "one unit of all";
}

TEST(BindDataUnits, ATiedParameterIsInOneUnit) {
  ModelOutline tied = llama(1, /*tied=*/true);
  EXPECT_THAT(saidOfUnits("unit {model.embed_tokens, lm_head}", tied).front(),
              HasSubstr("makes 'model.embed_tokens' and 'lm_head' units, and both contain parameter"));
  EXPECT_THAT(saidOfUnits("unit model.embed_tokens, lm_head", tied).front(), HasSubstr("is in two units"));
  EXPECT_THAT(saidOfUnits("unit [model.embed_tokens, lm_head], model.layers.*", tied), IsEmpty());
}

TEST(BindDataUnits, UnitsAndWhatIsKeptAreOfTheBlock) {
  std::string message = "'lm_head' names no parameter of this data block";
  EXPECT_EQ(faults("data dp on model { " + sharded + "unit lm_head }").front(), message);
  EXPECT_EQ(faults("data dp on lm_head { }\ndata dp { " + sharded + "keep lm_head }").front(), message);
  EXPECT_THAT(faults("data dp on model { " + sharded + "unit {model.norm, lm_head} }"), IsEmpty()) << "some are";
}

} // namespace
