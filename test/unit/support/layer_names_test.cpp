//===- layer_names_test.cpp - one name for equal layers -------------------===//

#include "compiler/support/layer_names.h"
#include "gtest/gtest.h"

using meshplan::withoutIndices;

TEST(WithoutIndices, ReplacesComponentsThatAreNumbers) {
  EXPECT_EQ(withoutIndices("model.layers.12.experts.0.w1.weight"), "model.layers.*.experts.*.w1.weight");
  EXPECT_EQ(withoutIndices("0"), "*");
}

TEST(WithoutIndices, KeepsNumbersInNames) {
  EXPECT_EQ(withoutIndices("conv1.block2a.w0"), "conv1.block2a.w0");
  EXPECT_EQ(withoutIndices(""), "");
}

TEST(ModuleText, TheRootHasNoPath) {
  EXPECT_EQ(meshplan::moduleText("model.norm"), "'model.norm'");
  EXPECT_EQ(meshplan::moduleText(""), "the root module");
}

TEST(IsInside, NoModuleIsInsideOfItself) {
  EXPECT_TRUE(meshplan::isInside("a.out_proj", "a"));
  EXPECT_TRUE(meshplan::isInside("a.b.c", "a"));
  EXPECT_TRUE(meshplan::isInside("a", ""));
  EXPECT_FALSE(meshplan::isInside("a", "a"));
  EXPECT_FALSE(meshplan::isInside("ab", "a"));
  EXPECT_FALSE(meshplan::isInside("a", "a.b"));
  EXPECT_FALSE(meshplan::isInside("", ""));
}
