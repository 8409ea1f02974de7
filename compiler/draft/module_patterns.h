//===- module_patterns.h - modules as patterns of a plan --------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_MODULE_PATTERNS_H
#define MESHPLAN_COMPILER_DRAFT_MODULE_PATTERNS_H

#include <cstddef>
#include <string>
#include <vector>

namespace meshplan {

/// A module and what is said of it; modules with equal texts may share a pattern.
struct LabelledModule {
  std::string path;
  std::string label;
};

/// "self_attn.{q, k, v}_proj" in the block "model.layers.*".
struct ModulePattern {
  std::string block; ///< empty at the top
  std::string path;
  std::string label;
  std::vector<size_t> modules; ///< indices into what was given

  /// The whole pattern on one line.
  std::string text() const { return block.empty() ? path : block + "." + path; }
};

/// Patterns that match these modules and no other of `all`: equal layers become `*` if all of them have one label, else
/// a list of numbers; neighbours of one parent become alternatives. In the order of the first module of each, and
/// the patterns of a block together. Pure.
std::vector<ModulePattern> patternsOf(const std::vector<LabelledModule> &modules, const std::vector<std::string> &all);

/// Names as alternatives: "{q, k, v}_proj", "wi_{0, 1}"; one name as it is.
std::string alternatives(const std::vector<std::string> &names);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_MODULE_PATTERNS_H
