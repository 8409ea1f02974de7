//===- loss_reduction.h - the reduction of a loss ---------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_LOSS_LOSS_REDUCTION_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_LOSS_LOSS_REDUCTION_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// The reduction of the elements of a loss, in PyTorch's numbering.
enum class LossReduction { None = 0, Mean = 1, Sum = 2 };

/// The reduction of a call; the mean is PyTorch's default.
inline LossReduction lossReductionOf(const CallView &call) {
  return static_cast<LossReduction>(call.getInt("reduction", static_cast<int64_t>(LossReduction::Mean)));
}

/// The type in which losses of this type are summed and counted: 16 bits cannot represent the number of tokens.
inline mlir::Type sumTypeOf(mlir::Type element) {
  return element.getIntOrFloatBitWidth() < 32 ? mlir::Float32Type::get(element.getContext()) : element;
}

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_LOSS_LOSS_REDUCTION_H
