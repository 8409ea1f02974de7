//===- loss_unit.cpp - a loss that the plan redefines ----------------------===//

#include "compiler/frontend/bind/context.h"
#include "runtime/schema/program_names.h"

#include "llvm/ADT/STLExtras.h"

#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

/// Words of the language; there is none for the model's own loss.
static constexpr std::pair<llvm::StringRef, LossUnit> units[] = {
    {"token", LossUnit::Token},
    {"sequence", LossUnit::Sequence},
};

llvm::StringRef meshplan::lossUnitName(LossUnit unit) {
  const auto *named = llvm::find_if(units, [&](const auto &each) { return each.second == unit; });
  return named == std::end(units) ? llvm::StringRef() : named->first;
}

llvm::StringRef meshplan::lossUnitMeaning(LossUnit unit) {
  switch (unit) {
  case LossUnit::Model:
    return "as the model computes it";
  case LossUnit::Token:
    return "the mean over all targets of the batch that count";
  case LossUnit::Sequence:
    return "the mean over the samples of the batch of the mean over the targets of each that count";
  }
  llvm_unreachable("unknown unit");
}

std::string meshplan::lossText(const BoundLoss &loss, const ModelOutline &model) {
  std::string unit = lossUnitName(loss.unit).str();
  return "loss " + model.outputs[loss.output].name + (unit.empty() ? "" : " per " + unit);
}

LossUnit bind::bindLossUnit(const Context &context, const LossStatement &statement, const BoundPlan &plan) {
  if (!statement.unit)
    return LossUnit::Model;
  const auto *named = llvm::find_if(units, [&](const auto &each) { return each.first == statement.unit->text; });
  if (named == std::end(units)) {
    context.diagnostics
        .error(statement.unit->range,
               "a loss is redefined per token or per sequence, and not per '" + statement.unit->text + "'")
        .help("write 'per token' or 'per sequence', or leave it out: the loss is then as the model computes it");
    return LossUnit::Model;
  }
  bool hasSamples = llvm::any_of(plan.inputs, [](const BoundInput &input) {
    return llvm::any_of(input.dims, [](const BoundDim &dim) { return dim.name == program_names::batchDim; });
  });
  if (named->second == LossUnit::Sequence && !hasSamples)
    context.diagnostics
        .error(statement.unit->range,
               "'per sequence' counts samples along the dim 'batch', and no input has a dim 'batch'")
        .help("name it: 'input NAME: [batch, ...]'");
  return named->second;
}
