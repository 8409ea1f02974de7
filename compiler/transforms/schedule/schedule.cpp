//===- schedule.cpp - plan -> sched ---------------------------------------===//
//
// Runs after partition: every value has a decided sharding, and data moves only
// in collectives.
//
//===----------------------------------------------------------------------===//

#include "compiler/cluster/read_cluster.h"
#include "compiler/scheduling/algorithms.h"
#include "compiler/scheduling/choices.h"
#include "compiler/scheduling/defer.h"
#include "compiler/scheduling/memory_profile.h"
#include "compiler/transforms/schedule/choices/merges.h"
#include "compiler/transforms/schedule/choices/resolve_choices.h"
#include "compiler/transforms/schedule/choices/splits.h"
#include "compiler/transforms/schedule/describe_peak.h"
#include "compiler/transforms/schedule/instances.h"
#include "compiler/transforms/schedule/passes.h"
#include "compiler/transforms/schedule/row_loads.h"
#include "compiler/transforms/schedule/time_program.h"
#include "compiler/transforms/schedule/write_program.h"
#include "dialect/plan/programs.h"

using namespace mlir;

namespace meshplan {

#define GEN_PASS_DEF_SCHEDULE
#include "compiler/transforms/schedule/passes.h.inc"

/// Solves a problem within the peak memory of program order.
static llvm::Expected<scheduling::Solution> solve(scheduling::Problem &problem, const scheduling::NamedSolver &solver) {
  llvm::Expected<scheduling::Solution> program = scheduling::programOrder(problem);
  if (!program || solver.solve == scheduling::programOrder)
    return program;
  llvm::Expected<scheduling::Resolution> resolved = scheduling::resolve(problem, program->choices);
  if (!resolved)
    return resolved.takeError();
  problem.memoryLimit.clear();
  for (const scheduling::Peak &peak : scheduling::profileMemory(resolved->problem, {program->steps}).peaks)
    problem.memoryLimit.push_back(peak.bytes);
  return solver.solve(problem);
}

namespace {
/// A problem and its solution. `forward` and `eval` are often the same problem, one after the other.
struct Solved {
  scheduling::Problem problem; ///< without a limit of memory
  scheduling::Solution solution;
  scheduling::ClassBytes memoryLimit; ///< within which it was solved
};
} // namespace

/// Collectives that may be split. Each is in a Splittable for each number of parts.
static int64_t countSplittable(const scheduling::Problem &problem) {
  llvm::DenseSet<unsigned> collectives;
  for (const scheduling::Splittable &splittable : problem.splittables)
    for (const scheduling::SplitMember &member : splittable.members)
      if (problem.operations[member.operation].isCollective())
        collectives.insert(member.operation);
  return collectives.size();
}

/// Raises the limit of memory by what the first instance makes for all: it is held longer than the list of one instance
/// says. `problem` is that of the instances. Fails if their lists together break a rule, which is a defect.
static llvm::Error holdForAll(const scheduling::Instances &instances, scheduling::Problem &problem) {
  if (!instances.isLinked())
    return llvm::Error::success();
  scheduling::Unrolled unrolled = scheduling::unroll(instances);
  scheduling::MemoryProfile profile = scheduling::profileMemory(unrolled.problem, unrolled.solution);
  for (auto [limit, peak] : llvm::zip(problem.memoryLimit, profile.peaks))
    limit = std::max(limit, peak.bytes);
  unrolled.problem.memoryLimit = problem.memoryLimit;
  if (llvm::Error error = unrolled.problem.check())
    return error;
  return scheduling::verify(unrolled.problem, unrolled.solution);
}

namespace {
/// What all functions of a module are scheduled with.
struct Target {
  const Cluster &cluster;
  const scheduling::NamedSolver &solver;
  int64_t mostParts; ///< into which a product may be split
  /// Layouts of all ranks for other numbers of rows of experts than those of the times.
  LayoutTable &reserved, &worst;
};
} // namespace

/// The estimates of a function. Where ranks may have other numbers of rows of experts, the memory is that with the rows
/// that the plan reserves.
static FailureOr<ProgramEstimates> estimate(func::FuncOp function, const ProjectedFunction &projection,
                                            const scheduling::Instances &instances,
                                            ArrayRef<scheduling::InstanceTimes> times, const Target &target,
                                            CommunicatorTable &communicators) {
  if (!hasAnyRows(function, target.worst))
    return estimatesOf(function, projection, instances, times);
  FailureOr<ProjectedFunction> reserved =
      withLoad(function, projection, target.cluster, target.reserved, communicators);
  FailureOr<ProjectedFunction> worst = withLoad(function, projection, target.cluster, target.worst, communicators);
  if (failed(reserved) || failed(worst))
    return failure();
  auto instancesOf = [&](const ProjectedFunction &loaded) {
    scheduling::Instances all(loaded.problem, instances.solution, instances.occurrences, instances.count);
    all.deferred = instances.deferred;
    return all;
  };
  ProgramEstimates estimates = estimatesOf(function, *reserved, instancesOf(*reserved), times);
  estimates.memory = withLoads(estimates.memory, {peakOf(instances), peakOf(instancesOf(*worst))});
  return estimates;
}

/// Solves one function and writes its program. `last` is the function before it. Appends its times to `times`, if that
/// is not null.
static LogicalResult scheduleFunction(OpBuilder &builder, func::FuncOp function, const Target &target,
                                      LayoutTable &layouts, CommunicatorTable &communicators,
                                      std::optional<Solved> &last, std::vector<ProgramTimes> *times) {
  const Cluster &cluster = target.cluster;
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitError() << "cannot be scheduled: it has " << function.getBody().getBlocks().size()
                                << " blocks, must have one";
  FailureOr<ProjectedFunction> projection = project(function, cluster, layouts, communicators);
  if (failed(projection))
    return failure();
  addMergeables(function, *projection, cluster, layouts);
  // The reference is what other programs are compared with, so nothing of it is changed.
  if (target.mostParts > 1 && plan::roleOf(function) != base::ProgramRole::reference)
    addSplittables(function, *projection, target.mostParts, cluster, layouts);
  if (!last || last->problem != projection->problem) {
    scheduling::Problem problem = projection->problem;
    llvm::Expected<scheduling::Solution> solution = solve(projection->problem, target.solver);
    if (!solution)
      return function.emitError() << "cannot be scheduled: " << llvm::toString(solution.takeError());
    last = Solved{std::move(problem), std::move(*solution), projection->problem.memoryLimit};
  }
  // From here on the problem is one without choices, which is what runs.
  if (!last->solution.choices.empty())
    projection = resolveChoices(*projection, last->solution.choices, cluster, layouts);
  projection->problem.memoryLimit = last->memoryLimit;
  scheduling::Solution solution{last->solution.steps};
  scheduling::Instances instances(projection->problem, solution, occurrencesIn(function, *projection),
                                  plan::instancesOf(function));
  if (llvm::Error error = holdForAll(instances, projection->problem))
    return function.emitError() << "cannot be scheduled: " << llvm::toString(std::move(error));
  // Program order is the order in which the plan is written.
  if (plan::roleOf(function) == base::ProgramRole::step && target.solver.solve != scheduling::programOrder)
    if (llvm::Error error = scheduling::defer(instances))
      return function.emitError() << "cannot be scheduled: " << llvm::toString(std::move(error));
  std::vector<scheduling::InstanceTimes> instanceTimes = scheduling::simulate(instances);
  FailureOr<ProgramEstimates> estimates =
      estimate(function, *projection, instances, instanceTimes, target, communicators);
  if (failed(estimates))
    return failure();
  writeProgram(builder, function, *projection, instances, *estimates, layouts);
  if (times && plan::roleOf(function) != base::ProgramRole::reference)
    for (ProgramTimes &each : timesOf(function, *projection, instances, instanceTimes)) {
      each.splittable = countSplittable(last->problem);
      each.split = last->solution.choices.split.size();
      times->push_back(std::move(each));
    }
  return success();
}

/// Bytes that a program holds on the device from start to end.
static int64_t heldBytes(sched::MemoryAttr memory) {
  return memory.getParameters() + memory.getConstants() + memory.getInputs() + memory.getStates() +
         memory.getAccumulators();
}

/// The largest and the smallest peak of one kind.
struct Peaks {
  int64_t largest, least;

