//===- time_program.cpp - the estimated times of a program ----------------===//

#include "compiler/transforms/schedule/time_program.h"
#include "compiler/scheduling/simulate.h"
#include "compiler/sharding/dataflow/step_parts.h"
#include "compiler/sharding/op_record.h"
#include "compiler/sharding/reshard.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/programs.h"
#include "dialect/sched/sched.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;

namespace meshplan {

/// What a call computes, as the artifact names it.
static std::string operatorOf(Operation *op) {
  if (auto call = dyn_cast<plan::CallOp>(op))
    return call.getTarget().str();
  return op->getName().stripDialect().str();
}

static PlanPlace placeOf(Operation *op) {
  FileLineColRange place = sched::getPlanLocation(op->getLoc());
  if (!place)
    return {};
  return {place.getFilename().str(), place.getStartLine(), place.getStartColumn(), place.getEndColumn()};
}

/// "p.plan:12:5 data dp", without the folder of the plan, as the artifact has it.
static std::string statementOf(Operation *op, const PlanPlace &place) {
  if (place.file.empty())
    return "";
  std::string text = llvm::sys::path::filename(place.file).str() + ":" + std::to_string(place.line) + ":" +
                     std::to_string(place.column);
  auto cause = op->getAttrOfType<StringAttr>("cause");
  return cause && !cause.empty() ? text + " " + cause.str() : text;
}

static TimedOperation describe(const ProjectedFunction &projection, unsigned index, const StepParts &parts) {
  const scheduling::Problem &problem = projection.problem;
  const scheduling::Operation &operation = problem.operations[index];
  ArrayRef<Operation *> ops = projection.operations[index];
  Operation *first = ops.front();
  TimedOperation timed;
  timed.place = placeOf(first);
  timed.label.direction = stringifyDirection(parts.directionOf(first)).str();
  timed.label.statement = statementOf(first, timed.place);
  if (auto module = first->getAttrOfType<StringAttr>("module"))
    timed.label.module = module.str();
  timed.label.what = operatorOf(first);
  if (plan::collectiveKindOf(first))
    timed.label.module = parts.subjectOf(ops);
  if (operation.copy != scheduling::Copy::none)
    timed.label.what = operation.copy == scheduling::Copy::pack ? "pack" : "unpack";
  if (!operation.communicator)
    return timed;
  timed.label.purpose = base::stringifyPurpose(parts.purposeOf(first)).str();
  timed.label.communicator = problem.communicators[*operation.communicator].name;
  double bytes = 0;
  for (Operation *op : ops)
    bytes += sentBytes(op, plan::getMesh(op));
  timed.label.bytes = std::llround(bytes);
  return timed;
}

/// Notes which operators are issued between the start and the wait of each collective.
static void addWindows(ProgramTimes &times, const scheduling::Solution &solution) {
  for (scheduling::Step step : solution.steps)
    switch (step.kind) {
    case scheduling::StepKind::run:
      times.computed.push_back(step.index);
      break;
    case scheduling::StepKind::start:
      times.operations[step.index].windowBegin = times.computed.size();
      break;
    case scheduling::StepKind::wait:
      times.operations[step.index].windowEnd = times.computed.size();
      break;
    case scheduling::StepKind::free:
      break;
    }
}

static std::string dtypeOf(plan::CallOp call) {
  std::string text;
  llvm::raw_string_ostream(text) << getElementTypeOrSelf(call.getOperandTypes().front());
  return text;
}

/// Matrix products and attentions, which are what model flops count.
static double modelFlopsOf(plan::CallOp call) {
  const OpRecord *record = OpRegistry::get().lookup(call.getTarget());
  if (!record || !record->cost || call.getNumOperands() == 0)
    return 0;
  OpCost cost = record->cost(CallView::of(call));
  bool counts = cost.product || call.getTarget().contains("attention");
  return counts ? static_cast<double>(cost.flops) : 0;
}

ProgramTimes timesOf(func::FuncOp function, const ProjectedFunction &projection, const scheduling::Solution &solution) {
  StepParts parts(function);
  const scheduling::Problem &problem = projection.problem;
  scheduling::Timeline timeline = scheduling::simulate(problem, solution);
  ProgramTimes times;
  times.name = function.getSymName().str();
  if (auto before = plan::opAttr<plan::attr::RunsBefore>(function))
    times.before = before.str();
  if (auto runs = plan::opAttr<plan::attr::Runs>(function))
    times.runs = runs.getInt();
  times.makespan = timeline.makespan;
  times.compute = timeline.busy[computeLane];
  times.waitsForHost = timeline.waitsForHost;
  for (unsigned index = 0; index < problem.operations.size(); ++index) {
    TimedOperation timed = describe(projection, index, parts);
    timed.label.program = times.name;
    timed.time = timeline.operations[index];
    timed.exposed = timeline.exposed[index];
    timed.wait = timeline.waits[index];
    times.trains |= timed.label.direction == "backward";
    times.operations.push_back(std::move(timed));
  }
  addWindows(times, solution);
  for (auto call : function.getOps<plan::CallOp>())
    if (parts.directionOf(call) == base::Direction::forward)
      if (double flops = modelFlopsOf(call); flops > 0)
        times.forwardFlops[dtypeOf(call)] += flops;
  return times;
}

} // namespace meshplan
