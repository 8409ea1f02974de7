//===- target_test.cpp - the forms of a target ----------------------------===//

#include "compiler/report/explain/target.h"
#include "gtest/gtest.h"

using namespace meshplan;
using Border = ExplainTarget::Border;

static void expectTarget(const char *text, const char *path, Border border, int64_t index) {
  std::optional<ExplainTarget> target = parseTarget(text);
  ASSERT_TRUE(target) << text;
  EXPECT_EQ(target->path, path);
  EXPECT_EQ(target->border, border);
  EXPECT_EQ(target->index, index);
}

TEST(ParseTarget, ReadsPathsAndBorders) {
  expectTarget("model.layers.0.mlp", "model.layers.0.mlp", Border::none, 0);
  expectTarget("model.norm:input[0]", "model.norm", Border::input, 0);
  expectTarget("h:output[12]", "h", Border::output, 12);
  expectTarget(":input[0]", "", Border::input, 0); // the root module
  expectTarget("\"\":input[0]", "", Border::input, 0);
  expectTarget("\"\"", "", Border::none, 0);
  expectTarget("", "", Border::none, 0);
}

TEST(ParseTarget, RefusesOtherForms) {
  for (const char *text : {"h:", "h:input", "h:input[]", "h:input[-1]", "h:input[x]", "h:input[0]x", "h:in[0]",
                           "h:input[0]:output[0]", "h:output[99999999999999999999]"})
    EXPECT_FALSE(parseTarget(text)) << text;
}
