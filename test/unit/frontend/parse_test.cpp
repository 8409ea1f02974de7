//===- parse_test.cpp - the syntax of a plan ------------------------------===//

#include "test/unit/frontend/models.h"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan;
using namespace meshplan::test;

namespace {

Syntax parsed(const std::string &body) {
  Outcome outcome = parse("plan p {\n" + body + "\n}\n");
  EXPECT_EQ(outcome.text, "");
  return outcome.syntax.value_or(Syntax());
}

std::vector<std::string> pathsOf(const Syntax &syntax) {
  std::vector<std::string> result;
  for (const EntryStatement &entry : syntax.entries) {
    std::string path;
    for (const PathPattern &block : entry.blocks)
      path += block.text + " ";
    result.push_back(path + (entry.path ? entry.path->text : "rest"));
  }
  return result;
}

std::vector<std::string> textsOf(const std::vector<Word> &words) {
  std::vector<std::string> result;
  for (const Word &word : words)
    result.push_back(word.text);
  return result;
}

using testing::ElementsAre;

TEST(Parse, HeaderStatements) {
  Syntax syntax = parsed("model \"a b.pt2\"\nmesh dp = world / tp, tp = 3\nlet n = 2\nloss loss\nmicrobatches n mean");
  EXPECT_EQ(syntax.name.text, "p");
  EXPECT_EQ(syntax.models.at(0).file, "a b.pt2");
  ASSERT_EQ(syntax.meshes.at(0).axes.size(), 2u);
  EXPECT_EQ(syntax.meshes[0].axes[0].size.text, "world / tp");
  EXPECT_EQ(syntax.meshes[0].axes[1].size.integer, 3);
  EXPECT_EQ(syntax.lets.at(0).name.text, "n");
  EXPECT_EQ(syntax.losses.at(0).output.text, "loss");
  EXPECT_TRUE(syntax.microbatches.at(0).mean);
}

TEST(Parse, RangesPointAtTheirText) {
  Syntax syntax = parsed("  mesh dp = 2 * (1 + 1), tp = 3");
  EXPECT_EQ(syntax.meshes.at(0).range, (SourceRange{0, 2, 3, 32}));
  EXPECT_EQ(syntax.meshes[0].axes.at(0).name.range, (SourceRange{0, 2, 8, 10}));
  EXPECT_EQ(syntax.meshes[0].axes[0].size.range, (SourceRange{0, 2, 13, 24}));
}

TEST(Parse, SemicolonAndNewlineEndStatements) {
  EXPECT_EQ(parsed("let a = 1; let b = 2;; let c = 3\n\n;let d = 4").lets.size(), 4u);
  EXPECT_TRUE(parse("plan p{}").syntax);
  EXPECT_EQ(parse("plan p { let a = 1 }").syntax->lets.size(), 1u);
  EXPECT_EQ(parse("plan p { let a = 1\r\nlet b = 2\r\n }\r\n").syntax->lets.size(), 2u);
}

TEST(Parse, CommaAndOpenBracketContinue) {
  Syntax syntax = parsed("mesh dp = 2, // outer\n\n  tp = (1 +\n 2)\ninput a,\n b: [batch,\n seq\n ]");
  EXPECT_EQ(syntax.meshes.at(0).axes.size(), 2u);
  EXPECT_EQ(syntax.meshes[0].axes[1].size.text, "1 + 2");
  EXPECT_EQ(syntax.values.at(0).names.size(), 2u);
  EXPECT_EQ(syntax.values[0].dims.size(), 2u);
}

TEST(Parse, CommentsAreNoText) {
  Syntax syntax = parsed("// one\nlet a = /* two */ 1 // three\n/* four\n five */ let b = 2 /**/");
  EXPECT_EQ(syntax.lets.size(), 2u);
}

TEST(Parse, PathsAreOneToken) {
  Syntax syntax = parsed("model.layers.*.self_attn.{q, k,v}_proj: replicate\n**.*norm: replicate\n*: replicate\n"
                         "h.{0..2}.x: replicate\nh.{7..119  by 8}: replicate\n0.conv: replicate\n0: replicate\n"
                         "0.1: replicate\n{a, b.{c,d}}.e: replicate\n\"a-b.{c}\": replicate");
  EXPECT_THAT(pathsOf(syntax), ElementsAre("model.layers.*.self_attn.{q, k, v}_proj", "**.*norm", "*", "h.{0..2}.x",
                                           "h.{7..119 by 8}", "0.conv", "0", "0.1", "{a, b.{c, d}}.e", "a-b.{c}"));
  EXPECT_TRUE(syntax.entries.back().path->literal);
}

TEST(Parse, KeywordsMayBePaths) {
  Syntax syntax =
      parsed("model: replicate\nmesh.let.over: replicate\noutput: replicate\ninput: replicate\n"
             "override: replicate\noverride override: replicate\ndata { parts: replicate }\ndim: replicate");
  EXPECT_THAT(pathsOf(syntax),
              ElementsAre("model", "mesh.let.over", "output", "input", "override", "override", "data parts", "dim"));
  EXPECT_FALSE(syntax.entries[4].isOverride);
  EXPECT_TRUE(syntax.entries[5].isOverride);
}

TEST(Parse, KeywordsMayBeAxes) {
  Syntax syntax = parsed("mesh data = 2, model = 2, context = 2\nx: colwise model\ny: rowwise (data, context)");
  EXPECT_THAT(textsOf(std::get<StyleClause>(syntax.entries.at(1).clauses.at(0)).axes), ElementsAre("data", "context"));
}

TEST(Parse, BlocksNestAndMayBeBraces) {
  Syntax syntax =
      parsed("{a, b} { c { d: replicate }\n rest: replicate }\ne{ f: replicate\n}\ng.{h, i}{ j: replicate }");
  EXPECT_THAT(pathsOf(syntax), ElementsAre("{a, b} c d", "{a, b} rest", "e f", "g.{h, i} j"));
  EXPECT_EQ(syntax.blocks.size(), 4u);
}

TEST(Parse, ProductsNeedNoSpaces) {
  Syntax syntax = parsed("mesh dp = 2*3, tp = n*2/k\nmicrobatches 2*k\nx: colwise dp parts 3");
  EXPECT_EQ(syntax.meshes.at(0).axes[0].size.text, "2 * 3");
  EXPECT_EQ(syntax.meshes[0].axes[1].size.text, "n * 2 / k");
  EXPECT_EQ(syntax.meshes[0].axes[1].size.kind, Expression::Kind::Divide);
  EXPECT_EQ(syntax.microbatches.at(0).count.text, "2 * k");
}

TEST(Parse, StyleOptions) {
  Syntax syntax = parsed("w: colwise tp parts (heads 64, kv 8, 3), output replicate, input 1 split 0 over (a, b)");
  const auto &style = std::get<StyleClause>(syntax.entries.at(0).clauses.at(0));
  EXPECT_EQ(style.text, "colwise tp parts (heads 64, kv 8, 3)");
  ASSERT_EQ(style.options.at(0).list.size(), 3u);
  EXPECT_EQ(style.options[0].list[1].name, "kv");
  EXPECT_EQ(style.options[0].list[2].name, "");
  const auto &output = std::get<BorderClause>(syntax.entries[0].clauses.at(1));
  EXPECT_FALSE(output.isInput);
  EXPECT_EQ(std::get<Word>(output.layout.layout).text, "replicate");
  const auto &input = std::get<BorderClause>(syntax.entries[0].clauses.at(2));
  EXPECT_TRUE(input.isInput);
  EXPECT_EQ(input.index->text, "1");
  EXPECT_THAT(textsOf(std::get<LayoutSyntax::Split>(input.layout.layout).axes), ElementsAre("a", "b"));
}

TEST(Parse, ParameterClause) {
  Syntax syntax = parsed("w: parameter {\n weight: split 0 over tp; bias: replicate\n}, output [batch over dp, _, _]");
  const auto &clause = std::get<ParameterClause>(syntax.entries.at(0).clauses.at(0));
  ASSERT_EQ(clause.placements.size(), 2u);
  EXPECT_EQ(clause.placements[0].text, "weight: split 0 over tp");
  const auto &border = std::get<BorderClause>(syntax.entries[0].clauses.at(1));
  EXPECT_EQ(std::get<std::vector<DimSyntax>>(border.layout.layout).size(), 3u);
}

TEST(Parse, DataBlock) {
  Syntax syntax = parsed("data dp, cp on model.layers.**, lm_head {\n shard parameters, gradients over dp\n"
                         " unit model.layers.*, [model.norm, lm_head]; bucket 64MiB\n overlap none }");
  const DataStatement &data = syntax.data.at(0);
  EXPECT_THAT(textsOf(data.axes), ElementsAre("dp", "cp"));
  EXPECT_EQ(data.paths.size(), 2u);
  ASSERT_EQ(data.options.size(), 4u);
  EXPECT_EQ(data.options[0].text, "shard parameters, gradients over dp");
  EXPECT_EQ(data.options[1].operands.at(1).at(0).kind, Operand::Kind::List);
  EXPECT_EQ(data.options[2].operands.at(0).at(0).number.integer, 64);
  EXPECT_EQ(data.options[2].operands[0][0].number.unit, "MiB");
}

TEST(Parse, TrainingStatements) {
  Syntax syntax = parsed("precision { master f32; reduce f32 }\nrecompute model.layers.* keep attention\n"
                         "optimizer adamw { lr 3e-4; eps - 1e-8; group **.*norm { weight_decay 0 } }\noptimizer sgd\n"
                         "clip_grad_norm 1.0\nnonfinite gradients stop\nfreeze a.b, c\ntrain only d\nunused e");
  EXPECT_EQ(syntax.precisions.at(0).options.size(), 2u);
  EXPECT_EQ(syntax.recomputes.at(0).keep.at(0).text, "attention");
  const std::vector<Option> &options = syntax.optimizers.at(0).options;
  EXPECT_DOUBLE_EQ(options.at(0).operands.at(0).at(0).number.value, 3e-4);
  EXPECT_DOUBLE_EQ(options.at(1).operands.at(0).at(0).number.value, -1e-8);
  EXPECT_EQ(options.at(2).block.at(0).name.text, "weight_decay");
  EXPECT_DOUBLE_EQ(syntax.clips.at(0).norm.value, 1.0);
  EXPECT_EQ(syntax.nonfinites.at(0).action.text, "stop");
  EXPECT_EQ(syntax.trainable.at(0).paths.size(), 2u);
  EXPECT_EQ(syntax.trainable.at(1).kind, TrainableStatement::Kind::TrainOnly);
}

TEST(Parse, ReservedStatements) {
  Syntax syntax = parsed("pipeline pp { schedule zb; cut before model.layers.4, model.layers.8 }\n"
                         "context cp { exchange ring; balance headtail }\n"
                         "offload optimizer\ntie a.b, c.d\n"
                         "shapes { batch 16 }\nshapes small");
  std::vector<std::string> keywords;
  for (const ReservedStatement &statement : syntax.reserved)
    keywords.push_back(statement.keyword.text);
  EXPECT_THAT(keywords, ElementsAre("pipeline", "context", "offload", "tie", "shapes", "shapes"));
}

TEST(Parse, Contracts) {
  Syntax syntax = parsed("overlap { require gradients hidden>=90%\n forbid exposed > 5 ms }");
  const std::vector<Option> &clauses = syntax.overlaps.at(0).clauses;
  ASSERT_EQ(clauses.size(), 2u);
  EXPECT_EQ(clauses[0].text, "require gradients hidden >= 90 %");
  EXPECT_EQ(clauses[0].operands.at(0).at(2).text, ">=");
  EXPECT_EQ(clauses[0].operands.at(0).at(3).number.unit, "%");
  EXPECT_EQ(clauses[1].operands.at(0).at(2).number.unit, "ms");
}

TEST(Parse, InitialValues) {
  Syntax syntax = parsed("init { **.*norm.weight ones; override \"a.b-c\" normal 0.02 mean 1; rest normal 0.02 }");
  const std::vector<InitEntry> &entries = syntax.inits.at(0).entries;
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].path->text, "**.*norm.weight");
  EXPECT_FALSE(entries[0].path->literal);
  EXPECT_EQ(entries[0].distribution.at(0).text, "ones");
  EXPECT_EQ(entries[1].path->text, "a.b-c");
  EXPECT_TRUE(entries[1].path->literal);
  EXPECT_TRUE(entries[1].isOverride);
  EXPECT_EQ(entries[1].distribution.size(), 4u);
  EXPECT_FALSE(entries[2].path);
  EXPECT_DOUBLE_EQ(entries[2].distribution.at(1).number.value, 0.02);
}

