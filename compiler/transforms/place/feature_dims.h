//===- feature_dims.h - the features of a parameter -------------*- C++ -*-===//
//
// Which dim of a parameter holds output features and which input features, as
// the operator that uses it says. GPT-2's Conv1D and nn.Linear store them in
// opposite dims; the factors of addmm and linear tell.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PLACE_FEATURE_DIMS_H
#define MESHPLAN_COMPILER_TRANSFORMS_PLACE_FEATURE_DIMS_H

#include "dialect/plan/plan.h"
#include <optional>

namespace meshplan {

/// An activation that meets the parameter in an operator.
struct ActivationUse {
  mlir::OpOperand *operand = nullptr;
  /// The dim of the activation over which the operator contracts with the parameter.
  std::optional<int64_t> inputDim;
};

struct FeatureUse {
  std::optional<int64_t> outputDim; ///< in the result, and in no activation
  std::optional<int64_t> inputDim;  ///< contracted
  llvm::SmallVector<ActivationUse> activations;
};

/// Follows `parameter` through operators that only rearrange it to those of the module at `path` that combine it with
/// an activation (or, like an embedding, look it up); an empty path is the whole model. The first such use decides; the
/// activations are those of all uses that agree with it, as where a module is called several times.
FeatureUse findFeatures(mlir::Value parameter, llvm::StringRef path);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PLACE_FEATURE_DIMS_H
