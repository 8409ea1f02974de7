//===- path_matcher_test.cpp - the automaton against a naive matcher ------===//

#include "test/unit/frontend/patterns.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace meshplan;
using test::pattern;

namespace {

using Components = std::vector<std::string>;

/// A glob of letters and stars inside one component.
bool matchesName(llvm::StringRef glob, llvm::StringRef name) {
  if (glob.empty())
    return name.empty();
  if (glob.front() == '*')
    return matchesName(glob.drop_front(), name) || (!name.empty() && matchesName(glob, name.drop_front()));
  return !name.empty() && glob.front() == name.front() && matchesName(glob.drop_front(), name.drop_front());
}

bool matchesComponents(llvm::ArrayRef<std::string> pattern, llvm::ArrayRef<std::string> path) {
  if (pattern.empty())
    return path.empty();
  if (pattern.front() == "**")
    return matchesComponents(pattern.drop_front(), path) ||
           (!path.empty() && matchesComponents(pattern, path.drop_front()));
  return !path.empty() && matchesName(pattern.front(), path.front()) &&
         matchesComponents(pattern.drop_front(), path.drop_front());
}

/// The patterns without braces to which a pattern expands.
std::vector<std::string> expanded(const std::string &pattern) {
  size_t open = pattern.find('{');
  if (open == std::string::npos)
    return {pattern};
  size_t close = open, start = open + 1;
  std::vector<std::string> inside;
  for (int depth = 0;; ++close) {
    depth += pattern[close] == '{';
    depth -= pattern[close] == '}';
    if ((pattern[close] == ',' && depth == 1) || depth == 0) {
      inside.push_back(llvm::StringRef(pattern).slice(start, close).trim().str());
      start = close + 1;
    }
    if (depth == 0)
      break;
  }
  std::vector<std::string> all;
  for (const std::string &alternative : inside)
    for (const std::string &whole : expanded(pattern.substr(0, open) + alternative + pattern.substr(close + 1)))
      all.push_back(whole);
  return all;
}

Components componentsOf(llvm::StringRef path) {
  Components components;
  while (!path.empty()) {
    auto [name, rest] = path.split('.');
    components.push_back(name.str());
    path = rest;
  }
  return components;
}

bool matchesNaively(const std::string &pattern, const std::string &path) {
  return llvm::any_of(expanded(pattern), [&](const std::string &plain) {
    return matchesComponents(componentsOf(plain), componentsOf(path));
  });
}

/// All paths of at most three of these names, including the root.
std::vector<std::string> allPaths() {
  std::vector<std::string> paths = {""}, last = paths;
  for (int length = 1; length <= 3; ++length) {
    std::vector<std::string> next;
    for (const std::string &prefix : last)
      for (const char *name : {"a", "b", "ab", "aab"})
        next.push_back(prefix.empty() ? name : prefix + "." + name);
    paths.insert(paths.end(), next.begin(), next.end());
    last = next;
  }
  return paths;
}

TEST(PathMatcher, AgreesWithANaiveMatcherOnAllSmallPatterns) {
  const std::vector<std::string> pieces = {
      "a",        "b",       "*",         "**",           "a*",         "*b",           "a*b",     "{a, b}",
      "{a.b, b}", "{**, b}", "{a.**, b}", "{a, b{a, b}}", "{a, **.b}b", "{a, b}{a, b}", "*{a, b}", "{a., b}b"};
  std::vector<std::string> patterns;
  for (const std::string &first : pieces) {
    patterns.push_back(first);
    for (const std::string &second : pieces) {
      patterns.push_back(first + "." + second);
      for (const char *third : {"a", "**", "*b", "{a.b, b}"})
        patterns.push_back(first + "." + second + "." + third);
    }
  }
  // `**` inside a component is an error, which parsePattern reports.
  llvm::erase_if(patterns, [](const std::string &text) { return llvm::StringRef(text).contains("**.b}b"); });
  const std::vector<std::string> paths = allPaths();
  for (const std::string &text : patterns) {
    PathMatcher matcher(pattern({text}));
    for (const std::string &path : paths)
      ASSERT_EQ(matcher.matches(path), matchesNaively(text, path)) << text << " on '" << path << "'";
  }
}

TEST(PathMatcher, MayEndInsideAComponentWithDoubleStar) {
  // Text before a brace that contains dots is part of its first component.
  for (const char *text : {"a{b.**, b}", "{a, b}{.a, b.b}"})
    for (const std::string &path : allPaths())
      ASSERT_EQ(PathMatcher(pattern({text})).matches(path), matchesNaively(text, path))
          << text << " on '" << path << "'";
}

TEST(PathMatcher, TheEmptyPatternIsTheRoot) {
  PathMatcher matcher{PatternSequence()};
  EXPECT_TRUE(matcher.matches(""));
  EXPECT_FALSE(matcher.matches("a"));
  EXPECT_TRUE(matcher.accepts(matcher.start()));
}

TEST(PathMatcher, StatesGoComponentByComponent) {
  PathMatcher matcher(pattern({"a.*.b"}));
  PathMatcher::State state = matcher.start();
  EXPECT_FALSE(matcher.accepts(state));
  state = matcher.advance(state, "a");
  state = matcher.advance(state, "x");
  EXPECT_FALSE(matcher.accepts(state));
  EXPECT_EQ(matcher.advance(state, "c"), PathMatcher::dead);
  state = matcher.advance(state, "b");
  EXPECT_TRUE(matcher.accepts(state));
  EXPECT_EQ(matcher.advance(state, "b"), PathMatcher::dead) << "nothing lies below";
  EXPECT_EQ(matcher.advance(PathMatcher::dead, "a"), PathMatcher::dead);
}

TEST(PathMatcher, NamesMayHoldAnyByte) {
  std::string odd = "\xc3\xa9-7 \x01";
  EXPECT_TRUE(PathMatcher(pattern({"*"})).matches(odd));
  EXPECT_TRUE(PathMatcher(literalPattern(odd + ".*")).matches(odd + ".*"));
  EXPECT_FALSE(PathMatcher(literalPattern(odd + ".*")).matches(odd + ".a"));
}

} // namespace
