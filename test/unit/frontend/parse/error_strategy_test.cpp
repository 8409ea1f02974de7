//===- error_strategy_test.cpp - recovery after a syntax error ------------===//

#include "compiler/frontend/parse/error_strategy.h"
#include "compiler/frontend/parse/tokens.h"
#include "grammar/PlanParser.h"
#include "llvm/ADT/STLExtras.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan;
using grammar::PlanParser;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

class ErrorStrategy : public testing::Test {
protected:
  /// The errors in a plan, each as `line:column message`. Its lines count from 1: `plan p {` is line 0.
  std::vector<std::string> errors(const std::string &body, const std::string &end = "\n}\n") {
    Sources sources;
    Diagnostics diagnostics(sources);
    std::unique_ptr<PlanTokens> tokens = readTokens(sources.add("p.plan", "plan p {\n" + body + end), diagnostics);
    EXPECT_TRUE(tokens) << diagnostics.text();
    PlanParser parser(&tokens->stream());
    parser.removeErrorListeners();
    parser.setErrorHandler(std::make_shared<PlanErrorStrategy>(0, diagnostics));
    PlanParser::PlanContext *plan = parser.plan();
    entries.clear();
    collect(plan);
    std::vector<std::string> result;
    for (const Diagnostic &diagnostic : diagnostics.all())
      result.push_back(std::to_string(diagnostic.range.line - 1) + ":" + std::to_string(diagnostic.range.column) + " " +
                       diagnostic.message);
    notes.clear();
    for (const Diagnostic &diagnostic : diagnostics.all())
      for (const Note &note : diagnostic.notes)
        notes.push_back(std::to_string(note.range.line - 1) + ":" + std::to_string(note.range.column) + " " +
                        note.message);
    return result;
  }

  std::vector<std::string> notes;
  std::vector<std::string> entries; ///< those that the last plan says, without spaces

private:
  static bool isWhole(antlr4::tree::ParseTree *tree) {
    auto *context = dynamic_cast<antlr4::ParserRuleContext *>(tree);
    return (context == nullptr || !context->exception) && llvm::all_of(tree->children, isWhole);
  }

  void collect(antlr4::tree::ParseTree *tree) {
    if (dynamic_cast<PlanParser::EntryContext *>(tree) != nullptr && isWhole(tree))
      entries.push_back(tree->getText());
    for (antlr4::tree::ParseTree *child : tree->children)
      collect(child);
  }
};

TEST_F(ErrorStrategy, ARightPlanHasNoErrors) {
  EXPECT_THAT(errors("a: colwise tp\nm { b: replicate; }\ndata dp { bucket 1 }"), IsEmpty());
  EXPECT_THAT(entries, ElementsAre("a:colwisetp", "b:replicate"));
}

TEST_F(ErrorStrategy, EveryWrongStatementIsReportedOnce) {
  EXPECT_THAT(errors("mesh dp 3 4 = ) tp\na: colwise tp\nlet = 1 = 2\nb: replicate\nloss 0 loss 1\nc: replicate"),
              ElementsAre("1:9 expected '=', found '3'", "3:5 unexpected '=' after 'let'",
                          "5:8 expected end of line, found 'loss'"));
  EXPECT_THAT(entries, ElementsAre("a:colwisetp", "b:replicate", "c:replicate"));
}

TEST_F(ErrorStrategy, ASemicolonEndsAWrongStatement) {
  EXPECT_THAT(errors("mesh dp 3; a: replicate; let = 2; b: replicate"),
              ElementsAre("1:9 expected '=', found '3'", "1:30 unexpected '=' after 'let'"));
  EXPECT_THAT(entries, ElementsAre("a:replicate", "b:replicate"));
}

TEST_F(ErrorStrategy, ABlockBehindAWrongStatementIsSkippedAsAWhole) {
  EXPECT_THAT(errors("data = {\nx y z = ;\nn { = }\n}\na: replicate"), ElementsAre("1:6 unexpected '=' after 'data'"));
  EXPECT_THAT(entries, ElementsAre("a:replicate"));
}

