//===- loss_reduction.h - how a loss ends ------------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_LOSS_LOSS_REDUCTION_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_LOSS_LOSS_REDUCTION_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// What a loss makes of its elements, as PyTorch numbers it.
enum class LossReduction { None = 0, Mean = 1, Sum = 2 };

/// That of a call; PyTorch's default is the mean.
inline LossReduction lossReductionOf(const CallView &call) {
  return static_cast<LossReduction>(call.getInt("reduction", static_cast<int64_t>(LossReduction::Mean)));
}

/// The type in which losses of this one are added up, and counted: 16 bits do not hold the number of tokens.
inline mlir::Type sumTypeOf(mlir::Type element) {
  return element.getIntOrFloatBitWidth() < 32 ? mlir::Float32Type::get(element.getContext()) : element;
}

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_LOSS_LOSS_REDUCTION_H
