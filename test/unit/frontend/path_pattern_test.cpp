//===- path_pattern_test.cpp - matching of patterns -----------------------===//

#include "test/unit/frontend/patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan;
using test::pattern;

namespace {

bool matches(const std::string &text, const std::string &path) { return PathMatcher(pattern({text})).matches(path); }

std::string problem(const std::string &text) {
  Sources sources;
  Diagnostics diagnostics(sources);
  EXPECT_FALSE(parsePattern(PathPattern{text, false, {}}, diagnostics));
  return diagnostics.text();
}

using testing::ElementsAre;

TEST(PathPattern, Literal) {
  EXPECT_TRUE(matches("a.b", "a.b"));
  EXPECT_FALSE(matches("a.b", "a"));
  EXPECT_FALSE(matches("a.b", "a.b.c"));
  EXPECT_FALSE(matches("a.b", "a.bc"));
  EXPECT_FALSE(matches("a.b", "axb"));
  EXPECT_FALSE(matches("a", ""));
}

TEST(PathPattern, StarStaysInsideAComponent) {
  EXPECT_TRUE(matches("*", "a"));
  EXPECT_FALSE(matches("*", "a.b"));
  EXPECT_FALSE(matches("*", ""));
  EXPECT_TRUE(matches("*_norm", "a_norm"));
  EXPECT_TRUE(matches("*_norm", "_norm"));
  EXPECT_TRUE(matches("a*c*e", "abcde"));
  EXPECT_FALSE(matches("a*c", "a.c"));
  EXPECT_TRUE(matches("a.*.c", "a.b.c"));
  EXPECT_FALSE(matches("a.*.c", "a.c"));
}

TEST(PathPattern, DoubleStarIsAnyNumberOfComponents) {
  EXPECT_TRUE(matches("**", ""));
  EXPECT_TRUE(matches("**", "a.b.c"));
  EXPECT_TRUE(matches("**.c", "c"));
  EXPECT_TRUE(matches("**.c", "a.b.c"));
  EXPECT_FALSE(matches("**.c", "a.bc"));
  EXPECT_TRUE(matches("a.**", "a"));
  EXPECT_TRUE(matches("a.**", "a.b.c"));
  EXPECT_FALSE(matches("a.**", "ab"));
  EXPECT_TRUE(matches("a.**.d", "a.d"));
  EXPECT_TRUE(matches("a.**.d", "a.b.c.d"));
  EXPECT_TRUE(matches("a.**.**.d", "a.d"));
  EXPECT_TRUE(matches("{**, x}.d", "a.b.d"));
  EXPECT_TRUE(matches("a.{b.**, c}", "a.b.x"));
}

TEST(PathPattern, Alternatives) {
  EXPECT_TRUE(matches("{q, k, v}_proj", "k_proj"));
  EXPECT_FALSE(matches("{q, k, v}_proj", "o_proj"));
  EXPECT_TRUE(matches("{a.b, c}.d", "a.b.d"));
  EXPECT_TRUE(matches("{a.b, c}.d", "c.d"));
  EXPECT_TRUE(matches("{a, b{c, d}}", "bd"));
  EXPECT_TRUE(matches("x{a*, b}", "xaz"));
  EXPECT_TRUE(matches("a{.b, c}", "a.b"));
  EXPECT_TRUE(matches("a{b.}c", "ab.c"));
  EXPECT_TRUE(matches("a.{b.}c", "a.b.c"));
  EXPECT_TRUE(matches("a{b., d}c", "ab.c"));
  EXPECT_TRUE(matches("a{b., d}c", "adc"));
  EXPECT_FALSE(matches("a{b., d}c", "ad.c"));
  EXPECT_TRUE(matches("a{b., d.}**", "ad.e.f"));
}

TEST(PathPattern, Ranges) {
  EXPECT_TRUE(matches("h.{0..2}", "h.2"));
  EXPECT_FALSE(matches("h.{0..2}", "h.3"));
  EXPECT_TRUE(matches("h.{7..119 by 8}", "h.15"));
  EXPECT_FALSE(matches("h.{7..119 by 8}", "h.16"));
  EXPECT_TRUE(matches("h.{7..119 by 8}", "h.119"));
  EXPECT_TRUE(matches("h.{0..2, 9}", "h.9"));
  EXPECT_FALSE(matches("h.{1..12}", "h.01"));
  EXPECT_TRUE(matches("h{3..3}", "h3"));
}

TEST(PathPattern, NestedBlocksAndQuotes) {
  EXPECT_TRUE(PathMatcher(pattern({"{a, b}", "c.*", "d"})).matches("b.c.x.d"));
  EXPECT_TRUE(PathMatcher(pattern({"**", "d"})).matches("d"));
  EXPECT_TRUE(PathMatcher(pattern({"a-b.*"}, true)).matches("a-b.*"));
  EXPECT_FALSE(PathMatcher(pattern({"a-b.*"}, true)).matches("a-b.c"));
}

TEST(PathPattern, QuotesAroundComponents) {
  EXPECT_TRUE(matches(R"(h."a/b")", "h.a/b"));
  EXPECT_TRUE(matches(R"("a/b".*)", "a/b.c"));
  EXPECT_FALSE(matches(R"("a/b".*)", "a/b"));
  EXPECT_TRUE(matches(R"("*"."a.b".c)", "*.a.b.c"));
  EXPECT_FALSE(matches(R"("*"."a.b".c)", "d.a.b.c"));
  EXPECT_TRUE(matches(R"({"a, }b", c}.d)", "a, }b.d"));
  EXPECT_TRUE(matches(R"({"a, }b", c}.d)", "c.d"));
  EXPECT_TRUE(matches(R"(h."a\"b\\")", R"(h.a"b\)"));
  EXPECT_EQ(problem(R"(h."a"b)"), "error: in the path 'h.\"a\"b': quotes must enclose whole components\n");
  EXPECT_EQ(problem(R"({"a", b}c)"), "error: in the path '{\"a\", b}c': quotes must enclose whole components\n");
  EXPECT_EQ(problem(R"({a"b"})"), "error: in the path '{a\"b\"}': quotes must enclose whole components\n");
  EXPECT_EQ(problem(R"("a"{b})"), "error: in the path '\"a\"{b}': quotes must enclose whole components\n");
}