TEST(Parse, AnyTextIsAnsweredWithoutACrash) {
  const std::string plan = "plan p { mesh dp = (2 * 3), tp = 3; a.{b, c} { d: colwise (dp, tp) parts (x 1) } \"s\" }";
  for (size_t cut = 0; cut <= plan.size(); ++cut) {
    parse(plan.substr(0, cut));
    parse(plan.substr(cut));
    for (char c : std::string("{}[]():;,\"*\n\\\0\xff", 15)) {
      std::string changed = plan;
      changed.insert(cut, 1, c);
      parse(changed);
    }
  }
}

TEST(Parse, DeepNestingIsAnError) {
  EXPECT_EQ(parse("plan p {\nlet a = " + std::string(100000, '(')).text,
            "p.plan:2:1: error: brackets are nested more than 200 deep\n  let a = " + std::string(152, '(') +
                "...\n  ^\n")
      << "160 characters of the line";
  EXPECT_FALSE(parse("plan p { a: " + std::string(100000, '{')).syntax);
  std::string sum = "1";
  for (int i = 0; i < 100000; ++i)
    sum += "+1";
  EXPECT_FALSE(parse("plan p { let a = " + sum + " }").syntax);
  // Closing brackets in comments or strings, and unmatched ones, do not compensate for others.
  for (std::string before : {"// " + std::string(100000, ')') + "\n", "/*" + std::string(100000, ')') + "*/",
                             "model \"" + std::string(100000, ')') + "\"\n", std::string(100000, ')')})
    EXPECT_THAT(parse("plan p {\n" + before + "let a = " + std::string(100000, '(')).text,
                testing::HasSubstr("error: brackets are nested more than 200 deep"));
  EXPECT_TRUE(parse("plan p { model \"" + std::string(1000, '(') + "\"\n// " + std::string(1000, '(') + "\n }").syntax);
}

