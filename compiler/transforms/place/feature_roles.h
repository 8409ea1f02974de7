//===- feature_roles.h - what the dims of a weight are for ------*- C++ -*-===//
//
// A weight meets an activation in an operator that contracts input features and
// makes output features. Before, operators may make it of others: scaled,
// normalised, masked, a product of two factors. Both are read from the factors
// of one call. Pure.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PLACE_FEATURE_ROLES_H
#define MESHPLAN_COMPILER_TRANSFORMS_PLACE_FEATURE_ROLES_H

#include "compiler/sharding/op_record.h"
#include <vector>

namespace meshplan {

enum class FeatureRole {
  none,
  output, ///< in the result, and in no activation
  input,  ///< contracted
  window, ///< of a convolution: counts for both
};

/// A factor of a dim of a weight.
struct FeaturePiece {
  int64_t size = 1;
  FeatureRole role = FeatureRole::none;
  /// False: contracted with another weight, of which this is a factor, or minor beside the features of another.
  bool meets = true;
  bool isDivisible = false; ///< the operator that contracts or makes it can be divided there
  bool isLookedUp = false;  ///< input features that indices choose
  bool isGroup = false;     ///< groups of a convolution, of which each has features of its own
  /// Where it comes among the features of its role, the major ones first.
  llvm::SmallVector<unsigned, 3> place;
};

/// A dim, major to minor.
using FeaturePieces = llvm::SmallVector<FeaturePiece, 1>;
/// All dims of a tensor.
using FeatureRoles = std::vector<FeaturePieces>;

bool hasFeatures(const FeaturePieces &dim);
bool hasFeatures(const FeatureRoles &roles);

/// What is read of one operand of a call.
struct RolesOfOperand {
  FeatureRoles roles;
  /// The call does not tell the dims of the operand apart.
  bool isUnknown = false;
  /// The major factor of the rule that the call contracts with activations.
  std::optional<unsigned> contracted;
};

/// The operand of a call that combines it with `activations`, other operands of the call.
RolesOfOperand rolesAtMeeting(const CallView &call, const FactorRule &rule, unsigned operand,
                              llvm::ArrayRef<unsigned> activations);

/// The operand of a call whose operands are all made of weights, from the roles of what it makes.
RolesOfOperand rolesThrough(const CallView &call, const FactorRule &rule, unsigned operand,
                            llvm::ArrayRef<FeatureRoles> results);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PLACE_FEATURE_ROLES_H
