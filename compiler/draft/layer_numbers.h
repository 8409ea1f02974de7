//===- layer_numbers.h - the numbers in paths of modules --------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_LAYER_NUMBERS_H
#define MESHPLAN_COMPILER_DRAFT_LAYER_NUMBERS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace meshplan {

/// Which numbers the paths of a model have, and how a plan lists some of them. Pure.
class LayerNumbers {
public:
  explicit LayerNumbers(const std::vector<std::string> &all);

  /// A pattern that matches these paths, which differ in their numbers only, and no other path of the model: "h.*.up",
  /// "h.{0..2, 5}.up". A number that has no siblings stays as it is. Nothing if lists of numbers do not suffice.
  std::optional<std::string> patternOf(const std::vector<std::string> &paths) const;

private:
  /// For each number of a path some values, or, empty, all.
  using Lists = std::vector<std::set<int64_t>>;

  bool isExact(const std::string &key, const Lists &lists, size_t count) const;
  bool hasSiblings(llvm::StringRef key, size_t place) const;
  bool matchesNames(const std::string &key, const Lists &lists) const;

  std::map<std::string, std::vector<std::vector<int64_t>>> numbers; ///< by path without them
  std::map<std::string, std::set<int64_t>> children;                ///< by path up to the number
  std::set<std::string> keys;                                       ///< paths without numbers
  std::set<std::string> unlisted; ///< paths without numbers of which a list cannot write all
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_LAYER_NUMBERS_H
