//===- factor_places.h - tensors of a call that have a factor ---*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PLACE_FACTOR_PLACES_H
#define MESHPLAN_COMPILER_TRANSFORMS_PLACE_FACTOR_PLACES_H

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

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PLACE_FACTOR_PLACES_H
