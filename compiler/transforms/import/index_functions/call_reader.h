//===- call_reader.h - the arguments of a call as expressions ---*- C++ -*-===//

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

  /// The tensor that an argument is, or null.
  mlir::Value tensor(llvm::StringRef name) const;

  /// Its element at `indices`, null if it is no tensor.
  indexing::Expr read(llvm::StringRef name, llvm::ArrayRef<indexing::Expr> indices);
  indexing::Expr read(mlir::Value value, llvm::ArrayRef<indexing::Expr> indices) {
    return functions.at(value, indices);
  }

  /// The element of a tensor argument that broadcasting brings to d0, d1, ..., or a literal.
  indexing::Expr readBroadcast(llvm::StringRef name);

  /// The two sides of a pointwise operator on integers or booleans, as integers. Null where the literal on the right
  /// is no value of the type on the left, as then the operator would convert.
  std::pair<indexing::Expr, indexing::Expr> readSides(llvm::StringRef left, llvm::StringRef right);

  /// The dim of an argument, counted from the front, of a tensor of `rank` dims; nullopt if there is none such.
  std::optional<int64_t> dim(llvm::StringRef name, int64_t otherwise, int64_t rank) const;

  /// What an element becomes when it is converted to the type of the result.
  indexing::Expr convert(indexing::Expr element);

private:
  indexing::Expr literal(mlir::Attribute attribute);

  IndexFunctions &functions;
};

/// Gives the element of the result at d0, d1, ..., or null if it is not understood.
using CallFunction = indexing::Expr (*)(CallReader &reader);
using CallFunctions = llvm::StringMap<CallFunction>;

void addCreationFunctions(CallFunctions &functions);
void addPointwiseFunctions(CallFunctions &functions);
void addLookupFunctions(CallFunctions &functions);

/// What is known of the elements of a tensor by their type alone.
indexing::ElementRange rangeOf(mlir::Type elementType);

/// A real number rounded to a float type.
double roundedTo(double number, mlir::FloatType type);

/// The dim counted from the front; nullopt if there is none such.
std::optional<int64_t> countedDim(int64_t dim, int64_t rank);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_INDEX_FUNCTIONS_CALL_READER_H
