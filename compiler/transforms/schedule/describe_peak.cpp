//===- describe_peak.cpp - tensors that are live at the peak --------------===//

#include "compiler/transforms/schedule/describe_peak.h"
#include "compiler/sharding/dataflow/carriers.h"
#include "compiler/support/layer_names.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/step_name.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <map>

using namespace mlir;

namespace meshplan {

namespace {
/// A tensor in terms of the model.
struct Described {
  std::string what, module;
};

/// Tensors grouped by kind.
class HeldList {
public:
  void add(const Described &tensor, int64_t count, int64_t bytes) {
    if (bytes == 0)
      return;
    // Layers are equal, so 32 lines about one tensor each would say less than one with a count.
    auto &[ownCount, ownBytes] = kinds[{withoutIndices(tensor.what), withoutIndices(tensor.module)}];
    ownCount += count;
    ownBytes += bytes;
  }

  sched::PeakAttr at(const Described &described, MLIRContext *context) const {
    SmallVector<sched::HeldAttr> held;
    for (const auto &[kind, amount] : kinds)
      held.push_back(sched::HeldAttr::get(context, kind.first, kind.second, amount.first, amount.second));
    llvm::stable_sort(held,
                      [](sched::HeldAttr left, sched::HeldAttr right) { return left.getBytes() > right.getBytes(); });
    return sched::PeakAttr::get(context, described.what, described.module, held);
  }

private:
  using Key = std::pair<std::string, std::string>;
  llvm::MapVector<Key, std::pair<int64_t, int64_t>, std::map<Key, unsigned>> kinds; // count and bytes
};
} // namespace

/// A parameter or state, in the module that owns it.
static Described named(StringRef name, StringRef parameter) {
  return {name.str(), parameter.contains('.') ? parameter.rsplit('.').first.str() : ""};
}

static Described describe(BlockArgument argument) {
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  unsigned index = argument.getArgNumber();
  auto names = plan::argAttr<plan::attr::Names>(function, index);
  std::string name = names && !names.empty() ? cast<StringAttr>(names[0]).str() : "arg" + std::to_string(index);
  std::optional<plan::ArgumentKind> kind = plan::argumentKind(argument);
  if (kind == plan::ArgumentKind::input || kind == plan::ArgumentKind::setting ||
      kind == plan::ArgumentKind::accumulator)
    return {(plan::stringifyArgumentKind(*kind) + " " + name).str(), ""};
  if (auto of = plan::argAttr<plan::attr::Of>(function, index))
    return {name, named(of.getName(), of.getName()).module};
  return named(name, name);
}

static Described describe(Value value);

/// An operation by its operator; a collective by what it moves.
static Described describe(Operation &op) {
  StringAttr module = plan::stepModule(&op);
  std::string path = module ? module.str() : "";
  if (auto call = dyn_cast<plan::CallOp>(op))
    return {call.getTarget().str(), path};
  if (auto constant = dyn_cast<plan::ConstantOp>(op))
    return {"constant " + constant.getName().str(), ""};
  std::string kind = plan::stepName(&op);
  if (op.getNumOperands() == 0)
    return {kind, path};
  BlockArgument argument = sourceArgument(op.getOperand(0));
  Described moved = argument ? describe(argument) : describe(op.getOperand(0));
  return {kind + " of " + moved.what, moved.module};
}

static Described describe(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return describe(argument);
  return describe(*value.getDefiningOp());
}

sched::PeakAttr describePeak(func::FuncOp function, const ProjectedFunction &projection,
                             const scheduling::HeldAtPeak &held) {
  HeldList list;
  auto producers = projection.problem.producers();
  for (auto [buffer, bytes] : held.storages) {
    Value value = projection.buffers[buffer];
    if (value) {
      list.add(describe(value), 1, bytes);
      continue;
    }
    Described moved = describe(*projection.operations[*producers[buffer]].front());
    bool isPart = projection.partOf(*producers[buffer]) != nullptr;
    list.add({(isPart ? "part of " : "buffer of ") + moved.what, moved.module}, 1, bytes);
  }
  Described peak{sched::peakAtEnd.str(), ""};
  if (held.operation) {
    peak = describe(*projection.operations[*held.operation].front());
    scheduling::Copy copy = projection.problem.operations[*held.operation].copy;
    constexpr StringRef beforeWhat[] = {"", "pack for ", "unpack of ", "join of parts of ", "rows for "}; // by Copy
    peak.what = (beforeWhat[static_cast<size_t>(copy)] + peak.what).str();
  }
  // Temporaries have no name in the model, so they are listed under the op that needs them.
  list.add({"workspace of " + peak.what, peak.module}, 1, held.workspace);
  return list.at(peak, function.getContext());
}

/// Calls `visit` for every tensor that a program holds on the device from start to end.
static void forEachResident(sched::ProgramOp program, function_ref<void(const Described &, Value)> visit) {
  for (Operation &op : program.getBody().front()) {
    if (op.getNumResults() != 1 || sched::isOnHost(op.getResult(0)))
      continue;
    Value value = op.getResult(0);
    if (auto parameter = dyn_cast<sched::ParameterOp>(op))
      visit(named(cast<StringAttr>(parameter.getNames()[0]).getValue(), cast<StringAttr>(parameter.getNames()[0])),
            value);
    else if (auto state = dyn_cast<sched::StateOp>(op))
      visit(state.getParameter() ? named(state.getName(), *state.getParameter())
                                 : Described{"accumulator " + state.getName().str(), ""},
            value);
    else if (auto constant = dyn_cast<sched::ConstantOp>(op))
      visit({"constant " + constant.getName().str(), ""}, value);
    else if (auto input = dyn_cast<sched::InputOp>(op))
      visit({"input " + input.getName().str(), ""}, value);
    else if (auto setting = dyn_cast<sched::SettingOp>(op))
      visit({"setting " + setting.getName().str(), ""}, value);
  }
}

sched::PeakAttr describeMicrobatchPeak(sched::ProgramOp sweep, sched::ProgramOp step) {
  sched::PeakAttr own = *sweep.getPeak();
  HeldList list;
  for (sched::HeldAttr held : own.getHeld())
    list.add({held.getWhat().str(), held.getModule().str()}, held.getCount(), held.getBytes());
  // The tensors of the step stay allocated while the other programs of its timeline run. Those that such a program
  // reads are in its own list already.
  llvm::StringSet<> known;
  forEachResident(sweep, [&](const Described &tensor, Value) { known.insert(tensor.what); });
  forEachResident(step, [&](const Described &tensor, Value value) {
    if (!known.contains(tensor.what))
      list.add(tensor, 1, sched::largestBytes(cast<sched::ShardedTensorType>(value.getType())));
  });
  return list.at({own.getTarget().str(), own.getModule().str()}, step.getContext());
}

} // namespace meshplan
