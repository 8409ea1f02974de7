//===- path_stars_test.cpp - stars against the automaton of a pattern ------===//

#include "compiler/frontend/path_stars.h"
#include "test/unit/frontend/patterns.h"

#include "llvm/ADT/STLExtras.h"

#include <gmock/gmock.h>

using namespace meshplan;
using test::pattern;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

namespace {

std::vector<std::string> matched(const std::string &text, const std::string &path) {
  return starMatches(pattern({text}), path).value_or(std::vector<std::string>{"nothing"});
}

/// All paths of one to four of these names.
std::vector<std::string> smallPaths() {
  std::vector<std::string> paths, last = {""};
  for (int length = 1; length <= 4; ++length) {
    std::vector<std::string> next;
    for (const std::string &prefix : last)
      for (const char *name : {"a", "b", "aab"})
        next.push_back(prefix.empty() ? name : prefix + "." + name);
    llvm::append_range(paths, next);
    last = next;
  }
  return paths;
}

TEST(PathStars, AgreeWithTheAutomatonAndGiveThePathBack) {
  const std::vector<std::string> pieces = {"a", "*", "**", "a*", "*b", "*a*", "a*b*"};
  const std::vector<std::string> paths = smallPaths();
  for (const std::string &first : pieces)
    for (const std::string &second : pieces)
      for (const std::string &third : pieces) {
        PatternSequence stars = pattern({first, second, third});
        PathMatcher automaton(stars);
        for (const std::string &path : paths) {
          std::optional<std::vector<std::string>> found = starMatches(stars, path);
          ASSERT_EQ(found.has_value(), automaton.matches(path)) << patternText(stars) << " on " << path;
          if (found)
            ASSERT_THAT(replaceStars(stars, *found), Pair(path, "")) << patternText(stars);
        }
      }
}

TEST(PathStars, MatchAsLittleAsPossibleFromTheLeft) {
  EXPECT_THAT(matched("l.*.w", "l.7.w"), ElementsAre("7"));
  EXPECT_THAT(matched("*a*", "banana"), ElementsAre("b", "nana"));
  EXPECT_THAT(matched("**.x.**", "a.x.b.x.c"), ElementsAre("a", "b.x.c"));
  EXPECT_THAT(matched("**.x*.y", "x1.x2.x3.y"), ElementsAre("x1.x2", "3"));
  EXPECT_THAT(matched("a.**", "a"), ElementsAre(""));
  EXPECT_THAT(matched("a", "a"), IsEmpty());
  EXPECT_THAT(matched("a.*", "a.b.c"), ElementsAre("nothing"));
}

TEST(PathStars, AStarWithoutATextDividesThePath) {
  EXPECT_THAT(replaceStars(pattern({"l.*.e.*.w"}), {"7"}), Pair("l.7.e.", ".w"));
  EXPECT_THAT(replaceStars(pattern({"scale*"}), {}), Pair("scale", ""));
  EXPECT_THAT(replaceStars(pattern({"**.out.**"}), {"", "a.b"}), Pair("out.a.b", ""));
  EXPECT_THAT(replaceStars(pattern({"out.*"}), {""}), Pair("out", "")) << "no component is empty";
}

TEST(PathStars, ChoicesAreOrdered) {
  auto texts = [](const std::string &text, size_t most) {
    std::vector<std::string> all;
    for (const PatternSequence &choice : choicesOf(pattern({text}), most))
      all.push_back(patternText(choice));
    return all;
  };
  EXPECT_THAT(texts("{a, b}.{c, d.{e, f}}", 6), ElementsAre("a.c", "a.d.e", "a.d.f", "b.c", "b.d.e", "b.d.f"));
  EXPECT_THAT(texts("{a, b}.{c, d.{e, f}}", 5), IsEmpty());
  EXPECT_THAT(texts("a.*", 1), ElementsAre("a.*"));
}

TEST(PathStars, AreFoundInsideAndOutsideOfBraces) {
  EXPECT_THAT(starsOf(pattern({"**.a*.{b*, c}"})), ElementsAre("**", "*"));
  EXPECT_TRUE(hasStarInBraces(pattern({"a.{b, {c, d*}}"})));
  EXPECT_FALSE(hasStarInBraces(pattern({"*.{b, {c, d}}.**"})));
}

} // namespace
