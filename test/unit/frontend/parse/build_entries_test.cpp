//===- build_entries_test.cpp - entries, styles and blocks as written -----===//

#include "test/unit/frontend/parse/parse_statements.h"

#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// The first clause of the only entry.
template <typename ClauseT> ClauseT clause(const std::string &text) {
  Syntax syntax = parseStatements("w: " + text);
  return std::get<ClauseT>(syntax.entries.at(0).clauses.at(0));
}

TEST(BuildEntries, AStyleHasAxesAndOptions) {
  auto none = clause<StyleClause>("replicate");
  EXPECT_EQ(none.style.text, "replicate");
  EXPECT_THAT(none.axes, IsEmpty());
  EXPECT_THAT(none.options, IsEmpty());
  EXPECT_THAT(textsOf(clause<StyleClause>("colwise tp").axes), ElementsAre("tp"));
  EXPECT_THAT(textsOf(clause<StyleClause>("colwise (dp, tp)").axes), ElementsAre("dp", "tp"));
  auto sequence = clause<StyleClause>("sequence tp dim 1 + 1");
  EXPECT_EQ(sequence.options.at(0).name.text, "dim");
  EXPECT_EQ(sequence.options.at(0).value->text, "1 + 1");
  EXPECT_EQ(sequence.text, "sequence tp dim 1 + 1");
}

TEST(BuildEntries, PartsHaveNamesAndCounts) {
  auto style = clause<StyleClause>("colwise tp parts (heads 8 * 8, kv n, -3)");
  ASSERT_EQ(style.options.size(), 1u);
  EXPECT_FALSE(style.options[0].value);
  std::vector<std::string> parts;
  for (const PartSyntax &part : style.options[0].list)
    parts.push_back(part.name + " = " + part.count.text);
  EXPECT_THAT(parts, ElementsAre("heads = 8 * 8", "kv = n", " = -3"));
}

TEST(BuildEntries, ABorderHasASideAnIndexAndALayout) {
  auto first = clause<BorderClause>("input replicate");
  EXPECT_TRUE(first.isInput);
  EXPECT_FALSE(first.index);
  EXPECT_EQ(std::get<Word>(first.layout.layout).text, "replicate");
  auto second = clause<BorderClause>("output 1 split 0 over (dp, tp)");
  EXPECT_FALSE(second.isInput);
  EXPECT_EQ(second.index->text, "1");
  const auto &split = std::get<LayoutSyntax::Split>(second.layout.layout);
  EXPECT_EQ(split.dim.integer, 0);
  EXPECT_THAT(textsOf(split.axes), ElementsAre("dp", "tp"));
  EXPECT_EQ(second.text, "output 1 split 0 over (dp, tp)");
  auto dims = clause<BorderClause>("output [batch over dp, _]");
  EXPECT_EQ(std::get<std::vector<DimSyntax>>(dims.layout.layout).size(), 2u);
  EXPECT_THAT(std::get<std::vector<DimSyntax>>(clause<BorderClause>("output []").layout.layout), IsEmpty());
}

TEST(BuildEntries, NamesMayHavePartsInQuotes) {
  auto block = clause<ParameterClause>("parameter { a.\"b/c\": replicate; \"d e\".f: replicate; \"g\": replicate }");
  std::vector<std::string> names;
  for (const PlacementSyntax &placement : block.placements)
    names.push_back(placement.parameter.text);
  EXPECT_THAT(names, ElementsAre("a.b/c", "d e.f", "g"));
  Syntax syntax = parseStatements("scales.\"a/b\".{\"c , d\",e}: replicate");
  EXPECT_EQ(syntax.entries.at(0).path->text, "scales.\"a/b\".{\"c , d\", e}");
  EXPECT_FALSE(syntax.entries.at(0).path->literal);
}

TEST(BuildEntries, PlacementsStandInABlock) {
  auto clauses = clause<ParameterClause>("parameter { weight: split 0 over tp\n\n bias: replicate; }");
  ASSERT_EQ(clauses.placements.size(), 2u);
  EXPECT_EQ(clauses.placements[0].parameter.text, "weight");
  EXPECT_EQ(clauses.placements[0].range, (SourceRange{0, 2, 16, 39}));
  EXPECT_EQ(clauses.placements[1].text, "bias: replicate");
  EXPECT_FALSE(clauses.placements[0].parts);
  EXPECT_THAT(clause<ParameterClause>("parameter { }").placements, IsEmpty());
}