  Peaks operator+(int64_t bytes) const { return {largest + bytes, least + bytes}; }
  Peaks with(Peaks other) const { return {std::max(largest, other.largest), std::max(least, other.least)}; }
};

static Peaks peaksOf(sched::MemoryAttr memory) { return {memory.getPeak(), memory.getLeast()}; }

static sched::MemoryAttr withPeaks(sched::MemoryAttr memory, Peaks peaks, Peaks evaluation, int64_t hostPeak) {
  return sched::MemoryAttr::get(memory.getContext(), memory.getParameters(), memory.getConstants(), memory.getInputs(),
                                peaks.largest, peaks.least, memory.getStates(), memory.getAccumulators(),
                                memory.getHostParameters(), memory.getHostStates(), hostPeak, evaluation.largest,
                                evaluation.least, memory.getBalanced(), memory.getWorst());
}

/// The largest peaks if all experts are chosen equally often, and if all tokens choose those of one rank.
static LoadPeaks loadPeaksOf(sched::MemoryAttr memory) {
  return memory.getWorst() > 0 ? LoadPeaks{memory.getBalanced(), memory.getWorst()}
                               : LoadPeaks{memory.getPeak(), memory.getPeak()};
}

/// The peak of a program includes those of the other programs in its timeline, together with the tensors that only the
/// program itself reads. Of its own instances the last one has the peak: it runs all that the others run.
static void addMicrobatchPrograms(ModuleOp module) {
  for (auto sweep : module.getOps<sched::ProgramOp>()) {
    sched::ProgramOp step = sweep.getRunner();
    if (step == sweep)
      continue;
    sched::MemoryAttr own = *sweep.getMemory(), all = *step.getMemory();
    // Arguments are allocated once for all programs of the step, so those that this program does not read are held as
    // well.
    Peaks ofProgram = peaksOf(own) + (heldBytes(all) - heldBytes(own));
    // The tensors that are listed must be those of the peak that is reported.
    if (ofProgram.largest > all.getPeak())
      step.setPeakAttr(describeMicrobatchPeak(sweep, step));
    Peaks evaluation{all.getEvaluation(), all.getLeastEvaluation()};
    if (evaluation.largest > 0)
      evaluation = evaluation.with(ofProgram);
    sched::MemoryAttr both = withPeaks(all, peaksOf(all).with(ofProgram), evaluation,
                                       std::max(all.getHostPeak(), own.getHostPeak() + all.getHostStates()));
    if (LoadPeaks of = loadPeaksOf(own), step = loadPeaksOf(all); own.getWorst() + all.getWorst() > 0)
      both = withLoads(both, {std::max(step.balanced, of.balanced + heldBytes(all) - heldBytes(own)),
                              std::max(step.worst, of.worst + heldBytes(all) - heldBytes(own))});
    step.setMemoryAttr(both);
  }
}

/// Bytes of the constants of a program that the other one does not have.
static int64_t constantsBesides(sched::ProgramOp program, sched::ProgramOp other) {
  llvm::DenseSet<Attribute> shared;
  for (auto constant : other.getBody().getOps<sched::ConstantOp>())
    shared.insert(constant.getValue());
  int64_t bytes = 0;
  for (auto constant : program.getBody().getOps<sched::ConstantOp>())
    if (!shared.contains(constant.getValue()))
      bytes += sched::largestBytes(constant.getResult().getType());
  return bytes;
}

/// Between training steps, `eval` runs while the tensors that the step keeps are allocated.
static void includeTraining(ModuleOp module) {
  sched::ProgramOp step = sched::programOf(module, base::ProgramRole::step);
  sched::ProgramOp evaluation = sched::programOf(module, base::ProgramRole::eval);
  if (!step || !evaluation)
    return;
  sched::MemoryAttr kept = *step.getMemory(), own = *evaluation.getMemory();
  Peaks alone{own.getEvaluation(), own.getLeastEvaluation()};
  evaluation.setMemoryAttr(withPeaks(
      own, peaksOf(own), alone + (kept.getStates() + kept.getAccumulators() + constantsBesides(step, evaluation)),
      own.getHostPeak()));
}

/// Moves functions out of modules of their own (see plan-keep-reference) to the end of `module`.
static void inlineNestedModules(ModuleOp module) {
  for (ModuleOp own : llvm::make_early_inc_range(module.getOps<ModuleOp>())) {
    for (func::FuncOp function : llvm::make_early_inc_range(own.getOps<func::FuncOp>()))
      function->moveBefore(module.getBody(), module.getBody()->end());
    own.erase();
  }
}

namespace {
struct Schedule : public impl::ScheduleBase<Schedule> {
  using ScheduleBase::ScheduleBase;
  Schedule(std::shared_ptr<const Cluster> cluster, const ScheduleOptions &options, std::vector<ProgramTimes> *times)
      : ScheduleBase(options), cluster(std::move(cluster)), times(times) {}

