//===- tokens_test.cpp - ends of statements, and invalid tokens -----------===//

#include "compiler/frontend/parse/tokens.h"

#include <gtest/gtest.h>

using namespace meshplan;
using grammar::PlanLexer;

namespace {

/// The tokens that the parser sees, with `;` for the end of a statement (`;}` if a brace implies it) and a space
/// between others; or the error.
std::string readAll(const std::string &text) {
  Sources sources;
  Diagnostics diagnostics(sources);
  std::unique_ptr<PlanTokens> tokens = readTokens(sources.add("p.plan", text), diagnostics);
  if (!tokens)
    return diagnostics.text();
  std::string result;
  for (antlr4::Token *token : tokens->stream().getTokens()) {
    if (token->getChannel() != antlr4::Token::DEFAULT_CHANNEL || token->getType() == antlr4::Token::EOF)
      continue;
    bool ends = token->getType() == PlanLexer::NEWLINE;
    std::string shown = isImpliedEnd(*token) ? ";}" : ends ? ";" : token->getText();
    result += (result.empty() ? "" : " ") + shown;
  }
  return result;
}

TEST(Tokens, ANewlineEndsAStatement) {
  EXPECT_EQ(readAll("a: b\nc: d\n"), "a : b ; c : d ;");
  EXPECT_EQ(readAll("a\r\nb"), "a ; b");
  EXPECT_EQ(readAll(""), "");
}

TEST(Tokens, ACommaContinuesAStatement) {
  EXPECT_EQ(readAll("mesh dp = 2,\n  tp = 3\nb"), "mesh dp = 2 , tp = 3 ; b");
  EXPECT_EQ(readAll("a,\n\n\nb"), "a , b");
  EXPECT_EQ(readAll("a, // why\nb"), "a , b") << "a comment between them changes nothing";
}

TEST(Tokens, AnOpenBracketContinuesAStatement) {
  EXPECT_EQ(readAll("input x: [batch\n over dp\n]\nb"), "input x : [ batch over dp ] ; b");
  EXPECT_EQ(readAll("let n = (2\n+ (3\n))\nb"), "let n = ( 2 + ( 3 ) ) ; b");
}

TEST(Tokens, ABracketThatIsNotClosedHidesNoEnds) {
  EXPECT_EQ(readAll("a: (b\nc: d\n}"), "a : ( b ; c : d ; }");
  EXPECT_EQ(readAll("a: [b; c\n"), "a : [ b ; c ;");
  EXPECT_EQ(readAll("a: b)\nc\n"), "a : b ) ; c ;");
}

TEST(Tokens, AClosingBraceEndsTheStatementBeforeIt) {
  EXPECT_EQ(readAll("m { a: b }"), "m { a : b ;} }");
  EXPECT_EQ(readAll("m { a: b; }"), "m { a : b ; }");
  EXPECT_EQ(readAll("m { a: b\n}"), "m { a : b ; }");
  EXPECT_EQ(readAll("m { }"), "m { }");
  EXPECT_EQ(readAll("m { n { a } }"), "m { n { a ;} } ;} }");
}

TEST(Tokens, BehindAnEqualsSignStarsMultiply) {
  EXPECT_EQ(readAll("let n = 2*tp*k"), "let n = 2 * tp * k");
  EXPECT_EQ(readAll("mesh dp = world/tp, tp = 2*3"), "mesh dp = world / tp , tp = 2 * 3");
  EXPECT_EQ(readAll("microbatches 2*n"), "microbatches 2 * n");
}

TEST(Tokens, SpacesAroundStarsChangeNoToken) {
  auto typesOf = [](const std::string &text) {
    Sources sources;
    Diagnostics diagnostics(sources);
    std::unique_ptr<PlanTokens> tokens = readTokens(sources.add("p.plan", text), diagnostics);
    std::vector<size_t> types;
    for (antlr4::Token *token : tokens->stream().getTokens())
      if (token->getChannel() == antlr4::Token::DEFAULT_CHANNEL)
        types.push_back(token->getType());
    return types;
  };
  for (const char *piece : {"2", "tp", "5init", "init", "over", "world", "2e3", "4KB", "s", "_"})
    EXPECT_EQ(typesOf("let n = " + std::string(piece) + "*dp"), typesOf("let n = " + std::string(piece) + " * dp"))
        << piece;
}

TEST(Tokens, AMinusWithoutSpacesBelongsToAName) {
  EXPECT_EQ(readAll("user-id: a"), "user-id : a");
  EXPECT_EQ(readAll("net.user-id.b-2-c.*-d: a"), "net.user-id.b-2-c.*-d : a");
  EXPECT_EQ(readAll("freeze a-b, {c-d, e}-f"), "freeze a-b , {c-d, e}-f");
  EXPECT_EQ(readAll("{c-d}.e: a"), "{c-d}.e : a");
  EXPECT_EQ(readAll("a: parameter { b-c: split 0 over tp }"), "a : parameter { b-c : split 0 over tp ;} }");
  EXPECT_EQ(readAll("init { a-b zeros; 1-2 ones }"), "init { a-b zeros ; 1-2 ones ;} }");
  EXPECT_EQ(readAll("input a-b: [n over dp]"), "input a-b : [ n over dp ]");
  EXPECT_EQ(readAll("over-model: a"), "over-model : a") << "keywords too";
}

TEST(Tokens, AMinusOfAnExpressionSubtracts) {
  EXPECT_EQ(readAll("mesh dp = world-1, tp = 2-n"), "mesh dp = world - 1 , tp = 2 - n");
  EXPECT_EQ(readAll("microbatches n-1"), "microbatches n - 1");
  EXPECT_EQ(readAll("a: colwise tp parts n-1, output split n-1 over tp"),
            "a : colwise tp parts n - 1 , output split n - 1 over tp");
  EXPECT_EQ(readAll("a: parameter { b: split n-1 over tp }, output split n-1 over tp"),
            "a : parameter { b : split n - 1 over tp ;} } , output split n - 1 over tp");
  EXPECT_EQ(readAll("input x: [n = b-1, c-d]"), "input x : [ n = b - 1 , c - d ]");
}

TEST(Tokens, AMinusBesideASpaceIsASign) {
  EXPECT_EQ(readAll("init { a normal 1 mean -1 }"), "init { a normal 1 mean - 1 ;} }");
  EXPECT_EQ(readAll("a -b: c"), "a - b : c");
  EXPECT_EQ(readAll("a- b: c"), "a - b : c");
}

TEST(Tokens, ElsewhereStarsArePatterns) {
  EXPECT_EQ(readAll("*_norm: a"), "*_norm : a");
  EXPECT_EQ(readAll("let n = 2\n*_norm: a"), "let n = 2 ; *_norm : a") << "the value ends with its line";
  EXPECT_EQ(readAll("a = 2, b*: c"), "a = 2 , b* : c");
  EXPECT_EQ(readAll("let n = a.*"), "let n = a.*") << "with a dot it is a path";
  EXPECT_EQ(readAll("x microbatches*2"), "x microbatches*2");
}

TEST(Tokens, APieceOfAProductKnowsItsPlace) {
  Sources sources;
  Diagnostics diagnostics(sources);
  std::unique_ptr<PlanTokens> tokens = readTokens(sources.add("p.plan", "\nlet n = 12*tp"), diagnostics);
  ASSERT_TRUE(tokens);
  std::vector<SourceRange> ranges;
  std::vector<size_t> types;
  for (antlr4::Token *token : tokens->stream().getTokens())
    if (token->getLine() == 2 && token->getType() != antlr4::Token::EOF) {
      ranges.push_back(rangeOf(*token, 0));
      types.push_back(token->getType());
    }
  ASSERT_EQ(types.size(), 6u);
  EXPECT_EQ(types[3], PlanLexer::NUMBER);
  EXPECT_EQ(types[4], PlanLexer::STAR);
  EXPECT_EQ(types[5], PlanLexer::NAME);
  EXPECT_EQ(ranges[3], (SourceRange{0, 2, 9, 11}));
  EXPECT_EQ(ranges[4], (SourceRange{0, 2, 11, 12}));
  EXPECT_EQ(ranges[5], (SourceRange{0, 2, 12, 14}));
}

TEST(Tokens, CommentsAreHidden) {
  EXPECT_EQ(readAll("a // b\nc /* d\ne */ f"), "a ; c f");
  EXPECT_EQ(readAll("/**/ a /* * */"), "a");
}

TEST(Tokens, WhatIsNoTextOrNoToken) {
  EXPECT_EQ(readAll("a\nb\xff"), "p.plan: error: line 2 is not UTF-8 text\nhelp: a plan is a text file\n");
  EXPECT_EQ(readAll("PK\x03\x04\xff"),
            "p.plan: error: this is an archive, not a plan\n"
            "help: a plan names its model: 'model \"FILE.pt2\"'; 'meshplan init' drafts one\n");
  EXPECT_EQ(readAll("a\n  /* b\nc"),
            "p.plan:2:3: error: this comment has no end\n    /* b\n    ^\nhelp: close it with */\n");
  EXPECT_EQ(
      readAll("model \"a\nb"),
      "p.plan:1:7: error: this string has no end\n  model \"a\n        ^~\nhelp: close it with \" on the same line\n");
  EXPECT_EQ(readAll("a ? b"), "p.plan:1:3: error: unexpected character '?'\n  a ? b\n    ^\n");
}

TEST(Tokens, NestingIsLimited) {
  EXPECT_EQ(readAll("a\n" + std::string(200, '(') + std::string(200, ')')).substr(0, 3), "a ;");
  std::string message = readAll("a\n" + std::string(201, '(') + std::string(201, ')'));
  EXPECT_EQ(message.substr(0, message.find('\n')), "p.plan:2:1: error: brackets are nested more than 200 deep");
}

} // namespace