TEST_F(ErrorStrategy, AWrongStatementInABlockDoesNotLeaveIt) {
  EXPECT_THAT(errors("m {\na: colwise tp\nb colwise tp\nc: replicate\n}\nlet = 1\nd: replicate"),
              ElementsAre("3:3 expected ':' or '{' after 'b', found 'colwise'", "6:5 unexpected '=' after 'let'"));
  EXPECT_THAT(entries, ElementsAre("a:colwisetp", "c:replicate", "d:replicate"));
}

TEST_F(ErrorStrategy, BlocksInsideOfBlocks) {
  EXPECT_THAT(errors("m {\nn {\na: =\nb: replicate\n}\nc: =\nd: replicate }\ne: =\nf: replicate"),
              ElementsAre("3:4 expected a name, found '='", "6:4 expected a name, found '='",
                          "8:4 expected a name, found '='"));
  EXPECT_THAT(entries, ElementsAre("b:replicate", "d:replicate", "f:replicate"));
}

TEST_F(ErrorStrategy, AWrongOptionDoesNotLeaveItsBlock) {
  EXPECT_THAT(errors("data dp { bucket 1; = 3; overlap none; ] }\na: replicate"),
              ElementsAre("1:21 expected '}', end of line or a path, found '='",
                          "1:40 expected '}', end of line or a path, found ']'"));
  EXPECT_THAT(entries, ElementsAre("a:replicate"));
}

TEST_F(ErrorStrategy, AWrongPlacementDoesNotLeaveItsClause) {
  EXPECT_EQ(errors("a: parameter { weight: split 0; bias: replicate }\nb: replicate"),
            std::vector<std::string>{"1:31 expected 'over', found ';'"});
  EXPECT_THAT(entries, testing::Contains("b:replicate"));
}

TEST_F(ErrorStrategy, AWordThatIsAlmostAStatementIsNamed) {
  EXPECT_THAT(errors("msh dp = 2\nfreze m\ncolumnar tp\n*.a b"),
              ElementsAre("1:1 unknown statement 'msh'", "2:1 unknown statement 'freze'",
                          "3:10 expected ':' or '{' after 'columnar', found 'tp'",
                          "4:5 expected ':' or '{' after '*.a', found 'b'"));
}

TEST_F(ErrorStrategy, ABlockWithoutAnEndIsReportedOnce) {
  for (const char *end : {"", "\n", " // why\n\n"}) { // at any end of the file
    EXPECT_THAT(errors("m {\na: replicate", end), ElementsAre(testing::EndsWith("expected '}', found end of file")));
    EXPECT_EQ(notes, (std::vector<std::string>{"1:3 this block is not closed"}));
    EXPECT_THAT(errors("m {\na: replicate\n}\ndata dp { bucket 1", end),
                ElementsAre(testing::EndsWith("expected '}', found end of file")));
    EXPECT_EQ(notes, (std::vector<std::string>{"4:9 this block is not closed"}));
    EXPECT_THAT(errors("a: parameter { w: replicate", end),
                ElementsAre(testing::EndsWith("expected '}', found end of file")));
    EXPECT_EQ(notes, (std::vector<std::string>{"1:14 this block is not closed"}));
  }
}

TEST_F(ErrorStrategy, AStatementWithoutAnEndIsNotABlockWithoutOne) {
  EXPECT_THAT(errors("mesh dp", ""), ElementsAre("1:8 expected '=', found end of file"));
  EXPECT_THAT(errors("m { a:", ""), ElementsAre("1:7 expected a name, found end of file"));
  EXPECT_THAT(notes, IsEmpty());
}

TEST_F(ErrorStrategy, WhatStandsBehindThePlanIsOneError) {
  EXPECT_THAT(errors("a: replicate\n}\nb: replicate\nc { d: replicate }\n= }; e: replicate"),
              ElementsAre("3:1 expected end of file, found 'b'"));
  EXPECT_THAT(entries, ElementsAre("a:replicate"));
  EXPECT_THAT(errors("a: replicate", "\n}\n;\n\n"), IsEmpty()) << "empty lines are nothing";
}

} // namespace
