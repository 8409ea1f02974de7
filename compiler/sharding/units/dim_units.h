//===- dim_units.h - what may not be cut apart ------------------*- C++ -*-===//
//
// A dim of 576 features is 9 heads of 64 to the view that follows, and the heads
// are 3 groups that share a key to the attention behind it: it is made of units
// of 192. This analysis finds the unit of every dim of every value of a program,
// from the operators' factors alone, whatever the shardings are. Only a dim that
// does not divide evenly is dealt by its unit. With more shards than groups the
// heads themselves are dealt, and each shard holds the keys that its heads need:
// a key then counts once for each head that shares it.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_UNITS_DIM_UNITS_H
#define MESHPLAN_COMPILER_SHARDING_UNITS_DIM_UNITS_H

#include "compiler/sharding/factor_rule.h"
#include "compiler/sharding/units/part_units.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace meshplan {

/// Equal parts of elements of a dim that a view gives a dim to count them, as [3, heads, size] does for queries, keys
/// and values.
struct CountedParts {
  static constexpr int64_t disputed = -1; ///< views count different numbers of parts

  int64_t start = 0, extent = 0; ///< all parts together
  int64_t count = 1;
  int64_t unit = 1;
  int64_t repeat = 1;

  bool operator==(const CountedParts &) const = default;
};

/// A unit of a dim: its elements, and how many units of another dim share it. The parts are those in which operators
/// take the dim apart, if there are any.
struct DimUnit {
  int64_t size = 1;
  int64_t repeat = 1;
  PartUnits parts = {};
  llvm::SmallVector<CountedParts, 0> counted = {}; ///< at most one for a range

  bool operator==(const DimUnit &) const = default;
};

/// The units of the dims of a function's values. Calls that are made after the
/// analysis are not known to it; a value that is constrained or resharded keeps its units.
class DimUnits {
public:
  /// Looks at every call of the function. Time and memory are linear in its size.
  explicit DimUnits(mlir::func::FuncOp function);

  /// Elements of the dim that belong together; 1 if nothing is known of the value.
  int64_t get(mlir::Value value, int64_t dim) const;

  /// Sizes of the parts in which operators take the dim apart; empty if it is one to all of them.
  llvm::SmallVector<int64_t> partsOf(mlir::Value value, int64_t dim) const;

  /// The same where views count `count` equal parts of the dim or of one of its parts; empty if none does.
  llvm::SmallVector<int64_t> partsCounted(mlir::Value value, int64_t dim, int64_t count) const;

  /// The dim divided over `axes`: by its units if there are enough for all shards; else by units that may share what
  /// they read; else by elements, of which a consumer may then refuse that they be cut. With `parts`, which add up to
  /// the dim, each is divided so, in units of its own; a part whose units repeat stays as it is.
  plan::DimShardingAttr divide(mlir::Value value, int64_t dim, llvm::ArrayRef<plan::AxisRefAttr> axes,
                               plan::MeshOp mesh, llvm::ArrayRef<DimPart> parts = {}) const;

private:
  using Table = llvm::DenseMap<mlir::Value, llvm::SmallVector<DimUnit, 4>>;
  static const DimUnit &find(const Table &table, mlir::Value value, int64_t dim);

  Table whole; ///< nothing that is shared is held twice
  Table fine;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_UNITS_DIM_UNITS_H
