//===- spacing_test.cpp - the canonical text of tokens --------------------===//

#include "compiler/frontend/parse/spacing.h"
#include "grammar/PlanLexer.h"

#include <gtest/gtest.h>

using namespace meshplan;

namespace {

/// A text as tokens of the plan language.
class TokensOf {
public:
  explicit TokensOf(const std::string &text) : input(text), lexer(&input), stream(&lexer) { stream.fill(); }

  /// All tokens except for the end of the file.
  std::vector<antlr4::Token *> all() {
    std::vector<antlr4::Token *> result = stream.getTokens();
    result.pop_back();
    return result;
  }

private:
  antlr4::ANTLRInputStream input;
  grammar::PlanLexer lexer;
  antlr4::CommonTokenStream stream;
};

std::string joined(const std::string &text) { return joinTokens(TokensOf(text).all()); }

std::string canonical(const std::string &text) {
  TokensOf tokens(text);
  EXPECT_EQ(tokens.all().size(), 1u) << text;
  return canonicalText(*tokens.all().front());
}

struct Case {
  const char *text, *expected;
};

TEST(Spacing, CanonicalTextOfOneToken) {
  const Case cases[] = {
      {"word", "word"},
      {"1e-4", "1e-4"},
      {"\"a  ,b\"", "\"a  ,b\""}, // a string is unchanged
      {"64MiB", "64 MiB"},
      {"1.5s", "1.5 s"},
      {"250us", "250 us"},
      {"{q,k}_proj", "{q, k}_proj"},
      {"{q ,  k}_proj", "{q, k}_proj"},
      {"a.{ b,c }.d", "a.{b, c}.d"},
      {"h.{0..2}", "h.{0..2}"},
      {"h.{ 0..2 }", "h.{0..2}"},
      {"h.{7..119   by\t8}", "h.{7..119 by 8}"},
      {"h.{a,7..119  by  8 , b}", "h.{a, 7..119 by 8, b}"},
      {"{a,{b ,c}}", "{a, {b, c}}"},
      {"**.*norm", "**.*norm"},
  };
  for (auto [text, expected] : cases) {
    EXPECT_EQ(canonical(text), expected) << text;
    EXPECT_EQ(joined(expected), expected) << "it is its own canonical form";
  }
}

TEST(Spacing, SpacesOfStatements) {
  const Case cases[] = {
      {"", ""},
      {"a", "a"},
      {"input a,b:[ c,d over( dp,tp ) ]", "input a, b: [c, d over (dp, tp)]"},
      {"m :replicate ,output  replicate ;", "m: replicate, output replicate;"},
      {"mesh dp=world/tp,tp=2 * 3", "mesh dp = world / tp, tp = 2 * 3"},
      {"a   {   b   }", "a { b }"},
      {"overlap{require x>=90%}", "overlap { require x >= 90 % }"},
      {"parts(a 1 , (2)+3)", "parts (a 1, (2) + 3)"},
  };
  for (auto [text, expected] : cases) {
    EXPECT_EQ(joined(text), expected) << text;
    EXPECT_EQ(joined(expected), expected) << "it is its own canonical form";
  }
}

TEST(Spacing, AMinusBeforeANumberIsASignOrNot) {
  const Case cases[] = {
      {"a-b", "a - b"}, // no space at all: it subtracts
      {"a - b", "a - b"},
      {"a- b", "a - b"},
      {"a -b", "a -b"}, // after a space and before a number: its sign, as in `eps -1e-8`
      {"eps -1e-8", "eps -1e-8"},
      {"eps - 1e-8", "eps - 1e-8"},
      {"-1", "-1"},
      {"- 1", "- 1"},
      {"(-1)", "(-1)"},
      {"( - 1)", "(- 1)"},
      {"[-1,-2]", "[-1, -2]"},
      {"a=-1", "a = -1"},
      {"a *-1", "a * -1"},
      {"a/-1", "a / -1"},
      {"a+-1", "a + -1"},
      {"a--1", "a - -1"},
      {"a---1", "a - --1"},
      {"(a)-1", "(a) - 1"},
      {"2-1", "2 - 1"},
      {"a-(b)", "a - (b)"},
  };
  for (auto [text, expected] : cases)
    EXPECT_EQ(joined(text), expected) << text;
}

TEST(Spacing, CommentsAndLineEndsAreNoText) {
  EXPECT_EQ(joined("let a = // one\n  1 /* two */ + 2\n"), "let a = 1 + 2");
  EXPECT_EQ(joined("\n\n// only\n"), "");
}

} // namespace
