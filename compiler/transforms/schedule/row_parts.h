//===- row_parts.h - parts of an operation by rows --------------*- C++ -*-===//
//
// Rows are the indices of one dim of the result, and of those dims of the operands that belong to it. A part has an
// equal range of them.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_ROW_PARTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_ROW_PARTS_H

#include "compiler/sharding/op_record.h"
#include "compiler/transforms/schedule/layout_table.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace meshplan {

/// The dims that rows are of.
struct RowDims {
  unsigned result = 0;
  /// By operand: none if each part reads all of it.
  llvm::SmallVector<std::optional<unsigned>, 2> operands;
};

/// An operation of which a solution has made parts (scheduling/choices.h).
struct Part {
  /// From 0; none for the operation that joins the results of all parts.
  std::optional<unsigned> index;
  unsigned count = 1;
  RowDims dims;
};

/// The type of a part of a value: `dim` has the extent of one of `count` equal parts.
mlir::RankedTensorType partType(mlir::Type whole, unsigned dim, unsigned count);

/// Strides of values on a rank of each class; row-major if there is no entry.
using StrideTable = llvm::DenseMap<mlir::Value, llvm::SmallVector<Strides, 2>>;

/// Strides of a value on a rank of a class.
Strides stridesOnRank(mlir::Value value, unsigned rankClass, LayoutTable &layouts, const StrideTable &strides);

/// A call as a rank of a class runs it, or a part of it.
CallView viewOnRank(plan::CallOp call, unsigned rankClass, LayoutTable &layouts, const StrideTable &strides,
                    const Part *part = nullptr);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_ROW_PARTS_H
