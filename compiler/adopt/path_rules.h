//===- path_rules.h - patterns of modules in foreign plans ------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ADOPT_PATH_RULES_H
#define MESHPLAN_COMPILER_ADOPT_PATH_RULES_H

#include "compiler/frontend/model_outline.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace meshplan {

/// A parameter that a rule matches, under its name in a module.
struct RuleParameter {
  size_t module = 0;
  size_t parameter = 0;
};

/// The modules and parameters that a rule matches.
struct RuleMatch {
  std::vector<size_t> modules;
  std::vector<RuleParameter> parameters;

  bool empty() const { return modules.empty() && parameters.empty(); }
};

/// Matches rules such as "layers.*.mlp.down_proj", where `*` is the number of a layer, with the modules and parameters
/// of a model. All rules of one plan are relative to one module, such as the base model inside a model with a head.
class PathRules {
public:
  explicit PathRules(const ModelOutline &model);

  /// The modules (as paths, "" first) below which the largest number of rules match; several if they are equally good,
  /// none if nothing matches.
  std::vector<std::string> startsOf(llvm::ArrayRef<std::string> rules) const;

  RuleMatch match(llvm::StringRef start, llvm::StringRef rule) const;

  /// All names of modules and parameters, with `*` for numbers, each once.
  const std::vector<std::string> &names() const { return allNames; }

private:
  struct Path {
    std::vector<std::string> components;
    size_t module = 0;
    std::optional<size_t> parameter;
  };

  std::vector<Path> paths;
  std::vector<std::string> allNames;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_PATH_RULES_H
