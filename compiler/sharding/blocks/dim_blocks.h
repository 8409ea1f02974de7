//===- dim_blocks.h - blocks of dims that are not cut -----------*- C++ -*-===//
//
// A block is a run of elements of a dim that may not be cut. For example, a
// following view makes 576 features 9 heads of 64, and attention makes the 9
// heads 3 groups that share a key: the block size of the dim is 192. This
// analysis finds the block size of every dim of every value of a program, from
// the factors of the operators alone, independently of shardings. Only a dim
// that does not divide evenly is distributed by blocks.
//
// With more shards than groups, the heads themselves are distributed, and each
// shard holds the keys that its heads need: a key then counts once for each
// head that shares it (`repeat`).
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_BLOCKS_DIM_BLOCKS_H
#define MESHPLAN_COMPILER_SHARDING_BLOCKS_DIM_BLOCKS_H

#include "compiler/sharding/blocks/part_blocks.h"
#include "compiler/sharding/factor_rule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace meshplan {

/// Equal parts of a range of a dim that a view separates with a dim of its own, as [3, heads, size] does for queries,
/// keys and values.
struct CountedParts {
  static constexpr int64_t disputed = -1; ///< views disagree about the number of parts

  int64_t start = 0, extent = 0; ///< of all parts together
  int64_t count = 1;
  int64_t unit = 1;
  int64_t repeat = 1;

  bool operator==(const CountedParts &) const = default;
};

/// The blocks of a dim. `size`: elements of a block. `repeat`: how many blocks of another dim share each block, such as
/// the query heads of a key head. `parts` are those into which operators split the dim, if any.
struct DimBlock {
  int64_t size = 1;
  int64_t repeat = 1;
  PartBlocks parts = {};
  llvm::SmallVector<CountedParts, 0> counted = {}; ///< at most one for a range

  bool operator==(const DimBlock &) const = default;
};

/// The blocks of the dims of all values of a function. Calls that are created after the analysis are unknown to it; a
/// value that is constrained or resharded keeps its blocks.
class DimBlocks {
public:
  /// Visits every call of the function. Time and memory are linear in its size.
  explicit DimBlocks(mlir::func::FuncOp function);

  /// Block size of the dim; 1 if the value is unknown.
  int64_t get(mlir::Value value, int64_t dim) const;

  /// Sizes of the parts into which operators split the dim; empty if none splits it.
  llvm::SmallVector<int64_t> partsOf(mlir::Value value, int64_t dim) const;

  /// The same where views count `count` equal parts of the dim or of one of its parts; empty if none does.
  llvm::SmallVector<int64_t> partsCounted(mlir::Value value, int64_t dim, int64_t count) const;

  /// The dim divided over `axes`: by its blocks, if there are enough for all shards; else by shared blocks; else by
  /// elements, which a consumer may then refuse. `parts`, which sum to the extent of the dim, are divided separately,
  /// each by its own blocks; a part with repeated blocks is kept as it is.
  plan::DimShardingAttr divide(mlir::Value value, int64_t dim, llvm::ArrayRef<plan::AxisRefAttr> axes,
                               plan::MeshOp mesh, llvm::ArrayRef<DimPart> parts = {}) const;

private:
  using Table = llvm::DenseMap<mlir::Value, llvm::SmallVector<DimBlock, 4>>;
  static const DimBlock &find(const Table &table, mlir::Value value, int64_t dim);

  Table whole; ///< blocks that keep all sharers of a block on one rank
  Table fine;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_BLOCKS_DIM_BLOCKS_H
