//===- path_rules_test.cpp - module paths of other frameworks -------------===//

#include "compiler/adopt/path_rules.h"
#include "test/unit/adopt/adopt_test.h"

using namespace meshplan;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(PathRules, AStarIsTheNumberOfALayer) {
  ModelOutline model = test::mixture();
  PathRules rules(model);
  EXPECT_THAT(rules.match("model", "layers.*.self_attn.q_proj").modules, SizeIs(2));
  EXPECT_THAT(rules.match("model", "layers.1.self_attn.q_proj").modules, SizeIs(1));
  EXPECT_TRUE(rules.match("model", "layers.*.*.q_proj").empty()) << "'self_attn' is not a number";
  EXPECT_TRUE(rules.match("", "layers.*.self_attn.q_proj").empty());
}

TEST(PathRules, ParametersHaveNamesToo) {
  ModelOutline model = test::mixture();
  RuleMatch found = PathRules(model).match("model", "layers.*.mlp.experts.down_proj");
  EXPECT_THAT(found.modules, IsEmpty());
  ASSERT_THAT(found.parameters, SizeIs(2));
  EXPECT_EQ(model.modules[found.parameters[0].module].path, "model.layers.0.mlp.experts");
}

TEST(PathRules, NamesStartWhereMostOfThemAreThere) {
  ModelOutline model = test::mixture();
  PathRules rules(model);
  EXPECT_THAT(rules.startsOf({"layers.*.self_attn.q_proj", "layers.*.mlp.gate_proj"}), ElementsAre("model"));
  EXPECT_THAT(rules.startsOf({"model.layers.*.self_attn.q_proj", "lm_head"}), ElementsAre(""));
  EXPECT_THAT(rules.startsOf({"q_proj"}), ElementsAre("model.layers.0.self_attn", "model.layers.1.self_attn"));
  EXPECT_THAT(rules.startsOf({"nowhere"}), IsEmpty());
  EXPECT_THAT(rules.names(), Contains("model.layers.*.mlp.experts.down_proj"));
}
