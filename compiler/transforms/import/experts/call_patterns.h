//===- call_patterns.h - forms of calls around experts ----------*- C++ -*-===//
//
// Questions about one call, or a few, that the readers of mixtures share.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_CALL_PATTERNS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_CALL_PATTERNS_H

#include "compiler/sharding/op_record.h"
#include "compiler/transforms/import/index_functions/index_functions.h"
#include <string>

namespace meshplan {

/// The call of this operator that makes `value`, of any operator if none is named. Null if there is none.
plan::CallOp callOf(mlir::Value value, llvm::StringRef target = {});

/// The tensor of an argument, or null.
mlir::Value tensorArgument(plan::CallOp call, const CallView &view, llvm::StringRef name);

/// True if the argument `dim` of the call is this dim of operand 0 alone. The default of the argument is dim 0.
bool isAlong(plan::CallOp call, int64_t dim);

/// True for a conversion of its only operand to another type of elements.
bool convertsElements(plan::CallOp call);

/// True if every number of `from` is also one of `to`. The product of a mask and a value has the wider of both types.
bool isExactIn(mlir::Type from, mlir::Type to);

/// The tensor with elements of this type, converted before this call if it has others.
mlir::Value converted(mlir::Value tensor, mlir::Type element, plan::CallOp before);

/// The value before conversions. A float that becomes an integer is rounded, so that it ends them.
mlir::Value beforeConversions(mlir::Value value);

/// The first value from which only views lead to `value`.
mlir::Value beforeViews(mlir::Value value);

/// The last one of this type, or null.
mlir::Value beforeViews(mlir::Value value, mlir::Type type);

/// True if all elements are provably 0. `value` may be null.
bool isZero(IndexFunctions &functions, mlir::Value value);

/// True for a call that only exchanges the last two dims of its operand.
bool exchangesLastDims(indexing::ExprBuilder &builder, mlir::Value value);

/// One index of a dim of a tensor.
struct Pick {
  mlir::Value tensor;
  int64_t index = 0;
};

/// The tensor of which `value` is the part at one index of `dim`, without the dim or with size 1.
std::optional<Pick> pickOf(indexing::ExprBuilder &builder, mlir::Value value, int64_t dim);

/// The tensor of which these are the parts at indices 0, 1, .. of `dim`, without the dim; null if they are not.
mlir::Value stackOf(indexing::ExprBuilder &builder, llvm::ArrayRef<mlir::Value> parts, int64_t dim);

/// The same read of the operand of a call that only moves elements, or takes the parts of a dim one by one; nullopt for
/// another call, or none.
std::optional<MovedRead> readThroughParts(indexing::ExprBuilder &builder, MovedRead read);

/// True for a slice or a split, which takes parts of one dim.
bool takesParts(llvm::StringRef target);

/// True for a dropout of each element by itself, of which only the elements are read.
bool dropsElements(plan::CallOp call);

/// The way out where the experts read other random numbers.
inline constexpr llvm::StringLiteral helpWithDraws =
    "help: of what draws random numbers, a dropout of each element (torch.nn.Dropout) is known here; draw others after "
    "the mixture, or export after 'model.eval()'";

/// True for an operator on elements at the same position, and for a dropout of each by itself.
bool computesEachElement(plan::CallOp call);

/// True for a function of one tensor that makes 0 of each element that is 0: silu and the like, dropouts, conversions,
/// and products with a number.
bool keepsZeros(plan::CallOp call);

/// True if the call computes each row alone, where the rows have `lead` dims in front of their features: by elements,
/// or by parts of the features.
bool computesEachRow(plan::CallOp call, unsigned lead);

/// True if all rows read the same elements of the tensor: its dims in front of the last have size 1.
bool isSameForRows(mlir::Value value);

/// The product of two tensors `bsec,bsm->ebcm`.
struct PairEinsum {
  std::string left, right, result;
  mlir::Value leftValue, rightValue;
};

/// nullopt if the call is not an einsum of two tensors, or its letters have another meaning than one dim each.
std::optional<PairEinsum> pairEinsumOf(plan::CallOp call);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_CALL_PATTERNS_H
