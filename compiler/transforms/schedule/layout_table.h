//===- layout_table.h - shardings of plan as layouts of sched ---*- C++ -*-===//
//
// Axes by name become axes by position and size, and tensors get the extents
// that a rank holds. Results are remembered by type, since few types make up a
// program.
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

/// What the schedule needs to know of a tensor type.
struct ResolvedLayout {
  sched::ShardedTensorType type;
  /// The part that a rank of each class holds, without encoding, and its bytes.
  llvm::SmallVector<mlir::RankedTensorType, 2> local;
  scheduling::ClassBytes bytes;
};

/// Layouts under one mesh. Not thread safe. Rank classes are the rank whose coordinates are all 0, which holds the
/// largest part of every tensor whose units are not shared, ranks between for those that are, and the rank whose
/// coordinates are all last, which holds the smallest part.
class LayoutTable {
public:
  /// A null mesh stands for one rank: types have no sharding.
  explicit LayoutTable(plan::MeshOp mesh);

  /// Adds the classes that the types of a function need. Before the first `get`.
  void addRankClasses(mlir::func::FuncOp function);

  /// The layout of a tensor type whose sharding is decided (or of any tensor type on one rank).
  const ResolvedLayout &get(mlir::Type type);

  /// Sizes of the axes of the mesh; empty for one rank.
  llvm::ArrayRef<int64_t> axisSizes() const { return meshSizes; }

  unsigned rankClasses() const { return coordinates.size(); }

  llvm::SmallVector<meshplan::AxisRef> resolve(llvm::ArrayRef<plan::AxisRefAttr> axes);

private:
  void addSharers(plan::DimShardingAttr dim, int64_t extent);
  ResolvedLayout build(mlir::RankedTensorType type);
  sched::ShardedTensorType resolveType(mlir::RankedTensorType type);

  plan::MeshOp mesh;
  llvm::SmallVector<int64_t> meshSizes;
  llvm::SmallVector<llvm::SmallVector<int64_t>, 2> coordinates;
  llvm::DenseMap<mlir::Type, ResolvedLayout> known;
};

/// True if every dim of the type's sharding is closed.
bool isDecided(mlir::Type type);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_LAYOUT_TABLE_H
