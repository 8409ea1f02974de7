//===- build_report.cpp - the costs of a program on a rank ----------------===//
//
// One walk over the program, and one over each other program in its timeline. What every microbatch runs counts as
// often as it runs. The peak, the times and the tensors held at the peak were computed by the schedule phase and are
// attributes of the program.
//
//===----------------------------------------------------------------------===//

#include "compiler/report/report.h"
#include "compiler/report/sched_layout_text.h"
#include "compiler/report/traffic.h"
#include "compiler/sharding/op_record.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <tuple>

using namespace mlir;

namespace meshplan {

static void addTo(std::vector<CollectiveTotal> &totals, StringRef kind, int64_t count, int64_t bytes) {
  auto total = llvm::find_if(totals, [&](const CollectiveTotal &each) { return each.kind == kind; });
  if (total == totals.end()) {
    totals.push_back({kind.str(), 0, 0});
    total = std::prev(totals.end());
  }
  total->count += count;
  total->bytes += count * bytes;
}

namespace {
class ReportBuilder {
public:
  ReportBuilder(sched::MeshOp mesh, sched::ProgramOp program)
      : mesh(mesh), program(program), meshSizes(program.getMeshSizes()), first(meshSizes.size(), 0),
        last(llvm::map_to_vector(meshSizes, [](int64_t size) { return size - 1; })) {}

  Report build();

private:
  void addMesh();
  void addCommunicators();
  void addBytes(BytesRange &range, Value tensor);
  void addParameter(sched::ParameterOp parameter);
  /// Adds a collective that the rank runs `count` times.
  void addCollective(sched::StartOp start, int64_t count);
  void addCompute(sched::ComputeOp compute, int64_t count);
  void addDividedAxes();
  void addActivationSum(sched::StartOp start, int64_t ranks, int64_t count);
  void addStatement(sched::StartOp start, StringRef kind, int64_t count, int64_t bytes);
  /// Adds the collectives, operators and times of a program in the timeline.
  void addWork(sched::ProgramOp each);
  void addMemory(sched::MemoryAttr memory);
  /// Adds the rows of experts that a step has or moves.
  void addRows(Operation *step, int64_t count);
  void addExperts(sched::MemoryAttr memory);
  void addEvaluation();
  void addPeak(sched::PeakAttr peak);

