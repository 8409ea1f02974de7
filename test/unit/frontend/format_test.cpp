//===- format_test.cpp - the canonical form -------------------------------===//

#include "compiler/frontend/format.h"
#include "test/unit/frontend/models.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace meshplan;

namespace {

std::string format(const std::string &text) {
  Sources sources;
  Diagnostics diagnostics(sources);
  std::optional<std::string> result = formatPlan(sources.add("p.plan", text), diagnostics);
  EXPECT_EQ(result.has_value(), !diagnostics.hasErrors());
  return result.value_or(diagnostics.text());
}

/// The content of a plan, independent of its layout: entries, options and values in canonical spelling.
std::string meaning(const Syntax &syntax) {
  std::string result = syntax.name.text;
  for (const EntryStatement &entry : syntax.entries) {
    result += entry.isOverride ? "\noverride " : "\n";
    for (const PathPattern &block : entry.blocks)
      result += block.text + " / ";
    result += entry.path ? entry.path->text : "rest";
    for (const Clause &clause : entry.clauses) {
      if (const auto *style = std::get_if<StyleClause>(&clause))
        result += ", " + style->text;
      else if (const auto *border = std::get_if<BorderClause>(&clause))
        result += ", " + border->text;
      else
        for (const PlacementSyntax &placement : std::get<ParameterClause>(clause).placements)
          result += ", " + placement.text;
    }
  }
  for (const DataStatement &data : syntax.data)
    for (const Option &option : data.options)
      result += "\ndata " + option.text;
  for (const OptimizerStatement &optimizer : syntax.optimizers)
    for (const Option &option : optimizer.options)
      result += "\noptimizer " + option.text + " " + std::to_string(option.block.size());
  for (const MeshStatement &mesh : syntax.meshes)
    for (const AxisDefinition &axis : mesh.axes)
      result += "\naxis " + axis.name.text + " = " + axis.size.text;
  result += "\n" + std::to_string(syntax.reserved.size()) + " " + std::to_string(syntax.values.size()) + " " +
            std::to_string(syntax.trainable.size()) + " " + std::to_string(syntax.precisions.size());
  return result;
}

void expectFormat(const std::string &text, const std::string &expected) {
  EXPECT_EQ(format(text), expected);
  EXPECT_EQ(format(expected), expected);
}

TEST(Format, SpacesAndStatements) {
  expectFormat("plan  x{let a=(1+2)*-3;let b=a-1\n\n\n\nmesh dp=world/tp,tp=2*3}",
               "plan x {\n  let a = (1 + 2) * -3\n  let b = a - 1\n\n  mesh dp = world / tp, tp = 2 * 3\n}\n");
}

TEST(Format, EntriesAreAligned) {
  expectFormat(
      "plan x {\na.b:colwise tp\nc : replicate,output replicate\n\nlonger.path: replicate\noverride d: replicate\n"
      "input e: [ a , b over(dp,tp) ]\nf: replicate\n}",
      "plan x {\n  a.b: colwise tp\n  c:   replicate, output replicate\n\n  longer.path: replicate\n"
      "  override d:  replicate\n  input e: [a, b over (dp, tp)]\n  f: replicate\n}\n");
}

TEST(Format, BlocksStayOnOneLineIfTheyFit) {
  expectFormat(
      "plan x {\n  precision{master f32;reduce f32;}\n  a { b:replicate }\n  c { }\n  d {\n  e: replicate\n  }\n}",
      "plan x {\n  precision { master f32; reduce f32 }\n  a { b: replicate }\n  c {}\n  d {\n    e: replicate\n"
      "  }\n}\n");
}

TEST(Format, LongBlocksAreOpened) {
  std::string path(50, 'a');
  expectFormat("plan x {\n  data dp { unit " + path + ", " + path + "; bucket 64MiB }\n}",
               "plan x {\n  data dp {\n    unit " + path + ", " + path + "\n    bucket 64 MiB\n  }\n}\n");
}

TEST(Format, LongLinesAreBrokenAfterCommas) {
  std::string path(50, 'a');
  expectFormat("plan x {\n  freeze " + path + "," + path + "," + path + "\n}",
               "plan x {\n  freeze " + path + ", " + path + ",\n      " + path + "\n}\n");
}

TEST(Format, CommentsAreKept) {
  expectFormat(
      "// head\n\n/* two\n lines */\nplan x { // the plan\n\n  // first\n  let a = 1 // one\n  let bb = 22// two\n\n"
      "  input a, // of a\n b: [c] // of b\n  m { /* why */ n: replicate }\n  // last\n} // end\n// after",
      "// head\n\n/* two\n lines */\nplan x {  // the plan\n  // first\n  let a = 1    // one\n"
      "  let bb = 22  // two\n\n  input a, // of a\n      b: [c]  // of b\n  m { /* why */ n: replicate }\n"
      "  // last\n}  // end\n// after\n");
}

TEST(Format, PathsAndUnits) {
  expectFormat(
      "plan x {\n  {a,b.{ c,d }}.w{0..2,7..9   by 8}: replicate\n  overlap { require gradients hidden>=90% }\n}",
      "plan x {\n  {a, b.{c, d}}.w{0..2, 7..9 by 8}: replicate\n"
      "  overlap { require gradients hidden >= 90 % }\n}\n");
}

TEST(Format, ParameterBlocks) {
  expectFormat("plan x {\n  m: parameter {\n weight:split 0 over tp\n b: replicate\n}, replicate\n}",
               "plan x {\n  m: parameter {\n    weight: split 0 over tp\n    b:      replicate\n  }, replicate\n}\n");
}

TEST(Format, AnyPlanThatParsesIsStable) {
  const std::string plan =
      "plan p {\n mesh dp = (2 * 3), tp = 3 // c\n a.{b, c} { d: colwise (dp, tp) parts (x 1) }\n}";
  for (size_t place = 0; place <= plan.size(); ++place)
    for (const char *piece : {" ", "\n", ";", "// x\n", "/* y */", "/* y\n z */", ",", "{", "a"}) {
      std::string changed = plan;
      changed.insert(place, piece);
      if (!test::parse(changed).syntax)
        continue;
      std::string once = format(changed);
      EXPECT_EQ(format(once), once) << changed;
      EXPECT_EQ(meaning(*test::parse(changed).syntax), meaning(*test::parse(once).syntax)) << changed;
    }
}

TEST(Format, ErrorsAreReported) {
  EXPECT_EQ(format("plan x {\n  loss\n}"),
            "p.plan:2:7: error: unexpected end of line after 'loss'\n    loss\n        ^\n"
            "help: the form is 'loss OUTPUT [per token | sequence]'\n");
}

TEST(Format, StatementsOfTwoWords) {
  expectFormat("plan p {\nnonfinite   gradients\tskip // all\n  bucket: replicate; data dp { bucket   none }\n}",
               "plan p {\n  nonfinite gradients skip  // all\n  bucket: replicate\n  data dp { bucket none }\n}\n");
  expectFormat("plan p {\ninit {  **.*norm.weight   ones;override a  uniform -0.5   1;rest   normal 0.02}\n}",
               "plan p {\n  init { **.*norm.weight ones; override a uniform -0.5 1; rest normal 0.02 }\n}\n");
}

TEST(Format, CorpusIsStableAndKeepsItsMeaning) {
  size_t count = 0;
  for (const auto &file : std::filesystem::directory_iterator(MESHPLAN_PLAN_CORPUS)) {
    if (file.path().extension() != ".plan")
      continue;
    std::stringstream text;
    text << std::ifstream(file.path()).rdbuf();
    std::string once = format(text.str());
    EXPECT_EQ(format(once), once) << file.path();
    test::Outcome before = test::parse(text.str());
    test::Outcome after = test::parse(once);
    ASSERT_TRUE(before.syntax && after.syntax) << file.path() << before.text << after.text;
    EXPECT_EQ(meaning(*before.syntax), meaning(*after.syntax)) << file.path();
    ++count;
  }
  EXPECT_GE(count, 4u);
}

TEST(Format, PartsOfPathsInQuotesStayAsTheyAre) {
  EXPECT_EQ(format("plan p {\n {\"a ,b\"  ,c}.\"d  \\\"e\"  : replicate\n}\n"),
            "plan p {\n  {\"a ,b\", c}.\"d  \\\"e\": replicate\n}\n");
}

} // namespace
