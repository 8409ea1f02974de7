//===- path_tree.h - the paths of a model ------------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_FRONTEND_PATH_TREE_H
#define MESHPLAN_COMPILER_FRONTEND_PATH_TREE_H

#include "compiler/frontend/path_pattern.h"

#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace meshplan {

/// Paths as a tree of components, so that a pattern visits only nodes whose prefix it matches. Inner nodes that are not
/// paths of the set are kept, too.
class PathTree {
public:
  explicit PathTree(llvm::ArrayRef<std::string> paths);

  /// Indices of the paths that match, sorted.
  std::vector<size_t> match(const PatternSequence &pattern) const;

  /// Names of the components below the nodes that `pattern` matches, in order of appearance, each once. For an empty
  /// pattern, those at the top.
  std::vector<std::string> namesBelow(const PatternSequence &pattern) const;

private:
  struct Node {
    std::string name;
    std::vector<size_t> paths; ///< indices of the paths that end here
    std::vector<size_t> children;
    llvm::StringMap<size_t> byName;
  };

  template <typename Visit> void walk(size_t node, PathMatcher &matcher, PathMatcher::State state, Visit visit) const;

  std::vector<Node> nodes;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_PATH_TREE_H