TEST(BuildEntries, APlacementHasParts) {
  auto clauses =
      clause<ParameterClause>("parameter { w: split 0 over tp parts (q 2, kv 1); v: [_ over tp, _] parts 3 }");
  ASSERT_EQ(clauses.placements.size(), 2u);
  ASSERT_TRUE(clauses.placements[0].parts);
  EXPECT_EQ(clauses.placements[0].parts->name.text, "parts");
  EXPECT_EQ(clauses.placements[0].parts->list.size(), 2u);
  EXPECT_EQ(clauses.placements[0].text, "w: split 0 over tp parts (q 2, kv 1)");
  ASSERT_TRUE(clauses.placements[1].parts);
  EXPECT_TRUE(clauses.placements[1].parts->value);
}

TEST(BuildEntries, ClausesKeepTheirOrder) {
  Syntax syntax = parseStatements("w: colwise tp, input replicate, parameter { b: replicate }, sequence dp");
  std::vector<size_t> kinds;
  for (const Clause &clause : syntax.entries.at(0).clauses)
    kinds.push_back(clause.index());
  EXPECT_THAT(kinds, ElementsAre(0, 1, 2, 0));
}

TEST(BuildEntries, AnEntryKnowsTheBlocksAroundIt) {
  Syntax syntax =
      parseStatements("a.* { b { c: replicate\n override d: replicate }\n rest: replicate }\nrest: replicate");
  std::vector<std::string> entries;
  for (const EntryStatement &entry : syntax.entries) {
    std::string text = entry.isOverride ? "override " : "";
    for (const PathPattern &block : entry.blocks)
      text += block.text + " / ";
    entries.push_back(text + (entry.path ? entry.path->text : "rest"));
  }
  EXPECT_THAT(entries, ElementsAre("a.* / b / c", "override a.* / b / d", "a.* / rest", "rest"));
  ASSERT_EQ(syntax.blocks.size(), 2u);
  EXPECT_EQ(syntax.blocks[1].blocks.size(), 2u);
  EXPECT_EQ(syntax.blocks[1].range, (SourceRange{0, 2, 7, 8}));
}

TEST(BuildEntries, EmptyBlocksAreBlocks) {
  Syntax syntax = parseStatements("a { }\nb { c { } }");
  EXPECT_EQ(syntax.blocks.size(), 3u);
  EXPECT_THAT(syntax.entries, IsEmpty());
}

TEST(BuildEntries, RangesPointAtThePathAndTheWholeEntry) {
  Syntax syntax = parseStatements("  override \"a-b\": replicate\n rest: colwise tp,\n  output replicate");
  EXPECT_EQ(syntax.entries.at(0).pathRange, (SourceRange{0, 2, 12, 17}));
  EXPECT_EQ(syntax.entries[0].range, (SourceRange{0, 2, 3, 28}));
  EXPECT_EQ(syntax.entries.at(1).pathRange, (SourceRange{0, 3, 2, 6}));
  EXPECT_EQ(syntax.entries[1].range, (SourceRange{0, 3, 2, 19})) << "a range is a piece of one line";
}

TEST(BuildEntries, OverrideIsAWordOnlyBeforeAPath) {
  Syntax syntax = parseStatements("override: replicate\noverride override: replicate\noverride rest: replicate");
  ASSERT_EQ(syntax.entries.size(), 3u);
  EXPECT_FALSE(syntax.entries[0].isOverride);
  EXPECT_EQ(syntax.entries[0].path->text, "override");
  EXPECT_TRUE(syntax.entries[1].isOverride);
  EXPECT_EQ(syntax.entries[1].path->text, "override");
  EXPECT_TRUE(syntax.entries[2].isOverride);
  EXPECT_FALSE(syntax.entries[2].path);
  Syntax spaced = parseStatements("override : replicate\noverride /* all */: replicate\nrest /* all */ : replicate");
  ASSERT_EQ(spaced.entries.size(), 3u);
  EXPECT_FALSE(spaced.entries[0].isOverride);
  EXPECT_FALSE(spaced.entries[1].isOverride);
  EXPECT_EQ(spaced.entries[1].pathRange, (SourceRange{0, 3, 1, 9}));
  EXPECT_EQ(spaced.entries[2].pathRange, (SourceRange{0, 4, 1, 5})) << "not that of the comment";
}

} // namespace
