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

/// The numbers that occur in the paths of a model, and patterns for some of these paths. Pure.
class LayerNumbers {
public:
  explicit LayerNumbers(const std::vector<std::string> &all);

  /// A pattern that matches these paths, which differ in their numbers only, and no other path of the model: "h.*.up",
  /// "h.{0..2, 5}.up". A number without siblings is kept. Nothing if no combination of lists matches exactly these
  /// paths.
  std::optional<std::string> patternOf(const std::vector<std::string> &paths) const;

private:
  /// For each number of a path the listed values; an empty set stands for all.
  using Lists = std::vector<std::set<int64_t>>;

  bool isExact(const std::string &key, const Lists &lists, size_t count) const;
  bool hasSiblings(llvm::StringRef key, size_t position) const;
  bool matchesNames(const std::string &key, const Lists &lists) const;

  std::map<std::string, std::vector<std::vector<int64_t>>> numbers; ///< by path without numbers
  std::map<std::string, std::set<int64_t>> children;                ///< by path before the number
  std::set<std::string> keys;                                       ///< paths without numbers
  std::set<std::string> unlisted; ///< paths without numbers, some of whose numbers a list cannot print
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_LAYER_NUMBERS_H
