//===- scope_table_test.cpp - module stacks to scopes -----------*- C++ -*-===//

#include "compiler/archive/scope_table.h"

#include <gtest/gtest.h>

using namespace meshplan::archive;

namespace {

const std::string rootEntry = "L__self__,,pkg.Net";

TEST(ScopeTable, SplitsAStack) {
  std::string text = rootEntry + ";L__self__layers.0,layers.0,pkg.Block";
  auto entries = splitModuleStack(text);
  ASSERT_TRUE(entries.has_value());
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ((*entries)[0].path, "");
  EXPECT_EQ((*entries)[1].key, "L__self__layers.0");
  EXPECT_EQ((*entries)[1].path, "layers.0");
  EXPECT_EQ((*entries)[1].className, "pkg.Block");
}

TEST(ScopeTable, DelimitersInBracketsBelongToTheName) {
  auto entries = splitModuleStack("L['self'].f(a,b;c),f(a,b;c),pkg.Block[int, str]");
  ASSERT_TRUE(entries.has_value());
  ASSERT_EQ(entries->size(), 1u);
  EXPECT_EQ((*entries)[0].path, "f(a,b;c)");
  EXPECT_EQ((*entries)[0].className, "pkg.Block[int, str]");
}

TEST(ScopeTable, RefusesAnEntryWithoutThreeFields) {
  EXPECT_FALSE(splitModuleStack(rootEntry + ";L__self__x,x").has_value());
  EXPECT_FALSE(splitModuleStack("").has_value());
}

TEST(ScopeTable, SharesPrefixes) {
  std::vector<Scope> scopes;
  ScopeTable table(scopes);
  int32_t first = *table.find(rootEntry + ";L__self__a,a,A"), second = *table.find(rootEntry + ";L__self__b,b,B");
  EXPECT_EQ(table.find(rootEntry + ";L__self__a,a,A"), first);
  EXPECT_EQ(table.find(rootEntry), 0);
  ASSERT_EQ(scopes.size(), 3u);
  EXPECT_EQ(scopes[first].parent, 0);
  EXPECT_EQ(scopes[second].parent, 0);
  EXPECT_EQ(scopes[second].path, "b");
}

TEST(ScopeTable, TellsCallsOfOneModuleApart) {
  std::vector<Scope> scopes;
  ScopeTable table(scopes);
  int32_t first = *table.find(rootEntry + ";L__self__a,a,A"), second = *table.find(rootEntry + ";L__self__a@1,a@1,A");
  EXPECT_NE(first, second);
  EXPECT_EQ(scopes[first].call, 0);
  EXPECT_EQ(scopes[second].call, 1);
  EXPECT_EQ(scopes[second].path, "a");
}

TEST(ScopeTable, KnowsWhatTheExporterInserts) {
  std::vector<Scope> scopes;
  std::string none = "_empty_nn_module_stack_from_metadata_hook";
  EXPECT_EQ(ScopeTable(scopes).find(none + "," + none + "," + none), -1);
  EXPECT_TRUE(scopes.empty());
}

} // namespace
