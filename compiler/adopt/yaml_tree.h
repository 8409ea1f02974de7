//===- yaml_tree.h - YAML and JSON as a tree with locations -----*- C++ -*-===//
//
// Foreign configurations are untrusted input: the tree is plain data, and each of its values has its location. JSON is
// read as YAML, of which it is a subset.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_ADOPT_YAML_TREE_H
#define MESHPLAN_COMPILER_ADOPT_YAML_TREE_H

#include "compiler/support/diagnostics.h"
#include <optional>

namespace meshplan {

struct YamlEntry;

struct YamlValue {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  std::string text; ///< a scalar, without quotes and escapes
  std::vector<YamlValue> items;
  std::vector<YamlEntry> entries; ///< entries of a map, in the order of the file
  SourceRange range;              ///< range of a scalar; of other values, where they begin

  /// The entry of a map, or null.
  const YamlEntry *find(llvm::StringRef key) const;
  /// True if the value is null, `~`, or `none`, which recipes use for it.
  bool saysNothing() const;
};

struct YamlEntry {
  std::string key;
  SourceRange keyRange;
  YamlValue value;
};

/// Parses a text of one document. Returns nothing, after reporting an error, for malformed YAML, keys that are not
/// scalars or that repeat in a map, merge keys, and more than 64 levels. An alias is a copy of its anchor's value; all
/// copies together have at most a million values and 100 MB.
std::optional<YamlValue> readYaml(const SourceBuffer &source, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_YAML_TREE_H
