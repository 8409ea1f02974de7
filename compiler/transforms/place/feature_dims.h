//===- feature_dims.h - the features of a parameter -------------*- C++ -*-===//
//
// Which dims of a parameter hold output features and which input features, as
// the operator says in which it, or what is made of it, meets an activation.
// GPT-2's Conv1D and nn.Linear store them in opposite dims; the factors of addmm
// and linear tell. Styles, fans of initial weights and drafts ask here.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PLACE_FEATURE_DIMS_H
#define MESHPLAN_COMPILER_TRANSFORMS_PLACE_FEATURE_DIMS_H

#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include <optional>

namespace meshplan {

/// An activation that meets the parameter in an operator.
struct ActivationUse {
  mlir::OpOperand *operand = nullptr;
  /// The dim of the activation over which the operator contracts with the parameter.
  std::optional<int64_t> inputDim;
};

/// A dim of a parameter, by its major features.
struct FeatureDim {
  int64_t dim = 0;
  /// False: only another factor of a product of weights has these features, or they are minor beside another's. A style
  /// leaves them whole beside others.
  bool meets = true;
  bool isDivisible = false; ///< the operator where it meets can be divided there
};

/// Elements that count for one element on the other side, in all dims together.
struct Fans {
  int64_t in = 0, out = 0;
};

struct FeatureUse {
  std::optional<FeatureDim> output; ///< in the result, and in no activation
  std::optional<FeatureDim> input;  ///< contracted
  std::optional<Fans> fans;         ///< if it has both kinds of features
  bool isLookedUp = false;          ///< indices choose input features
  llvm::SmallVector<ActivationUse> activations;
  plan::CallOp meeting; ///< the first; null if no features are known
  plan::CallOp unknown; ///< a call that does not tell the dims of what it makes; null if there is none

  const std::optional<FeatureDim> &of(bool ofOutput) const { return ofOutput ? output : input; }
};

/// Follows parameters of one function. What is changed later but for constraints is not seen.
class FeatureSearch {
public:
  /// Linear in the size of the function.
  explicit FeatureSearch(mlir::func::FuncOp function);

  /// Follows `parameter` through calls that make something of weights alone to those of the module at `path` that
  /// combine it with an activation (or, like an embedding, look it up); an empty path is the whole model. Without any,
  /// a product of the module that is like a projection of constant data counts. The first use that tells decides; the
  /// activations are those of all uses that agree with it, as where a module is called several times.
  FeatureUse findIn(mlir::BlockArgument parameter, llvm::StringRef path) const;

  /// The same for a parameter of the module at `path`, which others may read: where the module does not tell, they do.
  FeatureUse find(mlir::BlockArgument parameter, llvm::StringRef path) const;

  /// True if an input of the program has a part in the value.
  bool isActivation(mlir::Value value) const;

  /// The parameters and buffers of which a value is made; none if it is an activation.
  llvm::SetVector<mlir::BlockArgument> weightsBehind(mlir::Value value) const;

private:
  llvm::DenseSet<mlir::Value> activations;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PLACE_FEATURE_DIMS_H
