//===- expectations_test.cpp - expected tokens in syntax errors -----------===//

#include "compiler/frontend/parse/expectations.h"
#include "compiler/frontend/parse/tokens.h"
#include "compiler/frontend/statement_forms.h"
#include "grammar/PlanParser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan;
using antlr4::Token;
using grammar::PlanParser;

namespace {

/// A valid plan, and the grammar rules that matched its text.
class Expectations : public testing::Test {
protected:
  void read(const std::string &text) {
    tokens = readTokens(sources.add("p.plan", text), diagnostics);
    ASSERT_TRUE(tokens) << diagnostics.text();
    parser = std::make_unique<PlanParser>(&tokens->stream());
    parser->removeErrorListeners();
    plan = parser->plan();
    EXPECT_EQ(parser->getNumberOfSyntaxErrors(), 0u) << text;
  }

  /// The first context of a rule, in the order of the text.
  const antlr4::RuleContext *first(size_t rule) { return firstBelow(plan, rule); }

  /// The tokens with these texts, spelled as in the grammar: `'over'`, or the names of classes: `NAME`.
  std::string expected(std::initializer_list<const char *> names) {
    if (!parser)
      read("plan p { }");
    const antlr4::dfa::Vocabulary &vocabulary = parser->getVocabulary();
    antlr4::misc::IntervalSet set;
    for (llvm::StringRef name : names) {
      ssize_t type = -1, end = static_cast<ssize_t>(vocabulary.getMaxTokenType()) + 1;
      while (type < end && vocabulary.getLiteralName(static_cast<size_t>(type)) != name &&
             vocabulary.getSymbolicName(static_cast<size_t>(type)) != name)
        ++type;
      EXPECT_LT(type, end) << name.str();
      set.add(type);
    }
    return describeExpected(set, vocabulary);
  }

  std::unique_ptr<PlanParser> parser;

private:
  static const antlr4::RuleContext *firstBelow(antlr4::tree::ParseTree *tree, size_t rule) {
    auto *context = dynamic_cast<antlr4::RuleContext *>(tree);
    if (context != nullptr && context->getRuleIndex() == rule)
      return context;
    for (antlr4::tree::ParseTree *child : tree->children)
      if (const antlr4::RuleContext *found = firstBelow(child, rule))
        return found;
    return nullptr;
  }