TEST(PathPattern, WithoutQuotes) {
  EXPECT_EQ(withoutQuotes(R"("a\"b")"), "a\"b");
  EXPECT_EQ(withoutQuotes(R"(a."b\\".c)"), "a.b\\.c");
  EXPECT_TRUE(isQuoted(R"("a\"b")"));
  EXPECT_TRUE(isQuoted(R"("")"));
  for (const char *text : {"", "a", R"("a".b)", R"(a."b")", R"("a"."b")"})
    EXPECT_FALSE(isQuoted(text)) << text;
}

TEST(PathPattern, Problems) {
  EXPECT_EQ(problem("a..b"), "error: in the path 'a..b': a component is empty\n");
  EXPECT_EQ(problem(".a"), "error: in the path '.a': a component is empty\n");
  EXPECT_EQ(problem("a."), "error: in the path 'a.': a component is empty\n");
  EXPECT_EQ(problem("a***"), "error: in the path 'a***': '**' matches whole components; use '*' inside one\n");
  EXPECT_EQ(problem("{**, a}b"), "error: in the path '{**, a}b': '**' matches whole components; use '*' inside one\n");
  EXPECT_EQ(problem("a{b, }c"), "error: in the path 'a{b, }c': an alternative is empty\n");
  // Before and after a brace, what one of its alternatives forbids is forbidden.
  EXPECT_EQ(problem("a{b., d}"), "error: in the path 'a{b., d}': a component is empty\n");
  EXPECT_EQ(problem("a{b., d}.c"), "error: in the path 'a{b., d}.c': a component is empty\n");
  EXPECT_EQ(problem("a.{b., d}{.c, e}"), "error: in the path 'a.{b., d}{.c, e}': a component is empty\n");
  EXPECT_EQ(problem("a.{b., d}**"),
            "error: in the path 'a.{b., d}**': '**' matches whole components; use '*' inside one\n");
  EXPECT_EQ(problem("a.{b., 0..3}**"),
            "error: in the path 'a.{b., 0..3}**': '**' matches whole components; use '*' inside one\n");
  EXPECT_EQ(problem(R"(a.{b., d}"c")"), "error: in the path 'a.{b., d}\"c\"': quotes must enclose whole components\n");
  EXPECT_EQ(problem("{0..x}"), "error: in the path '{0..x}': '0..x' is not a range of indices\n");
  EXPECT_EQ(problem("{0..9 by 0}"), "error: in the path '{0..9 by 0}': '0..9 by 0' is not a range of indices\n");
  EXPECT_EQ(problem("{5..2}"), "error: in the path '{5..2}': the range 5..2 is empty\n");
}

TEST(PathPattern, RangesAreOfIndicesThatExist) {
  // After the last index there is no further number.
  EXPECT_TRUE(matches("{9223372036854775806..9223372036854775807}", "9223372036854775807"));
  EXPECT_FALSE(matches("{9223372036854775806..9223372036854775807}", "0"));
  EXPECT_TRUE(matches("{3..9223372036854775807 by 9223372036854775800}", "9223372036854775803"));
  EXPECT_TRUE(matches("{0..9999}.a", "9999.a"));
}

TEST(PathPattern, BracesThatWouldTakeAllMemory) {
  EXPECT_EQ(problem("{0..9999}.{0..9999}"),
            "error: in the path '{0..9999}.{0..9999}': its ranges have more than 10000 indices together\n");
  EXPECT_EQ(problem("{0..4999}.{0..4999}"), "error: in the path '{0..4999}.{0..4999}': its braces, with those of the "
                                            "blocks around it, have too many alternatives\n"
                                            "help: write '*' for some of them, or several entries\n");
  // Nested braces count once per combination.
  for (const char *nested : {"{x.{0..2999}, b}.{y.{0..2999}, d}", "{x.{0..1999}.{0..1999}, y}"})
    EXPECT_THAT(problem(nested), testing::HasSubstr("have too many alternatives")) << nested;
  EXPECT_TRUE(matches("{x.{0..999}, b}.{y.{0..99}, d}", "b.y.7"));
  EXPECT_TRUE(matches("{0..200}.mlp.{experts.{0..600}, shared}.{up, down}", "7.mlp.experts.512.up"));
  std::string pairs = "{a, b}";
  for (int i = 0; i < 2000; ++i)
    pairs += ".{a, b}";
  EXPECT_NE(problem(pairs), "");
}

TEST(PathPattern, SingleAlternatives) {
  std::vector<std::string> texts;
  for (const PatternSequence &single : singleAlternatives(pattern({"{a, b}.{0..1}.c"})))
    texts.push_back(patternText(single));
  EXPECT_THAT(texts, ElementsAre("a.{0..1}.c", "b.{0..1}.c", "{a, b}.0.c", "{a, b}.1.c"));
  EXPECT_EQ(singleAlternatives(pattern({"a.*"})).size(), 1u);
}

TEST(PathPattern, StrictSubset) {
  EXPECT_TRUE(isStrictSubset({1, 3}, {1, 2, 3}));
  EXPECT_FALSE(isStrictSubset({1, 2, 3}, {1, 2, 3}));
  EXPECT_FALSE(isStrictSubset({1, 4}, {1, 2, 3}));
}

} // namespace
