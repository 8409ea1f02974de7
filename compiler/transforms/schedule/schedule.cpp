//===- schedule.cpp - plan -> sched ---------------------------------------===//
//
// Runs after partition: every value has a decided sharding and data moves only
// in collectives.
//
//===----------------------------------------------------------------------===//

#include "compiler/scheduling/algorithms.h"
#include "compiler/transforms/schedule/passes.h"
#include "compiler/transforms/schedule/write_program.h"

using namespace mlir;

namespace meshplan {

#define GEN_PASS_DEF_SCHEDULE
#include "compiler/transforms/schedule/passes.h.inc"

/// Solves one function and writes its program.
static LogicalResult scheduleFunction(OpBuilder &builder, func::FuncOp function, LayoutTable &layouts,
                                      CommunicatorTable &communicators) {
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitError() << "cannot be scheduled: it has " << function.getBody().getBlocks().size()
                                << " blocks, must have one";
  FailureOr<ProjectedFunction> projection = project(function, layouts, communicators);
  if (failed(projection))
    return failure();
  llvm::Expected<scheduling::Solution> solution = scheduling::programOrder(projection->problem);
  if (!solution)
    return function.emitError() << "cannot be scheduled: " << llvm::toString(solution.takeError());
  writeProgram(builder, function, *projection, *solution, layouts);
  return success();
}

/// What a program holds on the device from start to end.
static int64_t heldBytes(sched::MemoryAttr memory) {
  return memory.getParameters() + memory.getConstants() + memory.getInputs() + memory.getStates() +
         memory.getAccumulators();
}

/// A program needs what those need that it runs for microbatches, and meanwhile holds what only it reads.
static void includePasses(ModuleOp module) {
  for (auto pass : module.getOps<sched::ProgramOp>()) {
    auto step = module.lookupSymbol<sched::ProgramOp>(pass.getBefore().value_or("step"));
    if (!step || !pass.getRuns())
      continue;
    sched::MemoryAttr own = *pass.getMemory(), all = *step.getMemory();
    int64_t besides = heldBytes(all) - heldBytes(own);
    step.setMemoryAttr(sched::MemoryAttr::get(module.getContext(), all.getParameters(), all.getConstants(),
                                              all.getInputs(), std::max(all.getPeak(), own.getPeak() + besides),
                                              std::max(all.getLeast(), own.getLeast() + besides), all.getStates(),
                                              all.getAccumulators(), all.getHostParameters(), all.getHostStates(),
                                              std::max(all.getHostPeak(), own.getHostPeak() + all.getHostStates())));
  }
}

/// Functions that stood in modules of their own (plan-keep-reference) become ones of `module`, behind the others.
static void takeOut(ModuleOp module) {
  for (ModuleOp own : llvm::make_early_inc_range(module.getOps<ModuleOp>())) {
    for (func::FuncOp function : llvm::make_early_inc_range(own.getOps<func::FuncOp>()))
      function->moveBefore(module.getBody(), module.getBody()->end());
    own.erase();
  }
}

namespace {
struct Schedule : public impl::ScheduleBase<Schedule> {
  using ScheduleBase::ScheduleBase;

  void runOnOperation() final {
    ModuleOp module = getOperation();
    plan::MeshOp mesh = plan::getMesh(module);
    if (!mesh) {
      module.emitError("cannot be scheduled: it has no mesh");
      return signalPassFailure();
    }
    takeOut(module);
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    LayoutTable allRanks(mesh), oneRank(nullptr);
    CommunicatorTable communicators;
    for (func::FuncOp function : functions)
      if (!function->hasAttr("plan.single_rank"))
        allRanks.addRankClasses(function);
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    for (func::FuncOp function : functions) {
      LayoutTable &layouts = function->hasAttr("plan.single_rank") ? oneRank : allRanks;
      if (failed(scheduleFunction(builder, function, layouts, communicators)))
        return signalPassFailure();
    }
    builder.setInsertionPoint(mesh);
    writeDeclarations(builder, mesh, communicators);
    for (func::FuncOp function : functions)
      function.erase();
    mesh.erase();
    includePasses(module);
  }
};
} // namespace

} // namespace meshplan