  Sources sources;
  Diagnostics diagnostics{sources};
  std::unique_ptr<PlanTokens> tokens;
  PlanParser::PlanContext *plan = nullptr;
};

/// One statement for each keyword that starts one.
const std::pair<const char *, const char *> examples[] = {
    {"model", "model \"m.pt2\""},
    {"mesh", "mesh dp = 2, tp = 3"},
    {"let", "let n = 4"},
    {"input", "input ids, labels: [batch over dp, seq, _]"},
    {"output", "output logits: [batch over dp, _]"},
    {"loss", "loss loss"},
    {"microbatches", "microbatches 4 mean"},
    {"override", "override m: colwise tp"},
    {"rest", "rest: replicate"},
    {"data", "data dp on m { bucket 64 MiB }"},
    {"precision", "precision { compute bf16 }"},
    {"recompute", "recompute m keep attention"},
    {"optimizer", "optimizer adamw { lr 0.1 }"},
    {"clip_grad_norm", "clip_grad_norm 1.0"},
    {"reserve", "reserve 1.25 on a"},
    {"capacity", "capacity 2"},
    {"balance", "balance bias 0.001 on a, b"},
    {"nonfinite", "nonfinite gradients stop"},
    {"freeze", "freeze m"},
    {"train", "train only m"},
    {"unused", "unused m"},
    {"pipeline", "pipeline pp { cut before m }"},
    {"context", "context cp { exchange ring }"},
    {"fold", "fold (dp, tp) as (edp = 4, ep = 2)"},
    {"overlap", "overlap { require hidden >= 90% }"},
    {"init", "init { m ones }"},
    {"weight_names", "weight_names { m.w: n.w }"},
    {"offload", "offload optimizer"},
    {"tie", "tie a.b, c.d"},
    {"shapes", "shapes { batch 16 }"},
};

TEST_F(Expectations, ATokenIsItsTextOrAnEnd) {
  Sources sources;
  Diagnostics diagnostics(sources);
  std::unique_ptr<PlanTokens> tokens = readTokens(sources.add("p.plan", "m {\na.* 64MiB \"s\" }"), diagnostics);
  std::vector<std::string> described;
  for (const Token *token : tokens->stream().getTokens())
    described.push_back(describeToken(*token));
  // The end of a statement before a closing brace is not in the text: the brace is shown instead.
  EXPECT_THAT(described, testing::ElementsAre("'m'", "'{'", "end of line", "'a.*'", "'64MiB'", "'\"s\"'", "'}'", "'}'",
                                              "end of file"));
}

TEST_F(Expectations, TokensAreTheClassesThatAUserThinksOf) {
  EXPECT_EQ(expected({}), "");
  EXPECT_EQ(expected({"EQUAL"}), "'='");
  EXPECT_EQ(expected({"NEWLINE", "SEMICOLON"}), "end of line");
  EXPECT_EQ(expected({"NUMBER", "QUANTITY"}), "a number");
  EXPECT_EQ(expected({"STRING"}), "a string");
  EXPECT_EQ(expected({"NAME"}), "a name");
  EXPECT_EQ(expected({"PATH"}), "a path");
  EXPECT_EQ(expected({"NAME", "PATH"}), "a path") << "a name is a path";
  EXPECT_EQ(expected({"EOF"}), "end of file");
}

TEST_F(Expectations, SeveralAreAListOfAtMostFive) {
  EXPECT_EQ(expected({"RIGHT_BRACKET", "COMMA"}), "']' or ','");
  EXPECT_EQ(expected({"LEFT_PAREN", "NAME", "NUMBER"}), "'(', a name or a number");
  EXPECT_EQ(expected({"LEFT_BRACE", "LEFT_PAREN", "COMMA", "COLON", "EQUAL"}), "'{', '(', ',', ':' or '='");
  EXPECT_EQ(expected({"LEFT_BRACE", "LEFT_PAREN", "COMMA", "COLON", "EQUAL", "SLASH"}), "");
}

TEST_F(Expectations, WhatGoesWithoutSayingIsLeftOut) {
  EXPECT_EQ(expected({"NAME", "UNIT", "'mesh'", "'model'"}), "a name") << "a keyword may be a name";
  EXPECT_EQ(expected({"'mesh'", "'model'"}), "'model' or 'mesh'");
  EXPECT_EQ(expected({"NAME", "'over'"}), "'over' or a name") << "over ends a name";
  EXPECT_EQ(expected({"NAME", "'over'", "'split'"}), "a name") << "where split is a name, over is one";
  EXPECT_EQ(expected({"PATH", "STAR", "STRING"}), "a path");
  EXPECT_EQ(expected({"STAR", "STRING"}), "'*' or a string");
  EXPECT_EQ(expected({"MINUS", "NUMBER"}), "a number");
  EXPECT_EQ(expected({"MINUS"}), "'-'");
  // Between plans, empty lines may occur anywhere.
  EXPECT_EQ(expected({"EOF", "NEWLINE", "SEMICOLON"}), "end of file");
  EXPECT_EQ(expected({"'plan'", "NEWLINE", "SEMICOLON"}), "'plan'");
}

TEST_F(Expectations, EveryStatementHasAFormThatBeginsWithItsWord) {
  for (auto [keyword, text] : examples) {
    read(std::string("plan p {\n") + text + "\n}\n");
    std::string form = keywordForm(keyword);
    EXPECT_EQ(form.rfind("the form is '" + std::string(keyword), 0), 0u) << form;
    // An entry has one form, with and without override.
    bool isEntry = first(PlanParser::RuleEntry) != nullptr;
    EXPECT_EQ(statementForm(first(isEntry ? PlanParser::RuleEntry : PlanParser::RuleStatement)),
              isEntry ? entryForm() : form);
  }
  EXPECT_EQ(keywordForm("colwise"), "");
  EXPECT_EQ(keywordForm(""), "");
}

TEST_F(Expectations, NoWordOfTheGrammarIsForgotten) {
  read("plan p { }");
  std::vector<std::string> begin = statementKeywords(), known;
  for (auto [keyword, text] : examples)
    known.push_back(keyword);
  EXPECT_THAT(begin, testing::UnorderedElementsAreArray(known));
  const std::string others[] = {"plan", "over",  "on",        "as",    "keep", "mean",
                                "only", "split", "parameter", "parts", "dim",  "per"};
  for (size_t type = 1; type <= parser->getVocabulary().getMaxTokenType(); ++type) {
    std::string literal(parser->getVocabulary().getLiteralName(type));
    if (literal.size() <= 2 || !llvm::isAlpha(literal[1]))
      continue;
    std::string word = literal.substr(1, literal.size() - 2);
    EXPECT_NE(llvm::is_contained(begin, word), llvm::is_contained(others, word)) << word;
  }
}

TEST_F(Expectations, APlaceHasTheFormOfTheStatementAroundIt) {
  read("plan p {\nmesh dp = 2\nm { a: colwise tp parts 2 }\ndata dp { bucket 1 }\n}\n");
  EXPECT_EQ(statementForm(first(PlanParser::RuleAxisDefinition)), keywordForm("mesh"));
  EXPECT_EQ(statementForm(first(PlanParser::RuleStyleOption)), entryForm());
  EXPECT_EQ(statementForm(first(PlanParser::RuleDataStatement)), keywordForm("data"));
}

TEST_F(Expectations, ABlockIsNoStatementWithAForm) {
  read("plan p {\nm { a: colwise tp }\ndata dp { bucket 1 }\n}\n");
  for (size_t rule : {PlanParser::RulePlan, PlanParser::RuleBlock, PlanParser::RuleOptionBlock, PlanParser::RuleOption})
    EXPECT_EQ(statementForm(first(rule)), "") << rule;
  EXPECT_EQ(statementForm(nullptr), "");
}

} // namespace
