//===- yaml_tree.h - YAML and JSON as a tree with places --------*- C++ -*-===//
//
// Configurations of others are outside data: the tree is plain, and each of its
// values knows where it stands. JSON is read as the YAML that it is.
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
  std::string text; ///< of a scalar, without quotes and escapes
  std::vector<YamlValue> items;
  std::vector<YamlEntry> entries; ///< of a map, in the order of the file
  SourceRange range;              ///< of a scalar; of others, where they begin

  /// The entry of a map, or null.
  const YamlEntry *find(llvm::StringRef key) const;
  /// True if nothing is said: null, `~`, and `none`, which recipes write for it.
  bool saysNothing() const;
};

struct YamlEntry {
  std::string key;
  SourceRange keyRange;
  YamlValue value;
};

/// Reads a text of one document. Reports, and returns nothing for, what is no YAML, keys that are no scalars or stand
/// twice in a map, merge keys, and more than 64 levels. An alias is a copy of what its anchor names.
std::optional<YamlValue> readYaml(const SourceBuffer &source, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_YAML_TREE_H
