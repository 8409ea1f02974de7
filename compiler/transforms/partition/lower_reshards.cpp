//===- lower_reshards.cpp - lowers reshards to collectives ----------------===//
//
// See LowerReshards in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/dataflow/routed_values.h"
#include "compiler/sharding/reshard.h"
#include "compiler/transforms/partition/passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace meshplan {
#define GEN_PASS_DEF_LOWERRESHARDS
#include "compiler/transforms/partition/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// Builds the op of one step on `input`.
static Value buildStep(OpBuilder &builder, ReshardOp reshard, Value input, const ReshardStep &step) {
  Location location = reshard.getLoc();
  Type type = withSharding(input.getType(), step.result);
  ArrayAttr axes = builder.getArrayAttr(SmallVector<Attribute>(step.axes.begin(), step.axes.end()));
  StringAttr cause = reshard.getCauseAttr();
  IntegerAttr dim = step.dim < 0 ? IntegerAttr() : builder.getI64IntegerAttr(step.dim), bucket;
  UnitAttr blocking;
  if (!step.kind)
    return SliceOp::create(builder, location, type, input, axes, cause, dim);
  switch (*step.kind) {
  case CollectiveKind::permute:
    return PermuteOp::create(builder, location, type, input, axes, cause);
  case CollectiveKind::all_to_all:
    return AllToAllOp::create(builder, location, type, input, axes, cause, builder.getI64IntegerAttr(step.fromDim),
                              dim);
  case CollectiveKind::all_gather:
    return AllGatherOp::create(builder, location, type, input, axes, cause, dim, bucket, blocking, Value());
  case CollectiveKind::reduce_scatter:
    return ReduceScatterOp::create(builder, location, type, input, axes, cause, dim, bucket, blocking, Value());
  case CollectiveKind::all_reduce:
    return AllReduceOp::create(builder, location, type, input, axes, cause, dim, bucket, blocking, Value());
  }
  llvm_unreachable("unknown step");
}

namespace {
struct LowerReshardsPass : meshplan::impl::LowerReshardsBase<LowerReshardsPass> {
  void runOnOperation() final {
    MeshOp mesh = getMesh(getOperation());
    getOperation().walk([&](ReshardOp reshard) {
      // Exchanges of rows have a pass of their own, plan-lower-exchanges.
      if (goesToExperts(reshard) || comesFromExperts(reshard))
        return;
      OpBuilder builder(reshard);
      Value value = reshard.getInput();
      auto type = cast<RankedTensorType>(value.getType());
      for (const ReshardStep &step : planReshard(type, getSharding(reshard.getResult()), mesh))
        value = buildStep(builder, reshard, value, step);
      reshard.replaceAllUsesWith(value);
      reshard.erase();
    });
  }
};
} // namespace
