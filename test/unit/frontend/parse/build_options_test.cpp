//===- build_options_test.cpp - option blocks as written ------------------===//

#include "test/unit/frontend/parse/parse_statements.h"

#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

std::vector<Option> readOptions(const std::string &options) {
  return parseStatements("precision { " + options + " }").precisions.at(0).options;
}

std::string written(const std::vector<std::vector<Operand>> &groups);

/// `path:a.*` or `list:(word:a word:b|number:1)`.
std::string written(const Operand &operand) {
  switch (operand.kind) {
  case Operand::Kind::Word:
    return "word:" + operand.text;
  case Operand::Kind::Number:
    return "number:" + operand.text;
  case Operand::Kind::Path:
    return "path:" + operand.text;
  case Operand::Kind::String:
    return "string:" + operand.text;
  case Operand::Kind::List:
    return "list:(" + written(operand.list) + ")";
  }
  return "none";
}

/// Groups with `|` between them.
std::string written(const std::vector<std::vector<Operand>> &groups) {
  std::string result;
  for (size_t group = 0; group < groups.size(); ++group) {
    result += group == 0 ? "" : "|";
    for (size_t i = 0; i < groups[group].size(); ++i)
      result += (i == 0 ? "" : " ") + written(groups[group][i]);
  }
  return result;
}

/// The operands of the only option.
std::string operandsOf(const std::string &option) {
  std::vector<Option> options = readOptions(option);
  EXPECT_EQ(options.size(), 1u) << option;
  return options.empty() ? "" : written(options[0].operands);
}

TEST(BuildOptions, OptionsStandOneBehindTheOther) {
  std::vector<Option> options = readOptions("a; b 1;\n\n c x ;; d");
  std::vector<std::string> names;
  for (const Option &option : options)
    names.push_back(option.name.text);
  EXPECT_THAT(names, ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(readOptions(""), IsEmpty());
  EXPECT_THAT(readOptions(";\n;"), IsEmpty());
}

TEST(BuildOptions, OperandsHaveKinds) {
  struct {
    const char *option, *operands;
  } cases[] = {
      {"a", ""},
      {"a b", "word:b"},
      {"a rest", "word:rest"},
      {"a keep over", "word:keep word:over"},
      {"a m.*", "path:m.*"},
      {"a *", "path:*"},
      {"a **.{q,k}_proj", "path:**.{q, k}_proj"},
      {"a \"m \\\"n\"", "string:m \"n"},
      {"a 64MiB", "number:64 MiB"},
      {"a 90%", "number:90 %"},
      {"a -1e-8", "number:-1e-8"},
      {"a gradients hidden >= 90 %", "word:gradients word:hidden word:>= number:90 %"},
      {"a b = 2", "word:b word:= number:2"},
  };
  for (auto [option, operands] : cases)
    EXPECT_EQ(operandsOf(option), operands) << option;
}

TEST(BuildOptions, CommasMakeGroups) {
  EXPECT_EQ(operandsOf("shard parameters, gradients over dp"), "word:parameters|word:gradients word:over word:dp");
  EXPECT_EQ(operandsOf("betas 0.9,\n 0.95"), "number:0.9|number:0.95");
}

TEST(BuildOptions, ListsNest) {
  EXPECT_EQ(operandsOf("unit a.*, [b, c.0 x]"), "path:a.*|list:(word:b|path:c.0 word:x)");
  EXPECT_EQ(operandsOf("a over (dp, tp)"), "word:over list:(word:dp|word:tp)");
  EXPECT_EQ(operandsOf("a [b, (c, [1])], d"), "list:(word:b|list:(word:c|list:(number:1)))|word:d");
}

TEST(BuildOptions, AListKnowsItsText) {
  Option option = readOptions("unit [ a.* ,b ]").at(0);
  EXPECT_EQ(option.operands.at(0).at(0).text, "[a.*, b]");
  EXPECT_EQ(option.operands[0][0].range, (SourceRange{0, 2, 18, 28}));
}

TEST(BuildOptions, NumbersHaveValuesAndUnits) {
  Number bytes = readOptions("a 64MiB").at(0).operands.at(0).at(0).number;
  EXPECT_EQ(bytes.integer, 64);
  EXPECT_EQ(bytes.unit, "MiB");
  Number share = readOptions("a 12.5 %").at(0).operands.at(0).at(0).number;
  EXPECT_DOUBLE_EQ(share.value, 12.5);
  EXPECT_FALSE(share.integer);
  EXPECT_EQ(share.unit, "%");
}

TEST(BuildOptions, NamesMayBePathsStringsAndRest) {
  std::vector<Option> options =
      readOptions("**.*norm.weight ones; rest normal 0.02; {q,k}.w  zeros; * zeros; \"a-b\" ones; mean 1");
  std::vector<std::string> names;
  for (const Option &option : options)
    names.push_back(option.name.text);
  EXPECT_THAT(names, ElementsAre("**.*norm.weight", "rest", "{q, k}.w", "*", "\"a-b\"", "mean"));
  EXPECT_EQ(options[0].name.range, (SourceRange{0, 2, 13, 28}));
}

TEST(BuildOptions, RangeAndTextEndBeforeTheBlock) {
  Option option = readOptions("group  a.* ,b { weight_decay 0; lr 1 }").at(0);
  EXPECT_EQ(option.text, "group a.*, b");
  EXPECT_EQ(option.range, (SourceRange{0, 2, 13, 26}));
  EXPECT_TRUE(option.hasBlock);
  ASSERT_EQ(option.block.size(), 2u);
  EXPECT_EQ(option.block[0].text, "weight_decay 0");
  EXPECT_EQ(option.block[1].name.text, "lr");
  EXPECT_FALSE(option.block[1].hasBlock);
}

TEST(BuildOptions, AnOptionWithoutOperandsIsItsName) {
  Option bare = readOptions("fused").at(0);
  EXPECT_EQ(bare.text, "fused");
  EXPECT_EQ(bare.range, (SourceRange{0, 2, 13, 18}));
  EXPECT_FALSE(bare.hasBlock);
  Option empty = readOptions("fused { }").at(0);
  EXPECT_TRUE(empty.hasBlock) << "an empty block is one";
  EXPECT_THAT(empty.block, IsEmpty());
  EXPECT_EQ(empty.text, "fused");
}

TEST(BuildOptions, BlocksNest) {
  std::vector<Option> options = readOptions("a { b x { c 1 } ; d }; e");
  ASSERT_EQ(options.size(), 2u);
  ASSERT_EQ(options[0].block.size(), 2u);
  EXPECT_EQ(options[0].block[0].block.at(0).text, "c 1");
  EXPECT_EQ(options[0].block[1].text, "d");
}

} // namespace
