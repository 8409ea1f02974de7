//===- layouts.h - the side table of propagation ----------------*- C++ -*-===//
//
// State of each value of a function while its layouts are decided: its current
// sharding, the reshards of it that exist, and the statement of the plan that
// caused each axis. Owns nothing; reshards are created in the IR.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_LAYOUTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_LAYOUTS_H

#include "compiler/sharding/axes.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace meshplan {

/// A statement of the plan and its text; `style` is null if the axis does not come from a statement.
struct Cause {
  mlir::Location location;
  mlir::StringAttr style;
};

/// True if both have the same axes but different blocks or parts, so that data moves. Repeat counts do not matter: a
/// rank that shares blocks also holds its own.
bool isRedistributed(plan::DimShardingAttr before, plan::DimShardingAttr after);

/// The dim divided over `axes`, in the blocks of a statement that divides it over some of them; by elements if there
/// are too few such blocks for all shards.
plan::DimShardingAttr divideFurther(int64_t extent, llvm::ArrayRef<plan::AxisRefAttr> axes,
                                    plan::DimShardingAttr statement, plan::MeshOp mesh);

/// True unless each rank already holds, under `from`, the elements that it needs under `to`.
bool movesData(plan::ShardingAttr from, plan::ShardingAttr to);

class Layouts {
public:
  explicit Layouts(plan::MeshOp mesh) : mesh(mesh) {}

  /// Records the sharding of a value and sets it on its type. Called once for each value.
  void decide(mlir::Value value, plan::ShardingAttr sharding);

  /// The form of `value` that consumers read now: itself, or its reduced form if it was partial.
  mlir::Value current(mlir::Value value) const;

  /// True if a version of the value has this sharding.
  bool has(mlir::Value value, plan::ShardingAttr sharding) const;

  /// `value` under `sharding`: an existing version, or a reshard of the cheapest version, inserted before `user`. Axes
  /// that stay in their position keep their causes; others have none yet.
  mlir::Value obtain(mlir::Value value, plan::ShardingAttr sharding, mlir::Operation *user, const Cause &cause);

  /// From now on consumers of `value` start from `reduced`.
  void supersede(mlir::Value value, mlir::Value reduced);

  /// The statement that caused `axis` in the sharding of `value`, if one is known.
  std::optional<Cause> causeOf(mlir::Value value, plan::AxisRefAttr axis) const;
  void setCause(mlir::Value value, plan::AxisRefAttr axis, const Cause &cause);

  /// Attaches the causes of the axes of an op's results to its location (plan::withCauses).
  void writeCauses(mlir::Operation *op) const;

private:
  /// Copies the causes of the axes that are in the same position in both.
  void copyCauses(mlir::Value from, mlir::Value to);
  /// The value of the program of which `value` is a version.
  mlir::Value origin(mlir::Value value) const;

  plan::MeshOp mesh;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>> versions;
  llvm::DenseMap<mlir::Value, mlir::Value> origins;
  llvm::DenseMap<mlir::Value, mlir::Value> currents;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<std::pair<plan::AxisRefAttr, Cause>, 2>> causes;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_LAYOUTS_H
