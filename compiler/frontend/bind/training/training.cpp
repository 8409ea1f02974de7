//===- training.cpp - the statements of training ---------------------------===//
//
// Most statements of training have a source of their own. Here are the small ones, and the order in which all are
// bound: each is checked against those before it (bindTraining).
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/training/training.h"

#include "compiler/support/nearest.h"

#include <cmath>
#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

/// The innermost module of the map that contains the path; null if there is none.
const std::pair<const size_t, SourceRange> *findAround(const Context &context, llvm::StringRef path,
                                                       const std::map<size_t, SourceRange> &modules) {
  const std::pair<const size_t, SourceRange> *nearest = nullptr;
  for (const auto &named : modules) {
    llvm::StringRef outer = context.model.modules[named.first].path;
    bool isAround = outer.empty() ? !path.empty() : path.starts_with(outer.str() + ".");
    if (isAround && (!nearest || outer.size() > context.model.modules[nearest->first].path.size()))
      nearest = &named;
  }
  return nearest;
}

/// Reports modules whose recompute is redundant, because a module around them is recomputed, and a recompute of the
/// whole model, which saves no memory.
void checkNested(const Context &context, const std::map<size_t, SourceRange> &named) {
  for (const auto &[module, range] : named) {
    const std::string &path = context.model.modules[module].path;
    if (path.empty()) {
      context.diagnostics
          .error(range, "'recompute' of the whole model saves no memory: all of it is recomputed before its first "
                        "gradient")
          .help("name its layers");
      return;
    }
    if (const auto *outer = findAround(context, path, named)) {
      context.diagnostics
          .error(range, "module '" + path + "' is inside '" + context.model.modules[outer->first].path +
                            "', which is recomputed with all that is inside")
          .note(outer->second, "it is named here")
          .help("remove one of the two");
      return;
    }
  }
}

void bindRecomputes(const Context &context, BoundPlan &plan) {
  std::map<size_t, SourceRange> seen;
  for (const RecomputeStatement &statement : context.syntax.recomputes) {
    BoundRecompute &recompute = plan.recomputes.emplace_back();
    recompute.range = statement.range;
    for (const Word &word : statement.keep)
      recompute.keep.push_back(word.text);
    for (const PathPattern &path : statement.paths) {
      recompute.paths.push_back(bindModulePath(context, path, "recompute"));
      std::optional<size_t> twice;
      for (size_t module : recompute.paths.back().modules)
        if (!seen.try_emplace(module, path.range).second && !twice)
          twice = module;
      if (twice)
        context.diagnostics.error(path.range, "module '" + context.model.modules[*twice].path + "' is recomputed twice")
            .note(seen[*twice], "it is named here, too")
            .help("remove it from one of the two");
    }
  }
  checkNested(context, seen);
}

void bindClip(const Context &context, BoundPlan &plan) {
  for (const ClipGradNormStatement &statement : context.syntax.clips) {
    bool isNumber = statement.norm.value > 0 && std::isfinite(statement.norm.value) && statement.norm.unit.empty();
    if (!isNumber)
      context.diagnostics.error(statement.norm.range, "the norm is a number above 0");
    if (context.syntax.optimizers.empty())
      context.diagnostics.error(statement.range, "'clip_grad_norm' without an optimizer: nothing is clipped")
          .help("add 'optimizer KIND { ... }', or remove the statement");
    plan.clipGradNorm = BoundClip{statement.norm.value, statement.range};
  }
}

void bindNonfinite(const Context &context, BoundPlan &plan) {
  static const std::vector<std::string> actions = {"stop", "skip"};
  for (const NonfiniteStatement &statement : context.syntax.nonfinites) {
    if (statement.subject.text != "gradients")
      context.diagnostics
          .error(statement.subject.range, "'nonfinite' looks at gradients, and not at '" + statement.subject.text + "'")
          .help("the form is 'nonfinite gradients stop | skip'");
    if (!llvm::is_contained(actions, statement.action.text))
      context.diagnostics.error(statement.action.range, "unknown action '" + statement.action.text + "'")
          .help(suggest(statement.action.text, actions, "actions"));
    if (context.syntax.optimizers.empty())
      context.diagnostics.error(statement.range, "'nonfinite' without an optimizer: no step is taken")
          .help("add 'optimizer KIND { ... }', or remove the statement");
    NonfiniteAction action = statement.action.text == "skip" ? NonfiniteAction::Skip : NonfiniteAction::Stop;
    plan.nonfinite = BoundNonfinite{action, statement.range};
  }
}

} // namespace

std::string bind::lossHelp(const Context &context) {
  std::vector<std::string> scalars;
  for (const OutlineValue &output : context.model.outputs)
    if (output.dims.empty())
      scalars.push_back(output.name);
  if (scalars.empty())
    return "return the loss, a scalar, from the model, and add 'loss NAME'";
  if (scalars.size() == 1)
    return "add 'loss " + scalars.front() + "'";
  return "add 'loss NAME'; outputs that are scalars: " + quotedList(scalars, ",");
}

void bind::bindTraining(const Context &context, BoundPlan &plan) {
  checkMicrobatches(context, plan);
  bindRecomputes(context, plan);
  bindRoutings(context, plan);
  // Before the optimizer and the precision, which check what they state against the parameters that are trained. The
  // loss scale comes last, because it depends on the precision and decides what non-finite gradients do if nothing does
  // yet.
  bindTrainable(context, plan);
  checkDataUse(context, plan);
  for (const OptimizerStatement &statement : context.syntax.optimizers) {
    if (context.syntax.losses.empty())
      context.diagnostics.error(statement.range, "a plan without a loss cannot be trained").help(lossHelp(context));
    bindOptimizer(context, statement, plan);
  }
  for (const PrecisionStatement &statement : context.syntax.precisions)
    bindPrecision(context, statement, plan);
  bindClip(context, plan);
  bindNonfinite(context, plan);
  bindLossScale(context, plan);
  checkOffload(context, plan);
  for (const InitStatement &statement : context.syntax.inits)
    bindInit(context, statement, plan);
  for (const OverlapStatement &statement : context.syntax.overlaps)
    bindOverlap(context, statement, plan);
  checkHalves(context, plan);
}