  LogicalResult initialize(MLIRContext *context) final {
    found = scheduling::findSolver(solver);
    if (!found)
      return emitError(UnknownLoc::get(context))
             << "there is no solver '" << solver << "', only " << scheduling::namesOfSolvers();
    if (cluster)
      return success();
    const ClusterPreset *known = findClusterPreset(preset);
    if (!known)
      return emitError(UnknownLoc::get(context)) << "there is no preset '" << preset << "'";
    cluster = std::make_shared<const Cluster>(clusterOfPreset(*known));
    return success();
  }

  void runOnOperation() final {
    ModuleOp module = getOperation();
    plan::MeshOp mesh = plan::getMesh(module);
    if (!mesh) {
      module.emitError("cannot be scheduled: it has no mesh");
      return signalPassFailure();
    }
    inlineNestedModules(module);
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    LayoutTable allRanks(mesh), reserved(mesh, RowLoad::reserved), worst(mesh, RowLoad::worst), oneRank(nullptr);
    CommunicatorTable communicators;
    // All classes must exist before the first layout is resolved, because a layout has an entry for each of them.
    for (func::FuncOp function : functions)
      if (plan::roleOf(function) != base::ProgramRole::reference)
        for (LayoutTable *layouts : {&allRanks, &reserved, &worst})
          layouts->addRankClasses(function);
    std::optional<Solved> last;
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    Target target{*cluster, *found, parts, reserved, worst};
    for (func::FuncOp function : functions) {
      LayoutTable &layouts = plan::roleOf(function) == base::ProgramRole::reference ? oneRank : allRanks;
      if (failed(scheduleFunction(builder, function, target, layouts, communicators, last, times)))
        return signalPassFailure();
    }
    builder.setInsertionPoint(mesh);
    writeDeclarations(builder, mesh, communicators);
    for (func::FuncOp function : functions)
      function.erase();
    mesh.erase();
    // Before includeTraining, which adds what the step keeps to a peak that already includes the programs of
    // microbatches.
    addMicrobatchPrograms(module);
    includeTraining(module);
  }

  std::shared_ptr<const Cluster> cluster;
  const scheduling::NamedSolver *found = nullptr;
  std::vector<ProgramTimes> *times = nullptr;
};
} // namespace

std::unique_ptr<Pass> createSchedule(std::shared_ptr<const Cluster> cluster, const ScheduleOptions &options,
                                     std::vector<ProgramTimes> *times) {
  return std::make_unique<Schedule>(std::move(cluster), options, times);
}

} // namespace meshplan
