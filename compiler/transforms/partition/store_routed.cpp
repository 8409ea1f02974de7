//===- store_routed.cpp - marks values that are routed to experts ---------===//
//
// See StoreRouted in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/dataflow/expert_weights.h"
#include "compiler/sharding/dataflow/module_border.h"
#include "compiler/sharding/dataflow/routed_values.h"
#include "compiler/sharding/layout_text.h"
#include "compiler/sharding/reshard.h"
#include "compiler/support/layer_names.h"
#include "compiler/transforms/partition/passes.h"

namespace meshplan {
#define GEN_PASS_DEF_STOREROUTED
#include "compiler/transforms/partition/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// True if the axes that divide experts only `away` divide tokens only at `home`, and nothing else differs.
static bool isArrivalOf(RankedTensorType home, RankedTensorType away, base::RoutedAttr routed, MeshOp mesh) {
  ShardingAttr before = getSharding(home), after = getSharding(away);
  ArrayRef<AxisRefAttr> kept = before.getDims().front().getAxes(), all = after.getDims().front().getAxes();
  if (all.size() <= kept.size() || all.take_front(kept.size()) != kept)
    return false;
  std::optional<ShardingAttr> arrivals =
      arrivalsOf(withSharding(home, before.withRouted(routed)), all.drop_front(kept.size()), mesh);
  return arrivals && arrivals->withRouted({}) == after.withRouted({});
}

/// True if values go to the ranks of their experts or come back, which plan-lower-exchanges understands.
static bool isExchange(Operation *op, base::RoutedAttr routed) {
  if (!isa<ReshardOp>(op))
    return false;
  RankedTensorType from = typeOf(op->getOperand(0)), to = typeOf(op->getResult(0));
  MeshOp mesh = getMesh(op);
  return isArrivalOf(from, to, routed, mesh) || isArrivalOf(to, from, routed, mesh);
}

/// True if only features change, and addends become sums. The ranks of such a collective have the same experts and
/// tokens, and so the same rows.
static bool isOfFeatures(Operation *op, base::RoutedAttr routed) {
  ShardingAttr from = getSharding(op->getOperand(0)), to = getSharding(op->getResult(0));
  if (!isa<ReshardOp>(op) || from.getDims().take_front(routed.getDims()) != to.getDims().take_front(routed.getDims()))
    return false;
  return llvm::all_of(planReshard(typeOf(op->getOperand(0)), to.withRouted(routed), getMesh(op)),
                      [](const ReshardStep &step) {
                        return !step.kind || *step.kind == base::CollectiveKind::all_reduce ||
                               *step.kind == base::CollectiveKind::all_gather;
                      });
}

/// The axes that divide tokens before a reshard and not after it, if it leaves the experts where they are.
static AxisList tokenAxes(Operation *op, base::RoutedAttr routed) {
  ArrayRef<DimShardingAttr> from = getSharding(op->getOperand(0)).getDims(),
                            to = getSharding(op->getResult(0)).getDims();
  AxisList axes;
  if (from.front() == to.front())
    for (auto [before, after] : llvm::zip_equal(from.take_front(routed.getDims()), to.take_front(routed.getDims())))
      llvm::copy_if(before.getAxes(), std::back_inserter(axes),
                    [kept = after.getAxes()](AxisRefAttr axis) { return !llvm::is_contained(kept, axis); });
  return axes;
}

/// The list of modules whose experts compute the rows, or the module that does.
static std::string moduleOfRows(Operation *op) {
  CallOp call = op->getResult(0).use_empty() ? CallOp() : dyn_cast<CallOp>(*op->getResult(0).user_begin());
  StringRef module = call ? call.getModule().value_or("") : "";
  for (const auto &[list, experts] : listsOfExperts(op->getParentOfType<func::FuncOp>()))
    if (isInside(module, list))
      return withoutIndices(list);
  return withoutIndices(module);
}

/// Ranks do not know how many rows the others have.
static LogicalResult refuseMoving(Operation *op, base::RoutedAttr routed) {
  Value rows = op->getOperand(0);
  InFlightDiagnostic diagnostic =
      op->emitError() << "rows of tokens between the experts' layers would have to move between ranks, from "
                      << layoutText(typeOf(rows)) << " to " << layoutText(typeOf(op->getResult(0)))
                      << ": ranks do not know how many rows the others have";
  if (Operation *maker = originOf(rows).getDefiningOp())
    diagnostic.attachNote(maker->getLoc()) << "the rows are computed here";
  if (AxisList axes = tokenAxes(op, routed); !axes.empty()) {
    std::string text = axesText(axes), module = moduleOfRows(op);
    mlir::Diagnostic &note = diagnostic.attachNote(op->getLoc());
    note << "help: " << text
         << " divides the tokens of these experts: divide their features by 'colwise' and 'rowwise' over an axis that "
            "does not";
    if (!module.empty())
      note << ", or write '" << module << ": expert " << text << "', or 'within " << text
           << "', which brings the tokens to the ranks that need them";
    return diagnostic;
  }
  diagnostic.attachNote(op->getLoc())
      << "help: divide the experts' first weights by their output features (colwise) and their last ones by their "
         "input features (rowwise) over the same axis, or leave both whole";
  return diagnostic;
}

static LogicalResult mark(Operation *op, const RoutedValues &routed) {
  for (Value result : op->getResults())
    if (base::RoutedAttr kind = routed.get(result)) {
      if (!isa<CallOp>(op) && !isExchange(op, kind) && !isOfFeatures(op, kind))
        return refuseMoving(op, kind);
      result.setType(withSharding(result.getType(), getSharding(result).withRouted(kind)));
    }
  return success();
}

namespace {

struct StoreRoutedPass : meshplan::impl::StoreRoutedBase<StoreRoutedPass> {
  void runOnOperation() final {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      RoutedValues routed(function);
      if (routed.empty())
        continue;
      for (Operation &op : function.getBody().front())
        if (failed(mark(&op, routed)))
          return signalPassFailure();
    }
  }
};

} // namespace
