//===- output_names_test.cpp - names of the leaves of an out-spec ---------===//

#include "compiler/archive/output_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan::archive;
using ::testing::ElementsAre;

namespace {

Json container(const char *type, const char *context, const Json &children) {
  return {{"type", type}, {"context", context}, {"children_spec", children}};
}

std::vector<std::string> namesOf(const Json &tree) {
  std::vector<Diagnostic> errors;
  JsonDocument document("out_spec", Json::array({1, tree}).dump(), errors);
  std::vector<std::string> names = treeLeafNames(document);
  EXPECT_TRUE(errors.empty());
  return names;
}

TEST(OutputNames, UsesKeysAndFields) {
  EXPECT_THAT(namesOf(container("builtins.dict", R"(["loss", "logits"])", {leaf(), leaf()})),
              ElementsAre("loss", "logits"));
  EXPECT_THAT(
      namesOf(container("transformers.modeling_outputs.CausalLMOutput", R"(["logits"])", Json::array({leaf()}))),
      ElementsAre("logits"));
}

TEST(OutputNames, CountsInTuples) {
  EXPECT_THAT(namesOf(container("builtins.tuple", "null", {leaf(), leaf()})), ElementsAre("0", "1"));
  EXPECT_THAT(namesOf(leaf()), ElementsAre("0"));
}

TEST(OutputNames, JoinsNestedNames) {
  Json states = container("builtins.tuple", "null", {leaf(), leaf()});
  EXPECT_THAT(namesOf(container("builtins.dict", R"(["loss", "hidden_states"])", {leaf(), states})),
              ElementsAre("loss", "hidden_states.0", "hidden_states.1"));
}

TEST(OutputNames, CountsWhenTheContextSaysSomethingElse) {
  EXPECT_THAT(namesOf(container("pkg.Output", R"({"a": 1})", {leaf(), leaf()})), ElementsAre("0", "1"));
  EXPECT_THAT(namesOf(container("pkg.Output", R"(["only"])", {leaf(), leaf()})), ElementsAre("0", "1"));
  EXPECT_THAT(namesOf(container("builtins.dict", "[3, 5]", {leaf(), leaf()})), ElementsAre("3", "5"));
}

TEST(OutputNames, CountsWhereAKeyIsNoName) {
  std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THAT(namesOf(container("builtins.dict", "[[1], \"b\"]", {leaf(), leaf()})), ElementsAre("0", "b"));
  EXPECT_THAT(namesOf(container("builtins.dict", deep.c_str(), Json::array({leaf()}))), ElementsAre("0"));
}

TEST(OutputNames, RefusesAnotherTree) {
  std::vector<Diagnostic> errors;
  JsonDocument document("out_spec", "[1]", errors);
  EXPECT_TRUE(treeLeafNames(document).empty());
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].message, "'out_spec': expected a version and a tree");
}

} // namespace
