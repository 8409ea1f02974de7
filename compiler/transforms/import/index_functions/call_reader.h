//===- call_reader.h - arguments of a call as expressions -------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_INDEX_FUNCTIONS_CALL_READER_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_INDEX_FUNCTIONS_CALL_READER_H

#include "compiler/sharding/op_record.h"
#include "compiler/transforms/import/index_functions/index_functions.h"
#include "llvm/ADT/StringMap.h"

namespace meshplan {

/// One call whose result is read at d0, d1, ...
class CallReader {
public:
  CallReader(IndexFunctions &functions, plan::CallOp call);

  indexing::ExprBuilder &builder;
  CallView call;
  mlir::Value value; ///< the result
  mlir::OperandRange operands;
  mlir::RankedTensorType result;
  indexing::Indices coordinates; ///< d0, d1, ... of the result

  /// The tensor of an argument, or null.
  mlir::Value tensor(llvm::StringRef name) const;

  /// Its element at `indices`; null if the argument is not a tensor.
  indexing::Expr read(llvm::StringRef name, llvm::ArrayRef<indexing::Expr> indices);
  indexing::Expr read(mlir::Value value, llvm::ArrayRef<indexing::Expr> indices) {
    return functions.at(value, indices);
  }

  /// The element of a tensor argument that is broadcast to d0, d1, ..., or a literal.
  indexing::Expr readBroadcast(llvm::StringRef name);

  /// The two sides of a pointwise operator on integers or booleans, as integers. Null if the type on the left cannot
  /// represent a literal on the right, because the operator would then convert.
  std::pair<indexing::Expr, indexing::Expr> readSides(llvm::StringRef left, llvm::StringRef right);

  /// The dim in an argument, counted from the front, of a tensor of `rank` dims; nullopt if there is no such dim.
  std::optional<int64_t> dim(llvm::StringRef name, int64_t otherwise, int64_t rank) const;

  /// An element after conversion to the type of the result.
  indexing::Expr convert(indexing::Expr element);

private:
  indexing::Expr literal(mlir::Attribute attribute);

  IndexFunctions &functions;
};

/// Returns the element of the result at d0, d1, ..., or null if it is not understood.
using CallFunction = indexing::Expr (*)(CallReader &reader);
using CallFunctions = llvm::StringMap<CallFunction>;

void addCreationFunctions(CallFunctions &functions);
void addPointwiseFunctions(CallFunctions &functions);
void addLookupFunctions(CallFunctions &functions);

/// Known facts about the elements of a tensor from their type alone.
indexing::ElementRange rangeOf(mlir::Type elementType);

/// A real number rounded to a float type.
double roundedTo(double number, mlir::FloatType type);

/// The dim counted from the front; nullopt if there is no such dim.
std::optional<int64_t> countedDim(int64_t dim, int64_t rank);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_INDEX_FUNCTIONS_CALL_READER_H
