//===- json_document_test.cpp - checked reading, with locations -----------===//

#include "compiler/archive/json_document.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan::archive;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

namespace {

class JsonDocumentTest : public ::testing::Test {
protected:
  JsonDocument &read(llvm::StringRef text) { return document.emplace("m.json", text, errors); }
  const Json &root() { return document->root(); }
  std::vector<std::string> messages() {
    std::vector<std::string> result;
    for (const Diagnostic &error : errors)
      result.push_back(error.message);
    errors.clear();
    return result;
  }

  std::vector<Diagnostic> errors;
  std::optional<JsonDocument> document;
};

TEST_F(JsonDocumentTest, ReadsEveryKindOfValue) {
  JsonDocument &json = read(R"({"a": [1, -2], "o": {"k": "v"}, "t": true, "f": 0.5, "n": null, "u": {"as_x": 7}})");
  EXPECT_EQ(json.array(json.member(root(), "a")).size(), 2u);
  EXPECT_EQ(json.integer(json.member(root(), "a")[1]), -2);
  EXPECT_EQ(json.string(json.member(json.object(json.member(root(), "o")), "k")), "v");
  EXPECT_TRUE(json.boolean(json.member(root(), "t")));
  EXPECT_EQ(json.number(json.member(root(), "f")), 0.5);
  EXPECT_EQ(json.number(json.member(root(), "a")[0]), 1);
  EXPECT_EQ(json.optionalMember(root(), "n"), nullptr) << "null is nothing";
  EXPECT_EQ(json.optionalMember(root(), "none"), nullptr);
  ASSERT_NE(json.optionalMember(root(), "t"), nullptr);
  auto [key, value] = json.unionMember(json.member(root(), "u"));
  EXPECT_EQ(key, "as_x");
  EXPECT_EQ(json.integer(*value), 7);
  EXPECT_FALSE(json.failed());
  EXPECT_THAT(messages(), IsEmpty());
}

TEST_F(JsonDocumentTest, NumbersThatJsonLacksAreWords) {
  JsonDocument &json = read(R"(["Infinity", "-Infinity", "NaN", "infinity"])");
  EXPECT_EQ(json.number(root()[0]), INFINITY);
  EXPECT_EQ(json.number(root()[1]), -INFINITY);
  EXPECT_TRUE(std::isnan(json.number(root()[2])));
  EXPECT_FALSE(json.failed());
  EXPECT_EQ(json.number(root()[3]), 0);
  EXPECT_THAT(messages(), ElementsAre("'m.json' at [3]: expected a number, found string"));
}

TEST_F(JsonDocumentTest, IntegersHave64BitsAndNoFraction) {
  JsonDocument &json = read("[9223372036854775807, -9223372036854775808, 9223372036854775808, 1.0, 1e3, true]");
  EXPECT_EQ(json.integer(root()[0]), INT64_MAX);
  EXPECT_EQ(json.integer(root()[1]), INT64_MIN);
  EXPECT_FALSE(json.failed());
  for (size_t i = 2; i < root().size(); ++i)
    EXPECT_EQ(json.integer(root()[i]), 0);
  EXPECT_THAT(messages(), ElementsAre("'m.json' at [2]: expected a 64-bit integer, found number",
                                      "'m.json' at [3]: expected a 64-bit integer, found number",
                                      "'m.json' at [4]: expected a 64-bit integer, found number",
                                      "'m.json' at [5]: expected a 64-bit integer, found boolean"));
}

TEST_F(JsonDocumentTest, AnErrorHasItsPlace) {
  JsonDocument &json = read(R"({"graph": {"nodes": [{"x": 0}, {"x": [{"y": 1}]}]}})");
  const Json &nodes = json.member(json.member(root(), "graph"), "nodes");
  json.string(nodes[1]["x"][0]["y"]);
  json.member(nodes[0], "target");
  json.object(nodes);
  json.array(root());
  json.unionMember(root()["graph"]["nodes"][1]["x"]);
  json.boolean(nodes[0]["x"]);
  EXPECT_TRUE(json.failed());
  EXPECT_THAT(messages(), ElementsAre("'m.json' at graph.nodes[1].x[0].y: expected a string, found number",
                                      "'m.json' at graph.nodes[0]: has no member 'target'",
                                      "'m.json' at graph.nodes: expected an object, found array",
                                      "'m.json': expected an array, found object",
                                      "'m.json' at graph.nodes[1].x: expected an object with one member, found array",
                                      "'m.json' at graph.nodes[0].x: expected true or false, found number"));
}

TEST_F(JsonDocumentTest, OnlyObjectsHaveMembers) {
  JsonDocument &json = read(R"({"a": [1], "s": "text", "n": null})");
  for (auto [key, type] : {std::pair("a", "array"), {"s", "string"}, {"n", "null"}}) {
    const std::string message = std::string("'m.json' at ") + key + ": expected an object, found " + type;
    json.member(root()[key], "x");
    EXPECT_THAT(messages(), ElementsAre(message));
    EXPECT_EQ(json.optionalMember(root()[key], "x"), nullptr);
    EXPECT_THAT(messages(), ElementsAre(message)) << "also where it may be absent";
  }
}

TEST_F(JsonDocumentTest, WhatIsReadBehindAnErrorIsEmptyAndSaysNoMore) {
  JsonDocument &json = read("{}");
  const Json &missing = json.member(root(), "graph");
  EXPECT_EQ(messages().size(), 1u);
  EXPECT_EQ(json.string(missing), "");
  EXPECT_EQ(json.integer(json.member(missing, "x")), 0);
  EXPECT_FALSE(json.boolean(missing));
  EXPECT_EQ(json.number(missing), 0);
  EXPECT_TRUE(json.array(missing).is_array() && json.array(missing).empty());
  EXPECT_TRUE(json.object(missing).is_object() && json.object(missing).empty());
  EXPECT_EQ(json.optionalMember(missing, "x"), nullptr);
  EXPECT_EQ(json.unionMember(missing).first, "");
  EXPECT_THAT(messages(), IsEmpty());
  EXPECT_TRUE(json.failed());
}

TEST_F(JsonDocumentTest, AUnionHasOneMember) {
  JsonDocument &json = read(R"([{}, {"a": 1, "b": 2}])");
  EXPECT_EQ(json.unionMember(root()[0]).first, "");
  EXPECT_EQ(json.unionMember(root()[1]).first, "");
  EXPECT_EQ(messages().size(), 2u);
}

TEST_F(JsonDocumentTest, ManyErrorsAreCutOff) {
  JsonDocument &json = read("[" + std::string("0,") + std::string("0]"));
  for (int i = 0; i < 100; ++i)
    json.string(root()[0]);
  EXPECT_EQ(messages().size(), 20u);
}

TEST_F(JsonDocumentTest, TextThatIsNoJson) {
  EXPECT_TRUE(read("{\"a\": }").failed());
  EXPECT_THAT(messages(), ElementsAre("'m.json': not valid JSON at byte 7"));
  for (const char *text : {"", "[1,", "[1] 2", "{'a': 1}", "[1,]", "\"\xff\""}) {
    EXPECT_TRUE(read(text).failed()) << text;
    EXPECT_THAT(messages(), ElementsAre(::testing::StartsWith("'m.json': not valid JSON at byte "))) << text;
    EXPECT_TRUE(root().is_null());
  }
}

TEST_F(JsonDocumentTest, NumbersThatNoDoubleHolds) {
  for (const char *text : {"[1e999]", "{\"a\": -1e999}", "99999999999999999999999e999"}) {
    EXPECT_TRUE(read(text).failed()) << text;
    EXPECT_THAT(messages(), ElementsAre("'m.json': it has a number that does not fit in 64 bits")) << text;
    EXPECT_TRUE(root().is_null());
  }
  EXPECT_FALSE(read("[1e-999, 123456789012345678901234567890]").failed()) << "small ones are 0, large integers doubles";
  EXPECT_EQ(document->number(root()[0]), 0);
}

TEST_F(JsonDocumentTest, NestingIsLimited) {
  auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_FALSE(read(nested(200)).failed());
  EXPECT_TRUE(read(nested(201)).failed());
  EXPECT_THAT(messages(), ElementsAre("'m.json': nested deeper than 200 levels"));
  EXPECT_TRUE(read(std::string(1000000, '[')).failed());
  EXPECT_EQ(messages().size(), 1u);
  EXPECT_FALSE(read("[\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\"]").failed())
      << "brackets in a string nest nothing";
  EXPECT_TRUE(read("[\"\\\\\"," + nested(200) + "]").failed()) << "a backslash before the quote is text";
}

} // namespace
