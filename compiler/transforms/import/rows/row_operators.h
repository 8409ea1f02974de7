//===- row_operators.h - operators that compute on each row alone *- C++ -*-===//
//
// Rows are the indices of the first dim of a tensor. An operator computes on each row alone if row i of its results
// depends only on row i of those operands that have rows: a softmax over another dim, a lookup along another dim, a
// view of the other dims. Such an operator also computes on tensors with several leading dims instead of the rows,
// with arguments that count the dims that were added.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ROWS_ROW_OPERATORS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ROWS_ROW_OPERATORS_H

#include "dialect/plan/plan.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>

namespace meshplan {

/// True for an operator that changes the shape of one tensor and keeps the order of its elements.
bool isView(llvm::StringRef target);

/// True for transpose and permute.
bool isPermutation(llvm::StringRef target);

/// True for an operator that only moves elements, or gives a tensor other dims.
bool onlyMoves(llvm::StringRef target);

/// For each operand of a call that computes on each row alone: whether it has rows. nullopt for other calls, and for
/// those whose results do not have this number of rows.
std::optional<llvm::SmallVector<bool>> operandsWithRows(plan::CallOp call, int64_t rows);

/// The same operator on tensors that have `dims` instead of the rows.
struct WidenedCall {
  std::string target;
  mlir::DictionaryAttr args;
};

/// The form of a call for which `operandsWithRows` gives `hasRows`; nullopt if it has none.
std::optional<WidenedCall> widenedCall(plan::CallOp call, llvm::ArrayRef<bool> hasRows, llvm::ArrayRef<int64_t> dims);

/// The shape of a tensor with rows that has `dims` instead of them.
llvm::SmallVector<int64_t> widenedShape(mlir::Value value, llvm::ArrayRef<int64_t> dims);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ROWS_ROW_OPERATORS_H
