//===- layout_table.h - resolves shardings to sched layouts -----*- C++ -*-===//
//
// Replaces axis names by positions and sizes, and computes the extents of a shard. Results are cached by type, because
// a program has few distinct types.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_LAYOUT_TABLE_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_LAYOUT_TABLE_H

#include "compiler/scheduling/problem.h"
#include "dialect/plan/plan.h"
#include "dialect/sched/sched.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace meshplan {

/// The layout of a tensor type for the scheduler.
struct ResolvedLayout {
  sched::ShardedTensorType type;
  /// The shard of a rank of each class, without encoding, and its bytes.
  llvm::SmallVector<mlir::RankedTensorType, 2> local;
  scheduling::ClassBytes bytes;
};

/// Layouts under one mesh. Not thread safe. The rank classes are: the rank with all coordinates 0, which holds the
/// largest shard of every tensor without shared blocks; for tensors with shared blocks, ranks in between; and the rank
/// with the last coordinate on every axis, which holds the smallest shard. A mesh of one rank has one class.
class LayoutTable {
public:
  /// A null mesh means one rank: types have no sharding. `load`: how many rows of experts a rank has.
  explicit LayoutTable(plan::MeshOp mesh, RowLoad load = RowLoad::balanced);

  /// Adds the classes that the types of a function need. Call before the first `get`.
  void addRankClasses(mlir::func::FuncOp function);

  /// The layout of a tensor type with a decided sharding (or of any tensor type on one rank). Valid until the next
  /// call.
  const ResolvedLayout &get(mlir::Type type);

  /// Sizes of the axes of the mesh; empty for one rank.
  llvm::ArrayRef<int64_t> axisSizes() const { return meshSizes; }

  unsigned rankClasses() const { return coordinates.size(); }

  /// The coordinate of the rank that stands for a class.
  llvm::ArrayRef<int64_t> coordinate(unsigned rankClass) const { return coordinates[rankClass]; }

  llvm::SmallVector<meshplan::AxisRef> resolve(llvm::ArrayRef<plan::AxisRefAttr> axes);

private:
  void addSharers(plan::DimShardingAttr dim, int64_t extent);
  ResolvedLayout build(mlir::RankedTensorType type);
  sched::ShardedTensorType resolveType(mlir::RankedTensorType type);

  plan::MeshOp mesh;
  RowLoad load;
  llvm::SmallVector<int64_t> meshSizes;
  llvm::SmallVector<llvm::SmallVector<int64_t>, 2> coordinates;
  llvm::DenseMap<mlir::Type, ResolvedLayout> known;
};

/// True if every dim of the sharding is closed.
bool isDecided(mlir::Type type);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_LAYOUT_TABLE_H
