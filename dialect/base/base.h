//===- base.h - the base dialect --------------------------------*- C++ -*-===//
//
// Includes all attributes and enums of the dialect. See base.td for what belongs
// to it.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_BASE_BASE_H
#define MESHPLAN_DIALECT_BASE_BASE_H

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "runtime/schema/routed.h"
#include "runtime/schema/weight_pieces.h"
#include "llvm/Support/MathExtras.h"

#include "dialect/base/dialect.h.inc"
#include "dialect/base/enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/base/attrs.h.inc"

namespace meshplan::base {

/// Fails unless a loss scale has growth, backoff and an interval, or none of them.
llvm::LogicalResult verifyLossScale(llvm::function_ref<mlir::InFlightDiagnostic()> emitError, mlir::FloatAttr growth,
                                    mlir::FloatAttr backoff, int64_t interval);

/// Fails unless a tensor of this shape may be stored as `routed` says, which may be null. `isFlat`: its elements are
/// split without regard to dims.
llvm::LogicalResult verifyRouted(llvm::function_ref<mlir::InFlightDiagnostic()> emitError, RoutedAttr routed,
                                 llvm::ArrayRef<int64_t> shape, bool isFlat);

/// The shape in which a rank stores its shard of a routed value of `experts` experts (routed.h).
std::vector<int64_t> storedShape(RoutedAttr routed, int64_t experts, llvm::ArrayRef<int64_t> shard,
                                 RowLoad load = RowLoad::balanced);

/// How often a timeline runs the program of this name; 0 without a timeline.
int64_t instancesIn(mlir::ArrayAttr timeline, llvm::StringRef program);

/// The mesh of the module that is or contains `op`; null without one. `MeshOp` is that of the dialect.
template <typename MeshOp> MeshOp meshOf(mlir::Operation *op) {
  auto module = llvm::dyn_cast<mlir::ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<mlir::ModuleOp>();
  if (!module)
    return nullptr;
  auto meshes = module.getOps<MeshOp>();
  return meshes.empty() ? MeshOp() : *meshes.begin();
}

/// The output of a guarded step that counts the non-finite elements of its gradients (#base.guard).
inline constexpr llvm::StringLiteral nonfiniteOutput = "nonfinite";

/// The outputs of a step that count the tokens of each expert begin with this.
inline constexpr llvm::StringLiteral expertTokensOutput = "expert_tokens";

/// The number of a float attribute; 0 without one.
inline double numberOf(mlir::FloatAttr number) { return number ? number.getValueAsDouble() : 0; }

/// Bytes of an element of a tensor, or of an element type.
inline int64_t elementBytes(mlir::Type type) {
  return llvm::divideCeil(mlir::getElementTypeOrSelf(type).getIntOrFloatBitWidth(), 8);
}

} // namespace meshplan::base

#endif // MESHPLAN_DIALECT_BASE_BASE_H
