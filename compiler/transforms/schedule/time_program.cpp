//===- time_program.cpp - the estimated times of a program ----------------===//

#include "compiler/transforms/schedule/time_program.h"
#include "compiler/sharding/dataflow/step_parts.h"
#include "compiler/sharding/op_record.h"
#include "compiler/transforms/schedule/operation_costs.h"
#include "compiler/transforms/schedule/write_program.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/programs.h"
#include "dialect/plan/reshard_steps.h"
#include "dialect/plan/step_name.h"
#include "dialect/sched/sched.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;

namespace meshplan {

static PlanLocation locationOf(Operation *op) {
  FileLineColRange location = sched::getPlanLocation(op->getLoc());
  if (!location)
    return {};
  return {location.getFilename().str(), location.getStartLine(), location.getStartColumn(), location.getEndColumn()};
}

/// "p.plan:12:5 data dp", without the folder of the plan, as the artifact has it.
static std::string statementOf(Operation *op, const PlanLocation &location) {
  if (location.file.empty())
    return "";
  std::string text = llvm::sys::path::filename(location.file).str() + ":" + std::to_string(location.line) + ":" +
                     std::to_string(location.column);
  StringAttr cause = plan::stepCause(op);
  return cause && !cause.empty() ? text + " " + cause.str() : text;
}

static TimedOperation describe(const ProjectedFunction &projection, unsigned index, const StepParts &parts) {
  const scheduling::Problem &problem = projection.problem;
  const scheduling::Operation &operation = problem.operations[index];
  ArrayRef<Operation *> ops = projection.operations[index];
  Operation *first = ops.front();
  TimedOperation timed;
  timed.location = locationOf(first);
  timed.label.direction = stringifyDirection(parts.directionOf(first)).str();
  timed.label.statement = statementOf(first, timed.location);
  if (StringAttr module = plan::stepModule(first))
    timed.label.module = module.str();
  timed.label.what = plan::stepName(first);
  if (plan::collectiveKindOf(first))
    timed.label.module = parts.subjectOf(ops);
  if (operation.copy != scheduling::Copy::none)
    timed.label.what = writtenName(operation.copy).str();
  if (problem.lanes[operation.lane].kind == scheduling::LaneKind::copies) {
    timed.label.what = "copy";
    timed.label.memory = trace_form::memories[plan::isOnHost(first->getResult(0))];
  }
  if (!operation.communicator)
    return timed;
  timed.label.purpose = base::stringifyPurpose(parts.purposeOf(first)).str();
  timed.label.communicator = problem.communicators[*operation.communicator].name;
  const Part *part = projection.partOf(index);
  timed.label.bytes = std::llround(sentBytesOf(ops) / (part ? part->count : 1));
  return timed;
}

/// Notes which operators are issued between the start and the wait of each collective. `position` is that in
/// ProgramTimes::operations, by operation of the problem.
static void addWindows(ProgramTimes &times, const scheduling::Instances &instances,
                       function_ref<bool(scheduling::Occurrence)> has, ArrayRef<size_t> position) {
  for (auto [index, step] : llvm::enumerate(instances.solution.steps)) {
    if (step.kind == scheduling::StepKind::free || !has(instances.occurrenceOf(index)))
      continue;
    switch (step.kind) {
    case scheduling::StepKind::run:
      times.computed.push_back(position[step.index]);
      break;
    case scheduling::StepKind::start:
      times.operations[position[step.index]].windowBegin = times.computed.size();
      break;
    case scheduling::StepKind::wait:
      times.operations[position[step.index]].windowEnd = times.computed.size();
      break;
    case scheduling::StepKind::free:
      break;
    }
  }
}

static std::string dtypeOf(plan::CallOp call) {
  std::string text;
  llvm::raw_string_ostream(text) << getElementTypeOrSelf(call.getOperandTypes().front());
  return text;
}

/// The whole tensor on one rank: of rows that are routed to experts, those of all tokens.
static RankedTensorType wholeTensor(RankedTensorType type) {
  plan::ShardingAttr sharding = plan::getSharding(type);
  if (!sharding || !sharding.getRouted())
    return type;
  std::vector<int64_t> stored = base::storedShape(sharding.getRouted(), type.getDimSize(0), type.getShape());
  return RankedTensorType::get(stored, type.getElementType());
}

/// Matrix products and attentions, which are what model flops count.
static double modelFlopsOf(plan::CallOp call) {
  const OpRecord *record = OpRegistry::get().lookup(call.getTarget());
  if (!record || !record->cost || call.getNumOperands() == 0)
    return 0;
  CallView view = CallView::of(call);
  llvm::transform(view.operands, view.operands.begin(), wholeTensor);
  llvm::transform(view.results, view.results.begin(), wholeTensor);
  OpCost cost = record->cost(view);
  bool counts = cost.product || call.getTarget().contains("attention");
  return counts ? static_cast<double>(cost.flops) : 0;
}

/// The times of one kind of instance, which has the operations and steps for whose occurrence `has` is true.
static ProgramTimes timesOfInstance(func::FuncOp function, const ProjectedFunction &projection,
                                    const scheduling::Instances &instances, const scheduling::InstanceTimes &timeline,
                                    function_ref<bool(scheduling::Occurrence)> has, const StepParts &parts) {
  const scheduling::Problem &problem = projection.problem;
  ProgramTimes times;
  times.name = function.getSymName().str();
  times.makespan = timeline.makespan;
  times.compute = timeline.busy[computeLane];
  times.waitsForHost = timeline.waitsForHost;
  SmallVector<size_t> position(problem.operations.size());
  for (unsigned index = 0; index < problem.operations.size(); ++index) {
    if (!has(instances.occurrences.of(index)))
      continue;
    TimedOperation timed = describe(projection, index, parts);
    timed.label.program = times.name;
    timed.time = timeline.operations[index];
    timed.exposed = timeline.exposed[index];
    timed.wait = timeline.waits[index];
    times.trains |= timed.label.direction == stringifyDirection(base::Direction::backward);
    position[index] = times.operations.size();
    times.operations.push_back(std::move(timed));
    auto call = dyn_cast<plan::CallOp>(projection.operations[index].front());
    if (!call || problem.operations[index].copy != scheduling::Copy::none ||
        parts.directionOf(call) != base::Direction::forward)
      continue;
    const Part *part = projection.partOf(index);
    if (double flops = modelFlopsOf(call); flops > 0)
      times.forwardFlops[dtypeOf(call)] += flops / (part ? part->count : 1);
  }
  addWindows(times, instances, has, position);
  return times;
}

std::vector<ProgramTimes> timesOf(func::FuncOp function, const ProjectedFunction &projection,
                                  const scheduling::Instances &instances, ArrayRef<scheduling::InstanceTimes> times) {
  StepParts parts(function);
  std::vector<ProgramTimes> programs;
  for (const scheduling::InstanceTimes &each : times)
    programs.push_back(timesOfInstance(
        function, projection, instances, each,
        [&](scheduling::Occurrence occurrence) {
          return scheduling::occursIn(occurrence, &each == &times.front(), &each == &times.back());
        },
        parts));
  if (auto timeline = plan::opAttr<plan::attr::Timeline>(function))
    for (auto instance : timeline.getAsRange<base::InstanceAttr>())
      programs.back().timeline.push_back({instance.getProgram().getValue().str(), instance.getMicrobatch()});
  return programs;
}

} // namespace meshplan
