//===- feature_dims.h - the features of a parameter -------------*- C++ -*-===//
//
// Finds the dims of a parameter that hold output features and input features,
// from the operator in which the parameter, or a value derived from it, meets
// an activation. GPT-2's Conv1D and nn.Linear store features in opposite dims;
// the factors of addmm and linear tell them apart. Used by styles, fans of
// initial weights and drafts.
//
// For example, with an activation x [2, 6]:
//
//   operator                            output dim   input dim   why
//   linear(x, w [4, 6])                 0            1           contracts 6
//   linear(x, k [4, 6], bias w [4])     0            -           adds to 4
//   addmm(b, x, w [6, 4])               1            0           contracts 6
//   linear(x, view(w [24], [4, 6]))     0            -           4 is major
//   embedding(w [32, 6], i [2, 5])      1            0           i selects rows
//   x * w [6]                           -            -           6 is in x
//
// `colwise` divides the output dim, `rowwise` the input dim. In the first row,
// the activation is operand 0 of linear, which contracts dim 1 of x: `rowwise`
// divides this dim as well.
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
  /// The dim of the activation that the operator contracts with the parameter.
  std::optional<int64_t> inputDim;
};

/// A dim of a parameter, described by its major features.
struct FeatureDim {
  int64_t dim = 0;
  /// False if only another factor of a product of weights has these features, or if they are minor to those of another.
  /// A style does not divide such features if there are others.
  bool meets = true;
  bool isDivisible = false; ///< the operator in which the features meet the activation can be divided there
};

/// Number of elements that contribute to one element on the other side, over all dims.
struct Fans {
  int64_t in = 0, out = 0;
};

struct FeatureUse {
  std::optional<FeatureDim> output; ///< in the result, but not in an activation
  std::optional<FeatureDim> input;  ///< contracted
  std::optional<Fans> fans;         ///< if it has both kinds of features
  bool isLookedUp = false;          ///< input features are chosen by indices
  llvm::SmallVector<ActivationUse> activations;
  plan::CallOp meeting; ///< the first operator; null if no features are known
  plan::CallOp unknown; ///< a call after which dims are unknown; null if there is none

  const std::optional<FeatureDim> &of(bool ofOutput) const { return ofOutput ? output : input; }
};

/// Follows the parameters of one function. Later changes of the function are not seen, except constraints.
class FeatureSearch {
public:
  /// Linear in the size of the function.
  explicit FeatureSearch(mlir::func::FuncOp function);

  /// Follows `parameter`, through calls that combine only weights, to the calls of the module at `path` that combine it
  /// with an activation, or that look it up like an embedding. An empty path is the whole model. If there is no such
  /// call, a product of the module that looks like a projection of constant data counts. The first use that tells the
  /// features decides; the activations are those of all uses that agree with it, for example where a module is called
  /// several times.
  FeatureUse findIn(mlir::BlockArgument parameter, llvm::StringRef path) const;

  /// The same for a parameter that the module at `path` owns and that others may read: if the module does not tell,
  /// they do.
  FeatureUse find(mlir::BlockArgument parameter, llvm::StringRef path) const;

  /// True if the value depends on an input of the program.
  bool isActivation(mlir::Value value) const;

  /// The parameters and buffers from which a value is derived; none if it is an activation.
  llvm::SetVector<mlir::BlockArgument> weightsThatFeed(mlir::Value value) const;

private:
  llvm::DenseSet<mlir::Value> activations;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PLACE_FEATURE_DIMS_H
