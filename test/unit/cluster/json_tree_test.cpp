//===- json_tree_test.cpp - JSON with locations ---------------------------===//

#include "compiler/cluster/json_tree.h"
#include "gtest/gtest.h"

using namespace meshplan;

namespace {

struct Parsed {
  Sources sources;
  Diagnostics diagnostics{sources};
  const SourceBuffer *file;
  std::optional<JsonNode> root;

  explicit Parsed(std::string text)
      : file(&sources.add("c.json", std::move(text))), root(parseJson(*file, diagnostics)) {}
};

/// Every value's and key's range covers its own text.
void checkRanges(const Parsed &parsed, const JsonNode &node) {
  std::string text = parsed.file->piece(node.range).str();
  switch (node.kind) {
  case JsonNode::Kind::object:
    EXPECT_EQ(text, "{");
    break;
  case JsonNode::Kind::array:
    EXPECT_EQ(text, "[");
    break;
  case JsonNode::Kind::number:
    EXPECT_EQ(std::stod(text), node.number);
    break;
  case JsonNode::Kind::string:
    EXPECT_EQ(text.front(), '"');
    EXPECT_EQ(text.back(), '"');
    break;
  default:
    EXPECT_TRUE(text == "null" || text == "true" || text == "false") << text;
  }
  for (const JsonNode &element : node.elements)
    checkRanges(parsed, element);
  for (const JsonMember &member : node.members) {
    EXPECT_EQ(parsed.file->piece(member.range).front(), '"');
    checkRanges(parsed, member.value);
  }
}

TEST(JsonTree, EveryValueKnowsItsLocation) {
  Parsed parsed("{\"a\": [1, -2.5e3,\n\t{\"é\\\"{,\": null}], \"b\" :true ,\r\n \"c\":{\"d\":\"x: [\"},\"e\":[]}");
  ASSERT_TRUE(parsed.root) << parsed.diagnostics.text();
  checkRanges(parsed, *parsed.root);
  const JsonNode *list = parsed.root->find("a");
  ASSERT_EQ(list->elements.size(), 3u);
  EXPECT_EQ(list->elements[1].range, (SourceRange{0, 1, 11, 17}));
  EXPECT_EQ(list->elements[2].members[0].key, "é\"{,");
  EXPECT_EQ(list->elements[2].members[0].range, (SourceRange{0, 2, 3, 10}));
  EXPECT_EQ(parsed.root->find("c")->find("d")->text, "x: [");
  EXPECT_EQ(parsed.root->find("f"), nullptr);
}

std::string errorOf(std::string text) {
  Parsed parsed(std::move(text));
  EXPECT_FALSE(parsed.root);
  EXPECT_EQ(parsed.diagnostics.errorCount(), 1u);
  const Diagnostic &error = parsed.diagnostics.all().front();
  return locationText(parsed.sources, error.range) + ": " + error.message;
}

TEST(JsonTree, ErrorsHaveALocation) {
  EXPECT_EQ(errorOf("{\"a\": 1,}"), "c.json:1:9: this is not JSON: unexpected '}'; expected string literal");
  EXPECT_EQ(errorOf("{\n  \"a\" 1}"), "c.json:2:7: this is not JSON: unexpected number literal; expected ':'");
  EXPECT_EQ(errorOf(""), "c.json:1:1: this is not JSON: unexpected end of input; expected '[', '{', or a literal");
  EXPECT_EQ(errorOf("{'a': 1}"), "c.json:1:2: this is not JSON: invalid literal; expected string literal");
  EXPECT_EQ(errorOf("{\"a\": 1e999}"), "c.json:1:7: the number does not fit in 64 bits");
  EXPECT_EQ(errorOf(std::string(101, '[')), "c.json:1:101: brackets are nested deeper than 100 levels");
}

} // namespace
