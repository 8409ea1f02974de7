//===- store_routed.cpp - marks values that are routed to experts ---------===//
//
// See StoreRouted in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/dataflow/module_border.h"
#include "compiler/sharding/dataflow/routed_values.h"
#include "compiler/sharding/layout_text.h"
#include "compiler/transforms/partition/passes.h"

namespace meshplan {
#define GEN_PASS_DEF_STOREROUTED
#include "compiler/transforms/partition/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

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

  static LogicalResult mark(Operation *op, const RoutedValues &routed) {
    for (Value result : op->getResults())
      if (base::RoutedAttr kind = routed.get(result)) {
        if (!isa<CallOp>(op) && !isExchange(op, kind) && !isSum(op))
          return refuseMoving(op);
        result.setType(withSharding(result.getType(), getSharding(result).withRouted(kind)));
      }
    return success();
  }

  /// True if the axes of tokens and experts alone change, which plan-lower-exchanges understands.
  static bool isExchange(Operation *op, base::RoutedAttr routed) {
    ShardingAttr from = getSharding(op->getOperand(0)), to = getSharding(op->getResult(0));
    return isa<ReshardOp>(op) && from.getPartialAxes() == to.getPartialAxes() &&
           from.getDims().drop_front(routed.getDims()) == to.getDims().drop_front(routed.getDims());
  }

  /// True for a sum over ranks, which have the same experts and tokens, and so the same rows.
  static bool isSum(Operation *op) {
    ShardingAttr from = getSharding(op->getOperand(0)), to = getSharding(op->getResult(0));
    return isa<ReshardOp>(op) && from.getDims() == to.getDims() &&
           llvm::all_of(to.getPartialAxes(),
                        [&](AxisRefAttr axis) { return llvm::is_contained(from.getPartialAxes(), axis); });
  }

  /// Ranks do not know how many rows the others have.
  static LogicalResult refuseMoving(Operation *op) {
    Value rows = op->getOperand(0);
    InFlightDiagnostic diagnostic =
        op->emitError() << "rows of tokens between the experts' layers would have to move between ranks, from "
                        << layoutText(typeOf(rows)) << " to " << layoutText(typeOf(op->getResult(0)))
                        << ": ranks do not know how many rows the others have";
    if (Operation *maker = originOf(rows).getDefiningOp())
      diagnostic.attachNote(maker->getLoc()) << "the rows are computed here";
    diagnostic.attachNote(op->getLoc())
        << "help: divide the experts' first weights by their output features (colwise) and their last ones by their "
           "input features (rowwise) over the same axis, or leave both whole";
    return diagnostic;
  }
};

} // namespace
