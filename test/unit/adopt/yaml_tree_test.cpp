//===- yaml_tree_test.cpp - YAML and JSON as a tree -----------------------===//

#include "compiler/adopt/yaml_tree.h"
#include "test/unit/adopt/adopt_test.h"

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

namespace {
class YamlTree : public test::AdoptTest {
protected:
  std::optional<YamlValue> read(const std::string &text) { return readYaml(source(text), diagnostics); }
};
} // namespace

TEST_F(YamlTree, ValuesKnowTheirPlaces) {
  std::optional<YamlValue> root = read("# a comment\na:\n  b: 'x y'  # and one\n  c: [1, 2]\nempty:\n");
  ASSERT_TRUE(root) << diagnostics.text();
  const YamlEntry *a = root->find("a");
  ASSERT_TRUE(a);
  EXPECT_EQ(a->keyRange, (SourceRange{0, 2, 1, 2}));
  const YamlEntry *b = a->value.find("b");
  EXPECT_EQ(b->value.text, "x y");
  EXPECT_EQ(b->value.range, (SourceRange{0, 3, 6, 11}));
  EXPECT_THAT(a->value.find("c")->value.items, SizeIs(2));
  EXPECT_TRUE(root->find("empty")->value.saysNothing());
  EXPECT_EQ(root->find("nothing"), nullptr);
}

TEST_F(YamlTree, JsonIsYaml) {
  std::optional<YamlValue> root = read("{\n \"a.*\": \"colwise\",\n \"b\": null, \"ö\": \"\\u00e4\"\n}");
  ASSERT_TRUE(root) << diagnostics.text();
  EXPECT_EQ(root->find("a.*")->value.text, "colwise");
  EXPECT_EQ(root->find("a.*")->value.range.line, 2);
  EXPECT_TRUE(root->find("b")->value.saysNothing());
  EXPECT_EQ(root->find("ö")->value.text, "ä");
  EXPECT_EQ(root->find("ö")->value.range.column, 18) << "columns count characters";
}

TEST_F(YamlTree, WaysToSayNothing) {
  std::optional<YamlValue> root = read("a: none\nb: ~\nc: null\nd: None\ne: ''\nf: 0\n");
  ASSERT_TRUE(root);
  for (const YamlEntry &entry : root->entries)
    EXPECT_EQ(entry.value.saysNothing(), entry.key != "f") << entry.key;
}

TEST_F(YamlTree, AnAliasIsACopy) {
  std::optional<YamlValue> root = read("a: &x {b: 1}\nc: *x\n");
  ASSERT_TRUE(root) << diagnostics.text();
  EXPECT_EQ(root->find("c")->value.find("b")->value.text, "1");
}

TEST_F(YamlTree, AliasesOfAliasesAreBounded) {
  // Each line has ten copies of the line before it: 10^8 values in eight lines.
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int line = 1; line < 8; ++line) {
    std::string name = "a" + std::to_string(line), copy = "*a" + std::to_string(line - 1);
    text += name + ": &" + name + " [" + copy;
    for (int count = 1; count < 10; ++count)
      text += ", " + copy;
    text += "]\n";
  }
  EXPECT_FALSE(read(text));
  EXPECT_THAT(said(), ElementsAre("6:1: error: its aliases make more than 1000000 values"));
  text = "a: &a " + std::string(1'000'000, 'x') + "\nb:\n";
  for (int count = 0; count < 101; ++count)
    text += "- *a\n";
  EXPECT_FALSE(read(text));
  EXPECT_THAT(said(), ElementsAre("2:1: error: its aliases make more than 100000000 bytes"));
  text = "a0: &a0 " + std::string(30, '[') + std::string(30, ']') + "\n";
  text += "a1: &a1 " + std::string(20, '[') + "*a0" + std::string(20, ']') + "\n";
  text += "a2: &a2 " + std::string(20, '[') + "*a1" + std::string(20, ']') + "\n";
  EXPECT_FALSE(read(text));
  EXPECT_THAT(said(), ElementsAre("3:1: error: more than 64 levels"));
  // Many aliases of one value do not grow so.
  text = "a: &a {b: 1, c: [1, 2]}\nd:\n";
  for (int count = 0; count < 1000; ++count)
    text += "- *a\n";
  std::optional<YamlValue> root = read(text);
  ASSERT_TRUE(root) << diagnostics.text();
  EXPECT_THAT(root->find("d")->value.items, SizeIs(1000));
}

TEST_F(YamlTree, WhatIsWrongHasAPlace) {
  EXPECT_FALSE(read("a: 1\na: 2\n"));
  EXPECT_THAT(said(), ElementsAre("2:1: error: 'a' is repeated"));
  EXPECT_FALSE(read("a: *x\n"));
  EXPECT_THAT(said(), ElementsAre("1:1: error: no anchor before it is called 'x'"));
  EXPECT_FALSE(read("a: {b: 1}\n<<: 3\n"));
  EXPECT_THAT(said(), ElementsAre("2:1: error: merge keys are not read"));
  EXPECT_FALSE(read("[a, b]: 1\n"));
  EXPECT_THAT(said(), ElementsAre("1:2: error: a key is a word"));
  EXPECT_FALSE(read("a: [1, 2\nb: 3\n"));
  EXPECT_THAT(said(), SizeIs(1));
  EXPECT_FALSE(read(std::string(100, '[')));
  EXPECT_THAT(said(), SizeIs(1));
}

TEST_F(YamlTree, TextBehindTheFirstDocumentIsAnError) {
  EXPECT_FALSE(read("a: 1\n---\nb: 2\n"));
  EXPECT_THAT(said(), ElementsAre("3:1: error: a second document, or text after the end of the first"));
  EXPECT_FALSE(read("{\"a\": 1}\n{\"b\": 2}\n"));
  EXPECT_THAT(said(), SizeIs(1));
  EXPECT_FALSE(read("{\"a\": 1} b\n"));
  EXPECT_THAT(said(), SizeIs(1));
  EXPECT_TRUE(read("---\na: 1\n...\n")) << diagnostics.text();
  EXPECT_TRUE(read("---\na: 1\n---\n")) << diagnostics.text();
}

TEST_F(YamlTree, AnEmptyTextSaysNothing) {
  std::optional<YamlValue> root = read("");
  ASSERT_TRUE(root) << diagnostics.text();
  EXPECT_TRUE(root->saysNothing());
  EXPECT_THAT(root->entries, IsEmpty());
}
