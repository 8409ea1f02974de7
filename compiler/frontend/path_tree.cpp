//===- path_tree.cpp - the paths of a model --------------------------------===//
//
// Paths share their prefixes, and so do the steps of a matcher: each node is visited once, with the state that its path
// leads to, instead of matching `layers.0.self_attn.` again for each of its parameters. A subtree is left where the
// state is dead, so `layers.3.**` enters one layer of a hundred.

#include "compiler/frontend/path_tree.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace meshplan;

PathTree::PathTree(llvm::ArrayRef<std::string> paths) : nodes(1) {
  for (size_t i = 0; i < paths.size(); ++i) {
    size_t node = 0;
    llvm::StringRef rest = paths[i];
    while (!rest.empty()) {
      auto [name, tail] = rest.split('.');
      auto [child, isNew] = nodes[node].byName.try_emplace(name, nodes.size());
      size_t next = child->second;
      if (isNew) {
        nodes[node].children.push_back(next);
        nodes.emplace_back().name = name.str();
      }
      node = next;
      rest = tail;
    }
    nodes[node].paths.push_back(i);
  }
}

template <typename Visit>
void PathTree::walk(size_t node, PathMatcher &matcher, PathMatcher::State state, Visit visit) const {
  std::vector<std::pair<size_t, PathMatcher::State>> open = {{node, state}};
  while (!open.empty()) {
    auto [current, at] = open.back();
    open.pop_back();
    if (matcher.accepts(at))
      visit(nodes[current]);
    // Reversed because the last one pushed is visited first: nodes are visited in the order of the model.
    for (size_t child : llvm::reverse(nodes[current].children)) {
      PathMatcher::State next = matcher.advance(at, nodes[child].name);
      if (next != PathMatcher::dead)
        open.push_back({child, next});
    }
  }
}

std::vector<size_t> PathTree::match(const PatternSequence &pattern) const {
  PathMatcher matcher(pattern);
  std::vector<size_t> result;
  walk(0, matcher, matcher.start(),
       [&](const Node &node) { result.insert(result.end(), node.paths.begin(), node.paths.end()); });
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<std::string> PathTree::namesBelow(const PatternSequence &pattern) const {
  PathMatcher matcher(pattern);
  std::vector<std::string> result;
  llvm::StringMap<bool> seen;
  walk(0, matcher, matcher.start(), [&](const Node &node) {
    for (size_t child : node.children)
      if (seen.try_emplace(nodes[child].name, true).second)
        result.push_back(nodes[child].name);
  });
  return result;
}
