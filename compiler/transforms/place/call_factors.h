//===- call_factors.h - factors and products of one call --------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PLACE_CALL_FACTORS_H
#define MESHPLAN_COMPILER_TRANSFORMS_PLACE_CALL_FACTORS_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

bool isIn(const TensorFactors &tensor, unsigned factor);
bool isIn(llvm::ArrayRef<TensorFactors> tensors, unsigned factor);

/// True for a factor that no other tensor of the call has.
bool isAlone(const FactorRule &rule, unsigned operand, unsigned factor);

/// True for a factor that the call sums over, in this operand and another.
bool isContracted(const FactorRule &rule, unsigned operand, unsigned factor);

/// All factors of a tensor, major to minor.
llvm::SmallVector<unsigned> factorsOf(const TensorFactors &tensor);

/// The kind of product of a call without activations.
enum class WeightProduct {
  none,
  projection, ///< over the last dim of the operand, as in nn.Linear, or a lookup in it; or the operand is the bias
  other,
};
WeightProduct productOf(const FactorRule &rule, unsigned operand);

/// True if the call contracts two of its operands, or looks one up by the other.
bool isMultiplied(const FactorRule &rule, unsigned operand, unsigned other);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PLACE_CALL_FACTORS_H
