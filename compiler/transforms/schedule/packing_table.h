//===- packing_table.h - what collectives pack on each rank -----*- C++ -*-===//
//
// Asks runtime/schema/packing.h, which also tells the runtime what to copy, for the collectives of a function.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PACKING_TABLE_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PACKING_TABLE_H

#include "compiler/sharding/storage/storages.h"
#include "compiler/transforms/schedule/layout_table.h"
#include "runtime/schema/packing.h"

namespace meshplan {

/// The packing on the ranks of each class.
using ClassPacking = llvm::SmallVector<Packing, 2>;

/// Not thread safe.
class PackingTable {
public:
  PackingTable(mlir::func::FuncOp function, LayoutTable &layouts) : layouts(layouts), storages(function) {}

  /// The packing of a collective, or of several that are coalesced.
  ClassPacking get(llvm::ArrayRef<mlir::Operation *> ops);

private:
  ClassPacking alongDims(mlir::Operation *op);
  Packing coalesced(llvm::ArrayRef<mlir::Operation *> ops) const;

  LayoutTable &layouts;
  StorageMap storages;
  /// Packings along dims by the types before and after, and the axes. A program has few distinct ones.
  llvm::DenseMap<std::tuple<mlir::Type, mlir::Type, mlir::Attribute>, ClassPacking> known;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PACKING_TABLE_H
