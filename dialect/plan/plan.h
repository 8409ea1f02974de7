//===- plan.h - the plan dialect --------------------------------*- C++ -*-===//
//
// Includes everything of the dialect: attributes, ops, and the queries that
// passes ask of types. See plan.td for what the dialect means.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_PLAN_PLAN_H
#define MESHPLAN_DIALECT_PLAN_PLAN_H

#include "dialect/base/base.h"
#include "dialect/base/dim_parts.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace meshplan::plan {
using base::LocalIntAttr;
using base::MeshAxisAttr;
using base::OperandRefAttr;
using base::Reduction;
using base::stringifyReduction;
using base::symbolizeReduction;
} // namespace meshplan::plan

#include "dialect/plan/enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/plan/attrs.h.inc"

#include "dialect/plan/dialect.h.inc"

#define GET_OP_CLASSES
#include "dialect/plan/ops.h.inc"

namespace meshplan {

/// Type, shape, element type and rank of a tensor.
inline mlir::RankedTensorType typeOf(mlir::Value value) { return llvm::cast<mlir::RankedTensorType>(value.getType()); }
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) { return typeOf(value).getShape(); }
inline mlir::Type elementOf(mlir::Value value) { return typeOf(value).getElementType(); }
inline int64_t rankOf(mlir::Value value) { return typeOf(value).getRank(); }

} // namespace meshplan

namespace meshplan::plan {

/// The sharding of a tensor type, or null if it is undecided.
ShardingAttr getSharding(mlir::Type type);
inline ShardingAttr getSharding(mlir::Value value) { return getSharding(value.getType()); }

/// The same tensor type under `sharding`; null makes it undecided.
mlir::RankedTensorType withSharding(mlir::Type type, ShardingAttr sharding);

/// What an argument of a program is, or nothing if the argument does not say so.
std::optional<ArgumentKind> argumentKind(mlir::BlockArgument argument);

/// The statement of data parallelism that an argument of a program is in (`plan.data`), or null.
DataOp dataOf(mlir::BlockArgument argument);

/// True if the tensor lies in the memory of the host.
bool isOnHost(mlir::Value value);

/// The axis of a mesh along which microbatches follow one another; the last one. No plan can name it.
inline constexpr llvm::StringLiteral timeAxisName = "microbatch";
inline bool isTime(AxisRefAttr axis) { return axis.getName() == timeAxisName; }

/// True if the tensor is divided or partial over time.
bool isInTime(mlir::Type type);

/// True for arguments of kind "parameter" or "buffer".
bool isWeight(mlir::Value value);

/// True for parameters, buffers and constants, also where calls of one operand or reshards have changed their form.
bool isFromWeights(mlir::Value value);

/// The mesh of the module that holds `op`, or null.
MeshOp getMesh(mlir::Operation *op);

/// An axis of the plan as the extent function knows it. `axis` names an axis of
/// `mesh` (verified).
meshplan::AxisRef resolveAxis(AxisRefAttr axis, MeshOp mesh);

/// Number of shards that `axes` make.
int64_t shardCount(llvm::ArrayRef<AxisRefAttr> axes, MeshOp mesh);

/// One dim of a tensor as the extent function knows it.
meshplan::DimSharding resolveDim(int64_t extent, DimShardingAttr dim, MeshOp mesh);

/// The only spelling of how a dim of `extent` elements is divided: nothing but `open` where there are no axes, and unit
/// 1 where every shard (of every part) has the same whole number of units. Dims that are dealt alike are equal
/// attributes.
DimShardingAttr canonicalDim(int64_t extent, DimShardingAttr dim, MeshOp mesh);

/// The canonical dim with these axes, major to minor.
DimShardingAttr divideDim(int64_t extent, llvm::ArrayRef<AxisRefAttr> axes, MeshOp mesh, int64_t unit = 1,
                          llvm::ArrayRef<DimPart> parts = {}, int64_t repeat = 1);
/// The same with the units and parts of another dim.
DimShardingAttr divideDim(int64_t extent, llvm::ArrayRef<AxisRefAttr> axes, MeshOp mesh, DimShardingAttr like);

/// True if neighbours may hold the same unit.
bool isShared(DimShardingAttr dim);

/// True if each shard, of each part, holds a unit that no other does.
bool hasUnitForEach(int64_t extent, DimShardingAttr dim, MeshOp mesh);

/// The dim where each rank keeps, of the units that neighbours share, those that are its own.
DimShardingAttr ownUnits(int64_t extent, DimShardingAttr dim, MeshOp mesh);

/// What gathering the `count` most minor axes makes of a dim: its shards are unions of those of `dim`.
DimShardingAttr dropMinorAxes(int64_t extent, DimShardingAttr dim, size_t count, MeshOp mesh);

/// Bytes of an element.
int64_t elementBytes(mlir::Type type);

/// Bytes of the largest shard of a tensor of this type: what a rank must hold.
int64_t largestShardBytes(mlir::RankedTensorType type, MeshOp mesh);

/// `location` of an op, and the statements behind the axes of its results. They replace those that it has.
mlir::Location withCauses(mlir::Location location, llvm::ArrayRef<CauseAttr> causes);

/// The statements that withCauses has put there.
llvm::SmallVector<CauseAttr> getCauses(mlir::Location location);

/// Checks a sharding against a mesh: axes exist, digits divide the axis.
mlir::LogicalResult verifyAgainstMesh(ShardingAttr sharding, MeshOp mesh,
                                      llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace meshplan::plan

#endif // MESHPLAN_DIALECT_PLAN_PLAN_H