TEST(Parse, ManySignsAreAnError) {
  EXPECT_TRUE(parse("plan p { let a = " + std::string(200, '-') + "1 }").syntax);
  EXPECT_THAT(parse("plan p { let a = " + std::string(100000, '-') + "1 }").text,
              testing::HasSubstr("p.plan:1:218: error: more than 200 minus signs in a row"));
}

/// The lexer must not try several alternatives at each brace.
TEST(Parse, UnclosedBracesAreReadAtOnce) {
  auto start = std::chrono::steady_clock::now();
  for (std::string piece : {"{", "{a,", "{ a, ", "{0..2,", "{ 0..2 , ", "{a.{0..2 by 2}, ", "{a}{"}) {
    std::string line;
    for (size_t depth = 0; depth < 190; ++depth)
      line += piece;
    EXPECT_FALSE(parse("plan p {\n" + line + "\n}").syntax);
    // If closed, each opening brace is one of ten nested ones.
    std::string closed;
    for (size_t group = 0; group < 200; ++group)
      closed += "m.{a,{b,{c,{d,{e,{f,{g,{h,{i,{j,k}}}}}}}}}}: replicate\n";
    EXPECT_TRUE(parse("plan p {\n" + closed + "}").syntax);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

/// One alternative with spaces around it opens a block, a range does not.
TEST(Parse, BracesOfPathsAndBlocks) {
  Syntax syntax = parsed("a.{ 0..2 }: replicate\na.{0..2 }: replicate\na.{ 0..2, b }: replicate\na.{b , 0..4 by 2}: "
                         "replicate\na { {b}: replicate }\n{a}{b}: replicate");
  EXPECT_THAT(pathsOf(syntax),
              ElementsAre("a.{0..2}", "a.{0..2}", "a.{0..2, b}", "a.{b, 0..4 by 2}", "a {b}", "{a}{b}"));
}

TEST(Parse, TextMustBeUtf8) {
  EXPECT_EQ(parse("plan p {\n \xff\xfe\n}").text,
            "p.plan: error: line 2 is not UTF-8 text\nhelp: a plan is a text file\n");
}

TEST(Parse, APlanThatEndsTooSoon) {
  EXPECT_EQ(parse("plan p { loss 0").text, R"(p.plan:1:16: error: expected '}', found end of file
  plan p { loss 0
                 ^
p.plan:1:8: note: this block is not closed
  plan p { loss 0
         ^
help: close it with '}'
)");
  EXPECT_EQ(parse("").text, R"(p.plan:1:1: error: expected 'plan', found end of file
help: the form of a plan is 'plan NAME { STATEMENTS }'
)");
}

} // namespace
