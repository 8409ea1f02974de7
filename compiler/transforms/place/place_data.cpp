//===- place_data.cpp - data statements divide storage --------------------===//
//
// See PlaceData in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/dataflow/expert_weights.h"
#include "compiler/sharding/layout_text.h"
#include "compiler/sharding/storage/data_axes.h"
#include "compiler/transforms/place/passes.h"
#include "dialect/plan/attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

namespace meshplan {
#define GEN_PASS_DEF_PLACEDATA
#include "compiler/transforms/place/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// The axes over which the dims of the argument are not divided.
static std::string otherAxes(BlockArgument argument, ArrayRef<AxisRefAttr> axes, MeshOp mesh) {
  std::string names;
  llvm::raw_string_ostream stream(names);
  llvm::interleaveComma(remainderOf(axes, allAxes(getSharding(argument)), mesh), stream,
                        [&](AxisRefAttr axis) { stream << axisText(axis); });
  return names;
}

/// An axis cannot divide both the dims of a tensor and its flat elements. Of weights of experts such axes are left out
/// instead (dataAxesOf): all tokens are on the ranks of their weights.
static LogicalResult checkFree(BlockArgument argument, DataOp data, MeshOp mesh) {
  AxisList axes = dividingAxes(toAxes(data.getAxes()), mesh);
  for (DimShardingAttr dim : getSharding(argument).getDims())
    for (AxisRefAttr axis : dim.getAxes())
      if (overlapsAny(axes, axis)) {
        auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
        auto names = argAttr<attr::Names>(function, argument.getArgNumber());
        auto diagnostic = data.emitError()
                          << "'" << data.getText() << "' shards parameter '" << cast<StringAttr>(names[0]).getValue()
                          << "' over axis '" << axis.getName() << "', over which its style already shards it";
        diagnostic.attachNote(argument.getLoc()) << "the style is here";
        std::string others = otherAxes(argument, axes, mesh);
        if (others.empty())
          diagnostic.attachNote(data.getLoc()) << "help: give its style other axes, or write '" << data.getText()
                                               << " on PATHS' with the paths of other parameters";
        else
          diagnostic.attachNote(data.getLoc())
              << "help: shard over the remaining axes: 'shard ... over " << others << "'";
        return diagnostic;
      }
  return success();
}

static LogicalResult place(BlockArgument argument, bool isOfExperts, MeshOp mesh) {
  DataOp data = dataOf(argument);
  if (data && data.getOffloadParameters()) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    setArgAttr<attr::Host>(function, argument.getArgNumber(), UnitAttr::get(function.getContext()));
  }
  if (!data || data.getShard() == DataStage::replicated)
    return success();
  if (!isOfExperts && failed(checkFree(argument, data, mesh)))
    return failure();
  // With earlier stages the parameter stays replicated, and only what belongs to its update is divided (OptimizerStep).
  if (isStoredDivided(argument))
    argument.setType(withSharding(argument.getType(), getSharding(argument).withFlat(dataAxesOf(argument, mesh))));
  return success();
}

namespace {

struct PlaceDataPass : meshplan::impl::PlaceDataBase<PlaceDataPass> {
  void runOnOperation() final {
    MeshOp mesh = getMesh(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      llvm::DenseSet<BlockArgument> ofExperts;
      for (const ExpertWeight &weight : weightsOfExperts(llvm::to_vector(function.getBody().getOps<CallOp>())))
        ofExperts.insert(weight.argument);
      for (BlockArgument argument : function.getArguments())
        if (failed(place(argument, ofExperts.contains(argument), mesh)))
          return signalPassFailure();
      function.setType(FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(),
                                         function.getBody().front().getTerminator()->getOperandTypes()));
    }
  }
};

} // namespace
