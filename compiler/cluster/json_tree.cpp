//===- json_tree.cpp - JSON with locations --------------------------------===//
//
// nlohmann's parser reports what it reads without saying where. Between two values or keys a text has only blanks,
// commas and colons, so a cursor that follows the reports finds where each begins.
//
//===----------------------------------------------------------------------===//

#include "compiler/cluster/json_tree.h"

#include <nlohmann/json.hpp>

using namespace meshplan;
using llvm::StringRef;

const JsonNode *JsonNode::find(StringRef key) const {
  for (const JsonMember &member : members)
    if (member.key == key)
      return &member.value;
  return nullptr;
}

StringRef meshplan::kindText(JsonNode::Kind kind) {
  switch (kind) {
  case JsonNode::Kind::null:
    return "null";
  case JsonNode::Kind::boolean:
    return "a truth value";
  case JsonNode::Kind::number:
    return "a number";
  case JsonNode::Kind::string:
    return "a text";
  case JsonNode::Kind::array:
    return "a list";
  case JsonNode::Kind::object:
    return "an object";
  }
  return "";
}

namespace {

constexpr size_t deepest = 100;

/// A position in the text, with its line and column.
class Cursor {
public:
  explicit Cursor(const SourceBuffer &file) : file(file.file()), text(file.text()) {}

  /// Moves over everything between values, then over a token; returns the range of the token.
  SourceRange take() {
    moveWhile([](char c) { return StringRef(" \t\r\n,:").contains(c); });
    SourceRange range{file, line, column, column};
    if (at < text.size() && text[at] == '"')
      moveOverString();
    else if (at < text.size() && StringRef("{}[]").contains(text[at]))
      move();
    else
      moveWhile([](char c) { return !StringRef(" \t\r\n,:{}[]\"").contains(c); });
    // Strings cannot contain line breaks, so a token is in one line.
    range.endColumn = column;
    return range;
  }

  /// The location of a byte that is not before the cursor.
  SourceRange moveTo(size_t byte) {
    while (at < byte && at < text.size())
      move();
    return {file, line, column, column + 1};
  }

private:
  void move() {
    char byte = text[at++];
    if (byte == '\n') {
      ++line;
      column = 1;
    } else if (at == text.size() || (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) {
      ++column; // columns count characters, which may have several bytes
    }
  }

  template <typename Condition> void moveWhile(Condition condition) {
    while (at < text.size() && condition(text[at]))
      move();
  }

  void moveOverString() {
    move();
    for (; at < text.size() && text[at] != '"'; move())
      if (text[at] == '\\' && at + 1 < text.size())
        move();
    if (at < text.size())
      move();
  }

  int32_t file;
  StringRef text;
  size_t at = 0;
  int32_t line = 1, column = 1;
};

/// Builds the tree from the parser's reports.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
public:
  TreeBuilder(const SourceBuffer &file, Diagnostics &diagnostics) : cursor(file), diagnostics(diagnostics) {}

  JsonNode take() { return std::move(root); }

  bool null() override { return add(JsonNode::Kind::null) != nullptr; }
  bool boolean(bool) override { return add(JsonNode::Kind::boolean) != nullptr; }
  bool number_integer(int64_t value) override { return addNumber(static_cast<double>(value)); }
  bool number_unsigned(uint64_t value) override { return addNumber(static_cast<double>(value)); }
  bool number_float(double value, const std::string &) override { return addNumber(value); }
  bool string(std::string &value) override {
    add(JsonNode::Kind::string)->text = std::move(value);
    return true;
  }
  bool binary(nlohmann::json::binary_t &) override { return false; } // JSON texts have none
  bool start_object(size_t) override { return open(JsonNode::Kind::object); }
  bool start_array(size_t) override { return open(JsonNode::Kind::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string &name) override {
    nextKey.key = std::move(name);
    nextKey.range = cursor.take();
    return true;
  }

  bool parse_error(size_t byte, const std::string &, const nlohmann::detail::exception &error) override {
    if (error.id == 406) // out of range
      diagnostics.error(cursor.take(), "the number does not fit in 64 bits");
    else
      diagnostics.error(cursor.moveTo(byte == 0 ? 0 : byte - 1), "this is not JSON: " + reasonText(error.what()))
          .help("every text and key is in double quotes, and there is a comma between two members but none after the "
                "last one");
    return false;
  }

private:
  /// The part of nlohmann's message that follows its location, without the text that it has read: "unexpected '}';
  /// expected string literal".
  static std::string reasonText(StringRef message) {
    StringRef reason = message.split(" - ").second;
    auto [before, read] = reason.split("; last read: ");
    size_t expected = read.rfind("'; expected");
    return before.str() + (expected == StringRef::npos ? "" : read.drop_front(expected + 1).str());
  }

  JsonNode *add(JsonNode::Kind kind) {
    JsonNode node{kind, cursor.take()};
    if (opened.empty()) {
      root = std::move(node);
      return &root;
    }
    JsonNode &parent = *opened.back();
    if (parent.kind == JsonNode::Kind::array)
      return &parent.elements.emplace_back(std::move(node));
    return &parent.members.emplace_back(JsonMember{std::move(nextKey.key), nextKey.range, std::move(node)}).value;
  }

  bool addNumber(double value) {
    add(JsonNode::Kind::number)->number = value;
    return true;
  }

  bool open(JsonNode::Kind kind) {
    JsonNode *node = add(kind);
    if (opened.size() == deepest) {
      diagnostics.error(node->range, "brackets are nested deeper than " + std::to_string(deepest) + " levels");
      return false;
    }
    // Only the last element or member of a node is open, so the node does not move while it is.
    opened.push_back(node);
    return true;
  }

  bool close() {
    cursor.take();
    opened.pop_back();
    return true;
  }

  Cursor cursor;
  Diagnostics &diagnostics;
  JsonNode root;
  std::vector<JsonNode *> opened;
  JsonMember nextKey;
};

} // namespace

std::optional<JsonNode> meshplan::parseJson(const SourceBuffer &file, Diagnostics &diagnostics) {
  TreeBuilder builder(file, diagnostics);
  if (!nlohmann::json::sax_parse(file.text().begin(), file.text().end(), &builder))
    return std::nullopt;
  return builder.take();
}
