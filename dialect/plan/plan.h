//===- plan.h - the plan dialect --------------------------------*- C++ -*-===//
//
// Includes the whole dialect: attributes, ops, and the queries of types that
// passes use. plan.td describes the dialect.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_PLAN_PLAN_H
#define MESHPLAN_DIALECT_PLAN_PLAN_H

#include "dialect/base/base.h"
#include "dialect/base/collectives.h"
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
using base::CollectiveKind;
using base::elementBytes;
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

/// The first name of a parameter in the model; "parameter" if it has none.
llvm::StringRef parameterName(mlir::BlockArgument parameter);

/// The dim of an input that the plan names `batch`.
std::optional<unsigned> batchDimOf(mlir::BlockArgument input);

/// The data parallel statement that covers an argument of a program (`plan.data`), or null.
DataOp dataOf(mlir::BlockArgument argument);

/// True if the data statement of a parameter divides what a rank stores of it from step to step.
bool isStoredDivided(mlir::BlockArgument parameter);

/// True if the step gathers the parameter once, for all microbatches and both passes, and holds it (`gather_in_step`).
bool gathersInStep(mlir::BlockArgument parameter);

/// True if the tensor is in host memory.
bool isOnHost(mlir::Value value);

/// The mesh axis along which microbatches follow one another; always the last axis. No plan can name it.
inline constexpr llvm::StringLiteral timeAxisName = "microbatch";
inline bool isTime(AxisRefAttr axis) { return axis.getName() == timeAxisName; }

/// True if the tensor is divided or partial over time.
bool isInTime(mlir::Type type);

/// True if a dim is divided over time first and then over other axes: a microbatch is a contiguous range of the dim.
inline bool isRunOfBatch(DimShardingAttr dim) { return dim.getAxes().size() > 1 && isTime(dim.getAxes().front()); }

/// The layout of the whole batch, of this extent, whose microbatches have the layout `run`: one part per microbatch,
/// each divided like `run`.
DimShardingAttr batchOfRuns(int64_t extent, DimShardingAttr run, MeshOp mesh);

/// True for arguments of kind "parameter" or "buffer".
bool isWeight(mlir::Value value);

/// True for parameters, buffers and constants, and for values that calls with one operand or reshards derive from them.
bool isFromWeights(mlir::Value value);

/// The mesh of the module that holds `op`, or null.
MeshOp getMesh(mlir::Operation *op);

/// The kind of a collective op; none for other ops.
std::optional<CollectiveKind> collectiveKindOf(mlir::Operation *op);

/// An axis of the plan in the form of the extent function. `axis` must name an axis of `mesh` (verified).
meshplan::AxisRef resolveAxis(AxisRefAttr axis, MeshOp mesh);

/// Number of shards that `axes` make.
int64_t shardCount(llvm::ArrayRef<AxisRefAttr> axes, MeshOp mesh);

/// One dim of a tensor in the form of the extent function.
meshplan::DimSharding resolveDim(int64_t extent, DimShardingAttr dim, MeshOp mesh);

/// The canonical spelling of the division of a dim of `extent` elements: nothing but `open` where there are no axes,
/// and block size (`unit`) 1 where every shard (of every part) has the same whole number of blocks. Dims that are
/// distributed alike are equal attributes.
DimShardingAttr canonicalDim(int64_t extent, DimShardingAttr dim, MeshOp mesh);

/// The canonical dim with these axes, major to minor.
DimShardingAttr divideDim(int64_t extent, llvm::ArrayRef<AxisRefAttr> axes, MeshOp mesh, int64_t unit = 1,
                          llvm::ArrayRef<DimPart> parts = {}, int64_t repeat = 1);
/// The same with the block sizes and parts of another dim.
DimShardingAttr divideDim(int64_t extent, llvm::ArrayRef<AxisRefAttr> axes, MeshOp mesh, DimShardingAttr like);

/// The sharding with `axis` removed from the dims of tokens, which are `count` dims from `first` on: an axis of one of
/// them, or a digit of one. Nothing if no dim has it, or if shards are unequal and it is not the most minor one. Where
/// a major axis has been removed, the sharding of what arrives says how many tokens a rank has, and not which: nothing
/// asks for their positions.
std::optional<ShardingAttr> withoutTokenAxis(mlir::RankedTensorType type, ShardingAttr sharding, int64_t first,
                                             int64_t count, AxisRefAttr axis, MeshOp mesh);

/// The sharding of the arrivals of rows that are exchanged over `axes`, major to minor; nothing if these do not divide
/// their tokens.
std::optional<ShardingAttr> arrivalsOf(mlir::RankedTensorType rows, llvm::ArrayRef<AxisRefAttr> axes, MeshOp mesh);

/// True if neighbouring shards may hold the same block.
bool isShared(DimShardingAttr dim);

/// True if each shard, of each part, holds a block that no other shard holds.
bool hasBlockForEach(int64_t extent, DimShardingAttr dim, MeshOp mesh);

/// The same dim without sharing: of the blocks that neighbours share, each rank keeps only its own.
DimShardingAttr ownUnits(int64_t extent, DimShardingAttr dim, MeshOp mesh);

/// The dim after gathering its `count` most minor axes: its shards are unions of those of `dim`.
DimShardingAttr dropMinorAxes(int64_t extent, DimShardingAttr dim, size_t count, MeshOp mesh);

/// Bytes of the largest shard of a tensor of this type, which every rank must be able to hold.
int64_t largestShardBytes(mlir::RankedTensorType type, MeshOp mesh);

/// The location of an op with the causes of the axes of its results. They replace earlier causes.
mlir::Location withCauses(mlir::Location location, llvm::ArrayRef<CauseAttr> causes);

/// The causes that withCauses has attached.
llvm::SmallVector<CauseAttr> getCauses(mlir::Location location);

/// Checks a sharding against a mesh: axes exist, digits divide the axis.
mlir::LogicalResult verifyAgainstMesh(ShardingAttr sharding, MeshOp mesh,
                                      llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace meshplan::plan

#endif // MESHPLAN_DIALECT_PLAN_PLAN_H
