//===- index_functions.h - tensors as functions of indices ------*- C++ -*-===//
//
// What the elements of integer and boolean tensors are, as expressions over
// their indices, read back through the operators that compute them: creation
// from literals, conversions, comparisons, logic, moved elements, lookups.
// An operator that is not understood is a leaf, an element of its own result,
// so the answer is always right and at worst says nothing.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_INDEX_FUNCTIONS_INDEX_FUNCTIONS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_INDEX_FUNCTIONS_INDEX_FUNCTIONS_H

#include "compiler/indexing/movement.h"
#include "dialect/plan/plan.h"
#include "llvm/ADT/DenseMap.h"

namespace meshplan {

/// Reads the tensors of one function and remembers what it found. The function must not change what it has read.
class IndexFunctions {
public:
  indexing::ExprBuilder builder;

  /// The element of `value` at d0, d1, ...; null only for a tensor without elements.
  indexing::Expr of(mlir::Value value);

  /// The element of `value` at `indices`; null if one of them is.
  indexing::Expr at(mlir::Value value, llvm::ArrayRef<indexing::Expr> indices);

  /// All tensors that `value` is computed from by operators that are understood, `value` and leaves included, in
  /// program order.
  llvm::SmallVector<mlir::Value> sourcesOf(mlir::Value value);

private:
  indexing::Expr compute(mlir::Value value);
  indexing::Expr leaf(mlir::Value value);

  llvm::DenseMap<mlir::Value, indexing::Expr> known;
  int64_t leafCount = 0;
};

/// Where an operator that only moves elements reads its operand.
struct MovedRead {
  mlir::Value operand;
  indexing::Indices indices;
};

/// How `value`, read at `indices`, is read from the operand that it is moved from; nullopt if another operator or none
/// makes it.
std::optional<MovedRead> readThroughMovement(indexing::ExprBuilder &builder, mlir::Value value,
                                             llvm::ArrayRef<indexing::Expr> indices);

/// True if the result of the call has the elements of operand 0 in the same order, under the same or another shape.
bool keepsOrder(plan::CallOp call);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_INDEX_FUNCTIONS_INDEX_FUNCTIONS_H
