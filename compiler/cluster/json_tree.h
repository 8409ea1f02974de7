//===- json_tree.h - JSON with locations ------------------------*- C++ -*-===//
//
// A parsed JSON text in which every value and every key knows its location, for errors that show the line.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_CLUSTER_JSON_TREE_H
#define MESHPLAN_COMPILER_CLUSTER_JSON_TREE_H

#include "compiler/support/diagnostics.h"

#include <optional>
#include <string>
#include <vector>

namespace meshplan {

struct JsonMember;

/// A JSON value. `range` is the value; of an object or array, its opening bracket.
struct JsonNode {
  enum class Kind { null, boolean, number, string, array, object };

  Kind kind = Kind::null;
  SourceRange range;
  double number = 0; ///< of a number
  std::string text;  ///< of a string
  std::vector<JsonNode> elements;
  std::vector<JsonMember> members;

  /// The value of a key, or null. The first one if a key is repeated.
  const JsonNode *find(llvm::StringRef key) const;
};

struct JsonMember {
  std::string key;
  SourceRange range; ///< of the key
  JsonNode value;
};

/// "an object", "a number": for messages.
llvm::StringRef kindText(JsonNode::Kind kind);

/// Parses the text of `file`. Reports at most one error, at its line and column, and then returns nothing: a text that
/// is not JSON, a number that does not fit a double, or brackets nested deeper than 100 levels.
std::optional<JsonNode> parseJson(const SourceBuffer &file, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_CLUSTER_JSON_TREE_H
