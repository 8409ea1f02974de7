//===- drop_shapes.cpp - removes operands read only for their shape -------===//
//
// See DropShapes in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/op_record.h"
#include "compiler/transforms/partition/passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {
#define GEN_PASS_DEF_DROPSHAPES
#include "compiler/transforms/partition/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

static void dropShape(CallOp call) {
  const OpRecord *record = OpRegistry::get().lookup(call.getTarget());
  std::optional<CallRewrite> rewrite =
      record && record->dropShape ? record->dropShape(CallView::of(call)) : std::nullopt;
  if (!rewrite)
    return;
  SmallVector<Value> given(call.getOperands());
  call->setOperands(llvm::map_to_vector(rewrite->operands, [&](unsigned index) { return given[index]; }));
  call.setArgsAttr(rewrite->args);
  // Erase reshards that were needed only for the shape.
  for (Value value : given)
    if (auto reshard = value.getDefiningOp<ReshardOp>(); reshard && reshard->use_empty())
      reshard.erase();
}

namespace {
struct DropShapesPass : meshplan::impl::DropShapesBase<DropShapesPass> {
  void runOnOperation() final {
    for (auto function : getOperation().getOps<func::FuncOp>())
      function.walk(dropShape);
  }
};
} // namespace
