//===- path_tree_test.cpp - the paths of a model --------------------------===//

#include "compiler/frontend/path_tree.h"
#include "test/unit/frontend/patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

using namespace meshplan;
using test::pattern;

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PathTree, MatchesInOrder) {
  PathTree tree({"", "b", "b.x", "a", "a.x", "a.y"});
  EXPECT_THAT(tree.match(pattern({"*.x"})), ElementsAre(2, 4));
  EXPECT_THAT(tree.match(pattern({"**"})), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(tree.match(subtreePattern(pattern({"a"}))), ElementsAre(3, 4, 5));
  EXPECT_THAT(tree.match(subtreePattern({})), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(tree.namesBelow(pattern({"*"})), ElementsAre("x", "y"));
  EXPECT_THAT(tree.namesBelow({}), ElementsAre("b", "a"));
}

TEST(PathTree, FindsWhatEachPathAloneWould) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::string> paths;
    for (int count = random() % 20; count > 0; --count) {
      std::string path;
      for (int length = random() % 4; length > 0; --length)
        path += (path.empty() ? "" : ".") + std::string(1, "abc"[random() % 3]);
      paths.push_back(path);
    }
    PathTree tree(paths);
    for (const char *text : {"**", "*", "a.**", "**.a", "*.{a, b}", "{a.b, c}.*", "a.**.c"}) {
      PatternSequence sequence = pattern({text});
      std::vector<size_t> expected;
      for (size_t index = 0; index < paths.size(); ++index)
        if (PathMatcher(sequence).matches(paths[index]))
          expected.push_back(index);
      EXPECT_EQ(tree.match(sequence), expected) << text;
    }
  }
}

TEST(PathTree, KeepsPathsThatStandTwice) {
  PathTree tree({"a", "b", "a"});
  EXPECT_THAT(tree.match(pattern({"a"})), ElementsAre(0, 2));
}

TEST(PathTree, InnerNodesAreNoPathsButHaveNames) {
  PathTree tree({"model.layers.0", "model.layers.1"});
  EXPECT_THAT(tree.match(pattern({"model.layers"})), IsEmpty());
  EXPECT_THAT(tree.match(pattern({"*"})), IsEmpty());
  EXPECT_THAT(tree.namesBelow({}), ElementsAre("model"));
  EXPECT_THAT(tree.namesBelow(pattern({"model.layers"})), ElementsAre("0", "1"));
  EXPECT_THAT(tree.namesBelow(pattern({"model.layers.0"})), IsEmpty());
  EXPECT_THAT(tree.namesBelow(pattern({"other"})), IsEmpty());
}

TEST(PathTree, AnEmptyTreeHasNothing) {
  PathTree tree({});
  EXPECT_THAT(tree.match(pattern({"**"})), IsEmpty());
  EXPECT_THAT(tree.namesBelow({}), IsEmpty());
}

/// 100 patterns over 10,000 modules must stay far from quadratic: the whole test takes a fraction of a second.
TEST(PathTree, ManyModules) {
  std::vector<std::string> paths;
  for (int layer = 0; layer < 1000; ++layer)
    for (int part = 0; part < 10; ++part)
      paths.push_back("model.layers." + std::to_string(layer) + ".part" + std::to_string(part));
  PathTree tree(paths);
  size_t count = 0;
  for (int i = 0; i < 100; ++i)
    count += tree.match(pattern({"model.layers.*", "{part" + std::to_string(i % 10) + ", other}"})).size();
  EXPECT_EQ(count, 100'000u);
}

} // namespace
