//===- sched.h - the sched dialect ------------------------------*- C++ -*-===//
//
// Includes the whole dialect: attributes, types, ops, and the queries that the
// scheduler and the targets use. sched.td describes the dialect.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_SCHED_SCHED_H
#define MESHPLAN_DIALECT_SCHED_SCHED_H

#include "dialect/base/base.h"
#include "dialect/base/collectives.h"
#include "dialect/base/dim_parts.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"

namespace meshplan::sched {
using base::CollectiveKind;
using base::CollectiveKindAttr;
using base::elementBytes;
using base::LocalIntAttr;
using base::MeshAxisAttr;
using base::OperandRefAttr;
using base::Reduction;
using base::stringifyCollectiveKind;
using base::stringifyReduction;
using base::symbolizeCollectiveKind;
using base::symbolizeReduction;
} // namespace meshplan::sched

#include "dialect/sched/dialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/sched/attrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/sched/types.h.inc"

#define GET_OP_CLASSES
#include "dialect/sched/ops.h.inc"

namespace meshplan::sched {

/// The mesh of the module that holds `op`, or null.
MeshOp getMesh(mlir::Operation *op);

/// The first program of a role that runs on all ranks, or of `reference`; null without one.
ProgramOp programOf(mlir::ModuleOp module, base::ProgramRole role);

/// The target of a PeakAttr where no op runs: the outputs are taken.
inline constexpr llvm::StringLiteral peakAtEnd = "end";

/// The program that a plan is about: the training step if there is one, else the forward program; null without either.
ProgramOp mainProgramOf(mlir::ModuleOp module);

/// In which instances of its program a step runs; `always` for ops that are not steps of the runtime.
base::When whenOf(mlir::Operation *step);
void setWhen(mlir::Operation *step, base::When when);

/// Sizes of a list of mesh axes.
llvm::SmallVector<int64_t> axisSizes(mlir::ArrayAttr meshAxes);

/// An axis, a list of axes or a dim in the form of the extent function.
meshplan::AxisRef toAxisRef(AxisAttr axis);
llvm::SmallVector<meshplan::AxisRef> toAxisRefs(mlir::ArrayAttr axes);
meshplan::DimSharding toDimSharding(DimAttr dim);

/// Extents of the shard of the rank at `coordinate` of the mesh. For a flat tensor, its number of elements.
llvm::SmallVector<int64_t> localShape(ShardedTensorType type, llvm::ArrayRef<int64_t> meshSizes,
                                      llvm::ArrayRef<int64_t> coordinate, RowLoad load = RowLoad::balanced);

/// Bytes of that shard.
int64_t localBytes(ShardedTensorType type, llvm::ArrayRef<int64_t> meshSizes, llvm::ArrayRef<int64_t> coordinate,
                   RowLoad load = RowLoad::balanced);

/// The rows of a routed type on the rank that has most of them.
int64_t largestRows(ShardedTensorType type, RowLoad load);

/// Bytes of the largest shard of any rank.
int64_t largestBytes(ShardedTensorType type, RowLoad load = RowLoad::balanced);

/// The tensors that a value of a collective consists of: one, or the members of a packed value.
llvm::SmallVector<ShardedTensorType, 1> tensorsOf(mlir::Type type);

/// True if the tensor is in host memory.
bool isOnHost(mlir::Value tensor);

/// What a started collective or copy writes its result in place of, or null.
mlir::Value targetOf(mlir::Operation *step);

/// The location in a plan file that a location refers to, or null: a range, or a point in a file named `*.plan`.
mlir::FileLineColRange getPlanLocation(mlir::Location location);

} // namespace meshplan::sched

#endif // MESHPLAN_DIALECT_SCHED_SCHED_H
