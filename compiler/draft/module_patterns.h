//===- module_patterns.h - modules as patterns of a plan --------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_MODULE_PATTERNS_H
#define MESHPLAN_COMPILER_DRAFT_MODULE_PATTERNS_H

#include <cstddef>
#include <string>
#include <vector>

namespace meshplan {

/// A module and its label; modules with equal labels may share a pattern.
struct LabelledModule {
  std::string path;
  std::string label;
};

/// "self_attn.{q, k, v}_proj" in the block "model.layers.*".
struct ModulePattern {
  std::string block; ///< empty at the top
  std::string path;
  std::string label;
  std::vector<size_t> modules; ///< indices into the given modules

  /// The whole pattern on one line.
  std::string text() const { return block.empty() ? path : block + "." + path; }
};

/// Patterns that match these modules and no others of `all`. In equal layers, a number becomes `*` if all layers have
/// the same label, else a list; siblings become alternatives. In the order of the first module of each pattern, with
/// the patterns of a block together. Pure.
///
/// Example: the modules layers.0.q, layers.0.k, layers.1.q, layers.1.k with one label.
///
///   group by path without numbers     layers.*.q (0, 1)    layers.*.k (0, 1)
///   list all of them or some          layers.*.q           layers.*.k          (if there are only layers 0 and 1)
///   block up to the list              block layers.*: q    block layers.*: k
///   join siblings                     block layers.*: {q, k}
std::vector<ModulePattern> patternsOf(const std::vector<LabelledModule> &modules, const std::vector<std::string> &all);

/// Names as alternatives: "{q, k, v}_proj", "wi_{0, 1}"; a single name is unchanged.
std::string alternatives(const std::vector<std::string> &names);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_MODULE_PATTERNS_H