  sched::MeshOp mesh;
  sched::ProgramOp program;
  SmallVector<int64_t> meshSizes, first, last;
  llvm::StringMap<size_t> communicatorIndex;
  /// By file, line, column, text, communicator and kind, which is also the order of the list.
  std::map<std::tuple<std::string, int64_t, int64_t, std::string, std::string, std::string>, CollectiveTotal>
      statements;
  ExpertLoad loads[3]; ///< by RowLoad; the peaks are added last
  bool isReserved = false;
  Report report;
};
} // namespace

void ReportBuilder::addMesh() {
  for (auto axis : mesh.getAxes().getAsRange<sched::MeshAxisAttr>()) {
    report.axes.push_back({axis.getName().str(), axis.getSize(), {}, /*dividesWork=*/axis.getSize() == 1});
    report.worldSize *= axis.getSize();
  }
}

void ReportBuilder::addCommunicators() {
  for (auto communicator : program->getParentOfType<ModuleOp>().getOps<sched::CommunicatorOp>()) {
    communicatorIndex[communicator.getSymName()] = report.communicators.size();
    CommunicatorReport entry;
    entry.name = communicator.getSymName().str();
    for (const AxisRef &axis : sched::toAxisRefs(communicator.getAxes())) {
      entry.axes.push_back(report.axes[axis.axis].name);
      entry.ranks *= axis.size;
    }
    report.communicators.push_back(std::move(entry));
  }
}

void ReportBuilder::addBytes(BytesRange &range, Value tensor) {
  auto type = cast<sched::ShardedTensorType>(tensor.getType());
  // Shards of uneven dims are largest on the first rank and smallest on the last: 10 over tp=3 are 4, 3 and 3.
  range.largest += sched::localBytes(type, meshSizes, first);
  range.least += sched::localBytes(type, meshSizes, last);
}

void ReportBuilder::addParameter(sched::ParameterOp parameter) {
  addBytes(parameter.getHost() ? report.memory.hostParameters : report.memory.parameters, parameter.getResult());
  sched::ShardedTensorType type = parameter.getResult().getType();
  ParameterReport entry;
  for (auto name : parameter.getNames().getAsRange<StringAttr>())
    entry.names.push_back(name.str());
  entry.dtype = dtypeText(type.getElementType());
  entry.layout = layoutText(type, mesh) + (parameter.getHost() ? " on the host" : "");
  entry.globalBytes = sched::elementBytes(type.getElementType());
  for (sched::DimAttr dim : type.getDims()) {
    entry.shape.push_back(dim.getExtent());
    entry.globalBytes *= dim.getExtent();
  }
  entry.rankBytes = sched::largestBytes(type);
  entry.trainable = parameter.getTrainable();
  entry.buffer = parameter.getBuffer();
  report.parameters.push_back(std::move(entry));
}

void ReportBuilder::addStatement(sched::StartOp start, StringRef kind, int64_t count, int64_t bytes) {
  FileLineColRange location = sched::getPlanLocation(start.getLoc());
  std::string file = location ? location.getFilename().str() : "";
  int64_t line = location ? location.getStartLine() : 0, column = location ? location.getStartColumn() : 0;
  CollectiveTotal &total = statements[{std::move(file), line, column, start.getCause().value_or("").str(),
                                       start.getCommunicator().str(), kind.str()}];
  total.count += count;
  total.bytes += count * bytes;
}

void ReportBuilder::addCollective(sched::StartOp start, int64_t count) {
  CommunicatorReport &communicator = report.communicators[communicatorIndex.lookup(start.getCommunicator())];
  StringRef kind = sched::stringifyCollectiveKind(start.getKind());
  int64_t bytes = trafficBytes(start, communicator.ranks);
  addTo(communicator.collectives, kind, count, bytes);
  for (AxisReport &axis : report.axes)
    if (llvm::is_contained(communicator.axes, axis.name))
      addTo(axis.collectives, kind, count, bytes);
  addStatement(start, kind, count, bytes);
  addActivationSum(start, communicator.ranks, count);
}

void ReportBuilder::addActivationSum(sched::StartOp start, int64_t ranks, int64_t count) {
  TypeAttr narrow = start.getActivationSumAttr();
  if (!narrow)
    return;
  Type sent = sched::tensorsOf(start.getInput().getType()).front().getElementType();
  Type other = sent == narrow.getValue() ? Float32Type::get(sent.getContext()) : narrow.getValue();
  std::string dtype = dtypeText(sent), otherDtype = dtypeText(other);
  auto sums = llvm::find_if(report.activationSums, [&](const ActivationSums &each) {
    return each.dtype == dtype && each.otherDtype == otherDtype;
  });
  if (sums == report.activationSums.end())
    sums = report.activationSums.insert(sums, ActivationSums{dtype, otherDtype});
  sums->count += count;
  sums->bytes += count * trafficBytes(start, ranks);
  sums->otherBytes += count * trafficBytes(start, ranks, other);
}

void ReportBuilder::addCompute(sched::ComputeOp compute, int64_t count) {
  auto add = [&](std::vector<RepeatedOperator> &operators, StringRef target) {
    auto known = llvm::find_if(operators, [&](const RepeatedOperator &each) { return each.target == target; });
    if (known == operators.end())
      known = operators.insert(known, RepeatedOperator{target.str()});
    known->count += count;
  };
  StringRef target = compute.getTarget();
  if (!hasCost(target))
    add(report.withoutCost, target);
  if (target.consume_front("vjp."))
    add(report.derivatives, target);
}

/// Finds the axes over which the forward or evaluation program splits work. The step does not count: it also computes
/// the norm of gradients and new parameters from shards. Flat storage does not count either: it is gathered before it
/// is used.
void ReportBuilder::addDividedAxes() {
  ModuleOp module = program->getParentOfType<ModuleOp>();
  bool hasForward =
      sched::programOf(module, base::ProgramRole::forward) || sched::programOf(module, base::ProgramRole::eval);
  auto add = [&](ArrayRef<sched::AxisAttr> axes) {
    for (sched::AxisAttr axis : axes)
      report.axes[axis.getAxis()].dividesWork = true;
  };
  for (auto each : module.getOps<sched::ProgramOp>()) {
    // A program that only runs in a timeline belongs to the program of the timeline.
    bool ofStep = each.getRunner().getRole() == base::ProgramRole::step;
    if (each.getDevices() || (hasForward && ofStep))
      continue;
    for (auto compute : each.getBody().getOps<sched::ComputeOp>())
      for (Type result : compute.getResultTypes())
        if (auto type = dyn_cast<sched::ShardedTensorType>(result)) {
          add(type.getPartialAxes());
          for (sched::DimAttr dim : type.getDims())
            add(dim.getAxes());
        }
  }
}

void ReportBuilder::addMemory(sched::MemoryAttr memory) {
  report.memory.peak = {memory.getPeak(), memory.getLeast()};
  // If ranks share reads of parameters, the first rank is not the largest one.
  report.memory.parameters.largest = memory.getParameters();
  report.memory.constants.largest = memory.getConstants();
  report.memory.inputs.largest = memory.getInputs();
  report.memory.states.largest = memory.getStates();
  report.memory.accumulators.largest = memory.getAccumulators();
  report.memory.hostParameters.largest = memory.getHostParameters();
  report.memory.hostStates.largest = memory.getHostStates();
  report.memory.hostPeak = memory.getHostPeak();
}

static constexpr RowLoad rowLoads[] = {RowLoad::balanced, RowLoad::reserved, RowLoad::worst};

void ReportBuilder::addRows(Operation *step, int64_t count) {
  auto start = dyn_cast<sched::StartOp>(step);
  for (Value result : step->getResults()) {
    auto type = dyn_cast<sched::ShardedTensorType>(result.getType());
    if (!type || !type.getRouted() || type.getRouted().getKind() != base::RoutedKind::rows)
      continue;
    isReserved |= type.getRouted().getReserve() != nullptr;
    for (RowLoad load : rowLoads) {
      int64_t &rows = loads[static_cast<size_t>(load)].rows;
      rows = std::max(rows, sched::largestRows(type, load));
    }
  }
  if (!start || !start.getCounts())
    return;
  int64_t ranks = report.communicators[communicatorIndex.lookup(start.getCommunicator())].ranks;
  for (RowLoad load : rowLoads)
    loads[static_cast<size_t>(load)].exchangeBytes += count * exchangeBytes(start, ranks, load);
}

void ReportBuilder::addExperts(sched::MemoryAttr memory) {
  // Ranks that have all experts have the same rows in each case.
  if (memory.getWorst() == 0)
    return;
  auto [balanced, reserved, worst] = loads;
  balanced.peak = memory.getBalanced();
  reserved.peak = memory.getPeak();
  worst.peak = memory.getWorst();
  report.experts = ExpertsReport{balanced, isReserved ? std::optional(reserved) : std::nullopt, worst};
}

void ReportBuilder::addWork(sched::ProgramOp each) {
  int64_t instances = each.getInstances();
  auto countOf = [&](Operation *step) {
    base::When when = sched::whenOf(step);
    return when == base::When::first || when == base::When::last ? 1 : instances;
  };
  for (auto start : each.getBody().getOps<sched::StartOp>())
    addCollective(start, countOf(start));
  for (auto compute : each.getBody().getOps<sched::ComputeOp>())
    addCompute(compute, countOf(compute));
  for (Operation &step : each.getBody().front())
    addRows(&step, countOf(&step));
  // The times of a program are those of all its instances.
  if (std::optional<sched::TimeAttr> time = each.getTime()) {
    report.time.compute += time->getCompute();
    report.time.communication += time->getCommunication();
    report.time.copies += time->getCopies();
  }
}

void ReportBuilder::addEvaluation() {
  sched::ProgramOp evaluation = sched::programOf(program->getParentOfType<ModuleOp>(), base::ProgramRole::eval);
  if (evaluation && evaluation.getMemory())
    report.memory.evaluation = {evaluation.getMemory()->getEvaluation(), evaluation.getMemory()->getLeastEvaluation()};
}

/// Number of kinds of tensors that are listed by name.
static constexpr size_t mostHeld = 10;

void ReportBuilder::addPeak(sched::PeakAttr peak) {
  PeakReport &at = report.memory.atPeak.emplace();
  at.target = peak.getTarget().str();
  at.module = peak.getModule().str();
  for (sched::HeldAttr held : peak.getHeld()) {
    if (at.held.size() < mostHeld) {
      at.held.push_back({held.getWhat().str(), held.getModule().str(), held.getCount(), held.getBytes()});
      continue;
    }
    at.others.count += held.getCount();
    at.others.bytes += held.getBytes();
  }
}

Report ReportBuilder::build() {
  report.program = program.getSymName().str();
  report.trains = program.getRole() == base::ProgramRole::step;
  addMesh();
  addDividedAxes();
  addCommunicators();
  for (Operation &step : program.getBody().front()) {
    if (auto parameter = dyn_cast<sched::ParameterOp>(step))
      addParameter(parameter);
    else if (auto constant = dyn_cast<sched::ConstantOp>(step))
      addBytes(report.memory.constants, constant.getResult());
    else if (auto input = dyn_cast<sched::InputOp>(step))
      addBytes(report.memory.inputs, input.getResult());
    else if (auto state = dyn_cast<sched::StateOp>(step))
      addBytes(state.getHost()        ? report.memory.hostStates
               : state.getParameter() ? report.memory.states
                                      : report.memory.accumulators,
               state.getResult());
    else if (auto setting = dyn_cast<sched::SettingOp>(step))
      addBytes(report.memory.inputs, setting.getResult());
  }
  addWork(program);
  if (std::optional<sched::MemoryAttr> memory = program.getMemory())
    addMemory(*memory);
  if (std::optional<sched::PeakAttr> peak = program.getPeak())
    addPeak(*peak);
  if (report.trains)
    addEvaluation();
  for (auto each : program->getParentOfType<ModuleOp>().getOps<sched::ProgramOp>())
    if (each != program && each.getRunner() == program)
      addWork(each);
  if (std::optional<sched::MemoryAttr> memory = program.getMemory())
    addExperts(*memory);
  for (auto &[key, total] : statements) {
    auto &[file, line, column, text, communicator, kind] = key;
    report.statements.push_back({file, line, column, text, communicator, {kind, total.count, total.bytes}});
  }
  return std::move(report);
}

StringRef mainProgram(ModuleOp module) {
  sched::ProgramOp main = sched::mainProgramOf(module);
  return main ? main.getSymName() : "forward";
}

FailureOr<Report> buildReport(ModuleOp module, StringRef name) {
  sched::MeshOp mesh = sched::getMesh(module);
  if (!mesh)
    return module.emitError("has no mesh to report on");
  for (auto program : module.getOps<sched::ProgramOp>())
    if (program.getSymName() == name && !program.getDevices())
      return ReportBuilder(mesh, program).build();
  return module.emitError() << "has no program '" << name << "' of all ranks to report on";
}

} // namespace meshplan
