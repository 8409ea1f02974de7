//===- index_functions.h - tensors as functions of indices ------*- C++ -*-===//
//
// The elements of integer and boolean tensors as expressions over their
// indices. They are read back through the operators that compute them: creation
// from literals, conversions, comparisons, logic, movements and lookups. An
// operator that is not understood is a leaf, an element of its own result, so
// that the answer is always correct, though it may carry no information.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_INDEX_FUNCTIONS_INDEX_FUNCTIONS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_INDEX_FUNCTIONS_INDEX_FUNCTIONS_H

#include "compiler/indexing/movement.h"
#include "dialect/plan/plan.h"
#include "llvm/ADT/DenseMap.h"

namespace meshplan {

/// Reads the tensors of one function and caches the results. The function must not change a value that has been read.
class IndexFunctions {
public:
  indexing::ExprBuilder builder;

  /// The element of `value` at d0, d1, ...; null only for a tensor without elements.
  indexing::Expr of(mlir::Value value);

  /// The element of `value` at `indices`; null if one of them is null.
  indexing::Expr at(mlir::Value value, llvm::ArrayRef<indexing::Expr> indices);

  /// All tensors from which `value` is computed by understood operators, including `value` and leaves, in program
  /// order.
  llvm::SmallVector<mlir::Value> sourcesOf(mlir::Value value);

private:
  indexing::Expr compute(mlir::Value value);
  indexing::Expr leaf(mlir::Value value);

  llvm::DenseMap<mlir::Value, indexing::Expr> known;
  int64_t leafCount = 0;
};

/// The operand of an operator that only moves elements, and the indices at which it is read.
struct MovedRead {
  mlir::Value operand;
  indexing::Indices indices;
};

/// The operand, and its indices, from which `value` at `indices` is moved; nullopt if no operator that only moves
/// elements defines it.
std::optional<MovedRead> readThroughMovement(indexing::ExprBuilder &builder, mlir::Value value,
                                             llvm::ArrayRef<indexing::Expr> indices);

/// True if the result of the call has the elements of operand 0 in the same order, in any shape.
bool keepsOrder(plan::CallOp call);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_INDEX_FUNCTIONS_INDEX_FUNCTIONS_H
