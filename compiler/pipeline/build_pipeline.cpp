//===- build_pipeline.cpp - which passes make a phase ---------------------===//
//
// Reads top to bottom like the table of phases in docs/overview.md.
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/build_pipeline.h"
#include "compiler/target/artifact/passes.h"
#include "compiler/transforms/differentiate/passes.h"
#include "compiler/transforms/group/passes.h"
#include "compiler/transforms/import/passes.h"
#include "compiler/transforms/partition/passes.h"
#include "compiler/transforms/place/passes.h"
#include "compiler/transforms/propagate/passes.h"
#include "compiler/transforms/schedule/passes.h"
#include "dialect/plan/plan.h"
#include "dialect/sched/sched.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace meshplan;

void meshplan::registerDialects(DialectRegistry &registry) {
  registry.insert<base::BaseDialect, plan::PlanDialect, sched::SchedDialect, func::FuncDialect>();
}

void meshplan::buildPhase(OpPassManager &manager, Phase phase, const PipelineOptions &options) {
  switch (phase) {
  case Phase::import:
    manager.addNestedPass<func::FuncOp>(createSpreadChosenRows());
    // Before the reference is kept: the reference program includes the casts and the loss that the plan defines.
    manager.addPass(createAutocast(AutocastOptions{options.device}));
    manager.addPass(createNormalizeLoss());
    manager.addNestedPass<func::FuncOp>(createDecomposeBatchNorm());
    if (options.reference)
      manager.addPass(createKeepReference());
    // Attention first: recognition replaces the masks, and simplification then removes what computed them as dead code.
    manager.addNestedPass<func::FuncOp>(createRecognizeAttention());
    manager.addNestedPass<func::FuncOp>(createFoldAttention());
    manager.addNestedPass<func::FuncOp>(createFoldLookups());
    manager.addNestedPass<func::FuncOp>(createDecomposeLoss());
    manager.addNestedPass<func::FuncOp>(createSplitLossReductions());
    manager.addNestedPass<func::FuncOp>(createSimplify());
    manager.addNestedPass<func::FuncOp>(createUnmergeDims());
    manager.addNestedPass<func::FuncOp>(createRecognizeExperts());
    manager.addNestedPass<func::FuncOp>(createLowerRandomOps());
    manager.addNestedPass<func::FuncOp>(createRefuseRandomOps());
    manager.addNestedPass<func::FuncOp>(createCombineSlices());
    return;
  case Phase::place:
    manager.addPass(createPlaceRouting());
    manager.addPass(createPlaceInit());
    manager.addPass(createPlaceStyles());
    manager.addPass(createPlaceBorders());
    manager.addPass(createPlaceData());
    manager.addPass(createPlacePrecision());
    return;
  case Phase::differentiate:
    manager.addPass(createAddEvaluation());
    manager.addPass(createDifferentiate());
    manager.addPass(createCountTokens());
    manager.addPass(createKeepAttentionResults(KeepAttentionResultsOptions{options.device}));
    manager.addPass(createPlaceMicrobatches());
    manager.addPass(createRecompute());
    manager.addPass(createAddOptimizerStep(AddOptimizerStepOptions{options.gradients}));
    manager.addPass(createBalanceBias());
    return;
  case Phase::propagate:
    manager.addPass(createPropagateShardings(PropagateShardingsOptions{options.strict}));
    return;
  case Phase::partition:
    manager.addPass(createStoreRouted());
    manager.addPass(createPlaceExchanges());
    manager.addPass(createDropShapes());
    manager.addPass(createGatherRows());
    manager.addPass(createRepeatForward());
    manager.addPass(createLowerReshards());
    manager.addPass(createWidenAddends());
    manager.addPass(createLocalizeCalls());
    manager.addPass(createSplitMicrobatches());
    manager.addPass(createLowerExchanges());
    if (options.halves)
      manager.addPass(createMergeHalves());
    return;
  case Phase::group:
    manager.addPass(createGroupCollectives());
    manager.addPass(createLayOutBuffers());
    manager.addPass(createInsertTransfers());
    return;
  case Phase::schedule:
    manager.addPass(createSchedule(
        options.cluster, ScheduleOptions{.solver = options.solver, .parts = options.mostParts}, options.times));
    return;
  }
}

void meshplan::registerPasses() {
  registerImportPasses();
  registerPlacePasses();
  registerDifferentiatePasses();
  registerPropagatePasses();
  registerPartitionPasses();
  registerGroupPasses();
  registerSchedulePasses();
  registerArtifactPasses();
}
