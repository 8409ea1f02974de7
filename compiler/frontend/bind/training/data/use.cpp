//===- use.cpp - data blocks without effect -------------------------------===//
//
// Reports data blocks that certainly have no effect, before layouts are known: blocks without options, or without
// parameters that the options apply to.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/training/training.h"

#include "llvm/ADT/STLExtras.h"

using namespace meshplan;
using namespace meshplan::bind;

namespace {

constexpr char shardAllHelp[] = "'shard parameters, gradients, optimizer'";

/// True if options of the block apply to a parameter with this use: frozen parameters are only gathered.
bool reaches(const BoundData &data, ParameterUse use) {
  return use == ParameterUse::Trained ||
         (use == ParameterUse::Frozen && llvm::is_contained(data.shard, DataKind::Parameters));
}

bool reachesAny(const BoundPlan &plan, const BoundData &data, llvm::ArrayRef<size_t> parameters) {
  return llvm::any_of(parameters, [&](size_t parameter) { return reaches(data, plan.parameterUse[parameter]); });
}

/// A block without options has no effect, unless it excludes its parameters from another block.
void checkOptions(const Context &context, const DataStatement &statement) {
  auto isGeneral = [](const DataStatement &other) { return other.paths.empty(); };
  bool takesOut = !isGeneral(statement) && llvm::any_of(context.syntax.data, isGeneral);
  if (statement.options.empty() && !takesOut)
    context.diagnostics.error(statement.range, "the block has no option, and so has no effect")
        .help("write one, as in 'bucket 64 MiB' or " + std::string(shardAllHelp) + ", or remove the block");
}

void checkParameters(const Context &context, const BoundPlan &plan, const BoundData &data) {
  // Offloaded parameters are checked separately.
  if (data.parameters.empty() || data.offloadOptimizer || reachesAny(plan, data, data.parameters))
    return;
  Diagnostic &error =
      context.diagnostics.error(data.range, "none of the " + std::to_string(data.parameters.size()) +
                                                " parameters of the block is trained: it has no effect");
  explainUntrained(context, plan, data.parameters.front(), error);
  bool isFrozen = llvm::any_of(data.parameters,
                               [&](size_t parameter) { return plan.parameterUse[parameter] == ParameterUse::Frozen; });
  error.help(isFrozen ? "write " + std::string(shardAllHelp) + " to shard them, or remove the block"
                      : "remove the block");
}

/// Reports units that move no parameter.
void checkUnits(const Context &context, const BoundPlan &plan, const BoundData &data) {
  for (const std::vector<BoundPaths> &unit : data.units)
    for (const BoundPaths &paths : unit) {
      if (paths.parameters.empty() || reachesAny(plan, data, paths.parameters))
        continue;
      Diagnostic &error = context.diagnostics.error(
          paths.range, "unit '" + paths.text + "' names no parameter that is gathered or reduced");
      explainUntrained(context, plan, paths.parameters.front(), error).help("remove the path from the unit");
    }
}

} // namespace

void bind::checkDataUse(const Context &context, const BoundPlan &plan) {
  for (auto [statement, data] : llvm::zip_equal(context.syntax.data, plan.data)) {
    size_t before = context.diagnostics.errorCount();
    checkOptions(context, statement);
    if (context.diagnostics.errorCount() == before)
      checkParameters(context, plan, data);
    if (context.diagnostics.errorCount() == before)
      checkUnits(context, plan, data);
  }
}
