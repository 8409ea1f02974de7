//===- add_optimizer_step.cpp - updates parameters by gradients -----------===//
//
// See AddOptimizerStep in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/differentiate/optimizer_step.h"
#include "compiler/transforms/differentiate/passes.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/new_arguments.h"
#include "dialect/plan/programs.h"

namespace meshplan {
#define GEN_PASS_DEF_ADDOPTIMIZERSTEP
#include "compiler/transforms/differentiate/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

struct AddOptimizerStepPass : meshplan::impl::AddOptimizerStepBase<AddOptimizerStepPass> {
  using AddOptimizerStepBase::AddOptimizerStepBase;

  void runOnOperation() final {
    ModuleOp module = getOperation();
    SmallVector<OptimizerOp> statements(module.getOps<OptimizerOp>());
    auto step = programOf(module, base::ProgramRole::step);
    SmallVector<PrecisionOp> precisions(module.getOps<PrecisionOp>());
    if (step && !statements.empty() && !keepGradients)
      OptimizerStep(step, statements.front(), precisions.empty() ? PrecisionOp() : precisions.front()).add();
    for (auto function : module.getOps<func::FuncOp>())
      removeArgumentAttributes(function, attr::Group::getNameStr());
    for (OptimizerOp statement : statements)
      statement.erase();
    for (PrecisionOp precision : precisions)
      precision.erase();
  }
};

} // namespace
