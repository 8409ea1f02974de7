//===- huggingface.h - the parallel plan of a transformers model -*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ADOPT_HUGGINGFACE_H
#define MESHPLAN_COMPILER_ADOPT_HUGGINGFACE_H

#include "compiler/adopt/adopted_plan.h"
#include "compiler/adopt/path_rules.h"
#include "compiler/adopt/style_names.h"
#include "compiler/adopt/yaml_tree.h"
#include <map>

namespace meshplan {

/// The extra file of an archive in which tools/export_model.py stores the parallel plan of a model.
inline constexpr const char *parallelPlanFile = "parallel_plan.json";

/// Reads plans from the JSON of a configuration: `tp_plan` and `ep_plan`, whose names start at the model, and
/// `base_model_tp_plan` and `base_model_ep_plan`, whose names start at `base_model_prefix` or, without it, at the
/// module below which most of them match. `axes` are the tensor axes: "tp". Reports malformed plans, unknown styles and
/// rules that match nothing; empty after an error. Pure.
std::optional<AdoptedPlan> adoptHuggingFace(const SourceBuffer &source, const ModelOutline &model,
                                            const std::string &axes, Diagnostics &diagnostics);

/// Translates rules with the styles of Hugging Face to clauses of modules. As in transformers, a rule of a parameter
/// holds beside that of its module, wherever they stand, and a later rule replaces an earlier one for the same module
/// or parameter. Rules that distribute experts are left out with a warning.
class ForeignRules {
public:
  ForeignRules(const ModelOutline &model, std::string axes, Diagnostics &diagnostics)
      : model(model), paths(model), axes(std::move(axes)), diagnostics(diagnostics) {}

  /// Reads a map from names to styles. `prefix` is the module at which names start; null: the module below which most
  /// names match.
  void take(const YamlEntry &plan, const YamlEntry *prefix);

  /// Adds the translated clauses to `plan`. False after an error.
  bool finish(AdoptedPlan &plan);

private:
  struct Placement {
    std::string leaf; ///< the name of the parameter in the module
    std::string layout;
    std::string word; ///< the foreign style
    bool divides = false;
  };
  struct ModuleClauses {
    std::string style;
    std::string word; ///< the foreign style, if it differs
    bool divides = false;
    bool sequence = false;
    std::vector<Placement> placements; ///< one for each parameter
  };
  struct Left {
    SourceRange range;
    std::vector<std::string> rules;
  };

  std::optional<std::string> startOf(const YamlEntry &plan, const YamlEntry *prefix);
  void takeRule(const std::string &start, const YamlEntry &rule);
  void reportUnmatched(const std::string &start, const YamlEntry &rule);
  void giveModule(size_t module, const ForeignStyle &style);
  void giveParameter(size_t module, size_t parameter, const ForeignStyle &style);
  AdoptedStyle translated(size_t module, const ModuleClauses &own) const;
  void leaveExperts(size_t module, const ForeignStyle &style);
  void reportExperts();

  const ModelOutline &model;
  PathRules paths;
  std::string axes;
  Diagnostics &diagnostics;
  std::map<size_t, ModuleClauses> clauses;                 ///< by module
  std::map<size_t, std::string> whole;                     ///< reasons, by module
  std::map<std::string, Left> experts;                     ///< by style
  std::map<std::string, std::vector<std::string>> nothing; ///< rules, by style
  std::vector<std::string> wholeInputs;                    ///< modules
  size_t matched = 0;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_HUGGINGFACE_H
