//===- trainable.cpp - trained, frozen and unused parameters ---------------===//
//
// A parameter is trained unless a statement says otherwise: `freeze` names what is not trained, `train only` what is,
// and `unused` what the loss does not reach. The archive freezes too (requires_grad). Statements are compared with each
// other and with the archive, so that none of them is without effect.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/training/training.h"
#include "compiler/frontend/statement_forms.h"

#include "llvm/ADT/STLExtras.h"

#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

class TrainableReader {
public:
  TrainableReader(const Context &context, BoundPlan &plan)
      : context(context), plan(plan), named(context.model.parameters.size()) {}

  void run();

private:
  /// The first path that names a parameter.
  struct Naming {
    TrainableStatement::Kind kind;
    SourceRange range;
  };

  void name(TrainableStatement::Kind kind, const BoundPaths &paths);
  /// Reports a path whose parameters the archive freezes anyway; false then.
  bool checkChanges(TrainableStatement::Kind kind, const BoundPaths &paths);
  /// Reports a parameter that cannot be used in this way; false then.
  bool check(TrainableStatement::Kind kind, const BoundPaths &paths, size_t parameter);
  void settle();
  void checkOptimizer() const;

  const Context &context;
  BoundPlan &plan;
  std::vector<std::optional<Naming>> named; ///< by parameter
};

} // namespace

void TrainableReader::run() {
  for (const TrainableStatement &statement : context.syntax.trainable)
    plan.trainable.push_back({statement.kind, bindPaths(context, statement.paths), statement.range});
  size_t before = context.diagnostics.errorCount();
  for (const BoundTrainable &statement : plan.trainable)
    for (const BoundPaths &paths : statement.paths)
      name(statement.kind, paths);
  settle();
  if (context.diagnostics.errorCount() == before)
    checkOptimizer();
}

void TrainableReader::name(TrainableStatement::Kind kind, const BoundPaths &paths) {
  bool isRight = checkChanges(kind, paths);
  for (size_t parameter : paths.parameters) {
    // One error for a path, not one for each parameter.
    isRight = isRight && check(kind, paths, parameter);
    if (!named[parameter])
      named[parameter] = Naming{kind, paths.range};
  }
}

bool TrainableReader::checkChanges(TrainableStatement::Kind kind, const BoundPaths &paths) {
  auto isFree = [&](size_t parameter) { return context.model.parameters[parameter].requiresGrad; };
  if (kind == TrainableStatement::Kind::TrainOnly || paths.parameters.empty() || llvm::any_of(paths.parameters, isFree))
    return true;
  context.diagnostics
      .error(paths.range, "'" + keywordOf(kind) + " " + paths.text + "' has no effect: the archive freezes '" +
                              parameterPath(context.model, context.model.parameters[paths.parameters.front()]) + "'" +
                              (paths.parameters.size() == 1 ? "" : " and all others that it names"))
      .help("remove the path from the statement");
  return false;
}

bool TrainableReader::check(TrainableStatement::Kind kind, const BoundPaths &paths, size_t parameter) {
  std::string path = parameterPath(context.model, context.model.parameters[parameter]);
  if (named[parameter] && named[parameter]->kind != kind) {
    context.diagnostics
        .error(paths.range, "'" + keywordOf(kind) + "' names parameter '" + path + "', which '" +
                                keywordOf(named[parameter]->kind) + "' names, too")
        .note(named[parameter]->range, "it is named here")
        .help("a parameter is either trained, frozen or unused: remove it from one of the two");
    return false;
  }
  if (kind != TrainableStatement::Kind::TrainOnly || context.model.parameters[parameter].requiresGrad)
    return true;
  context.diagnostics.error(paths.range, "'train only' names parameter '" + path + "', which the archive freezes")
      .help("export the model with requires_grad of the parameter, or leave it out");
  return false;
}

void TrainableReader::settle() {
  auto only =
      llvm::find_if(plan.trainable, [](const auto &each) { return each.kind == TrainableStatement::Kind::TrainOnly; });
  for (size_t parameter = 0; parameter < named.size(); ++parameter) {
    ParameterUse use = ParameterUse::Trained;
    SourceRange range;
    // The order is the precedence: no statement can train what the archive freezes, and a path that names the parameter
    // wins over 'train only', which freezes all that is not named.
    if (!context.model.parameters[parameter].requiresGrad) {
      use = ParameterUse::Frozen;
    } else if (named[parameter] && named[parameter]->kind != TrainableStatement::Kind::TrainOnly) {
      use = named[parameter]->kind == TrainableStatement::Kind::Freeze ? ParameterUse::Frozen : ParameterUse::Unused;
      range = named[parameter]->range;
    } else if (!named[parameter] && only != plan.trainable.end()) {
      use = ParameterUse::Frozen;
      range = only->range;
    }
    plan.parameterUse.push_back(use);
    plan.parameterUseRange.push_back(range);
  }
}

void TrainableReader::checkOptimizer() const {
  if (context.syntax.optimizers.empty() || llvm::is_contained(plan.parameterUse, ParameterUse::Trained))
    return;
  size_t all = plan.parameterUse.size();
  std::string reason = "the model has no parameter";
  if (all != 0)
    reason = "of " + std::to_string(all) + " parameters " +
             std::to_string(llvm::count(plan.parameterUse, ParameterUse::Frozen)) + " are frozen, " +
             std::to_string(llvm::count(plan.parameterUse, ParameterUse::Unused)) + " unused";
  Diagnostic &error =
      context.diagnostics.error(context.syntax.optimizers.front().range, "nothing is left to train: " + reason);
  for (const BoundTrainable &statement : plan.trainable)
    error.note(statement.range, statement.kind == TrainableStatement::Kind::Unused ? "unused here" : "frozen here");
  if (size_t fixed = llvm::count_if(context.model.parameters, [](const auto &each) { return !each.requiresGrad; }))
    error.help(std::to_string(fixed) + (fixed == 1 ? " parameter requires" : " parameters require") +
               " no gradient in the archive");
  error.help("remove the optimizer, or train a parameter");
}

Diagnostic &bind::explainUntrained(const Context &context, const BoundPlan &plan, size_t parameter,
                                   Diagnostic &diagnostic) {
  std::string path = "'" + parameterPath(context.model, context.model.parameters[parameter]) + "'";
  std::string state = plan.parameterUse[parameter] == ParameterUse::Frozen ? " is frozen" : " is unused";
  if (plan.parameterUseRange[parameter].hasLine())
    return diagnostic.note(plan.parameterUseRange[parameter], path + state + " by this statement");
  return diagnostic.help(path + " does not require a gradient in the archive");
}

void bind::bindTrainable(const Context &context, BoundPlan &plan) { TrainableReader(context, plan).run(); }
