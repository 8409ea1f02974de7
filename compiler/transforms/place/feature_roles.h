//===- feature_roles.h - roles of the dims of a weight ----------*- C++ -*-===//
//
// A weight meets an activation in an operator that contracts input features and
// computes output features. Before that, operators may derive the weight from
// others: scale, normalize or mask it, or multiply two factors. The roles of
// its dims follow from the factors of each call. Pure.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PLACE_FEATURE_ROLES_H
#define MESHPLAN_COMPILER_TRANSFORMS_PLACE_FEATURE_ROLES_H

#include "compiler/sharding/op_record.h"
#include <vector>

namespace meshplan {

enum class FeatureRole {
  none,
  output, ///< in the result, but not in an activation
  input,  ///< contracted
  window, ///< window of a convolution: counts for both fans
};

/// A factor of a dim of a weight.
struct FeaturePiece {
  int64_t size = 1;
  FeatureRole role = FeatureRole::none;
  /// False if it is contracted with another weight, of which this weight is a factor, or if it is minor to other
  /// features.
  bool meets = true;
  bool isDivisible = false; ///< the operator that contracts or computes it can be divided there
  bool isLookedUp = false;  ///< input features that are chosen by indices
  bool isGroup = false;     ///< groups of a convolution, each with features of its own
  /// Position among the features of its role, major ones first.
  llvm::SmallVector<unsigned, 3> position;
};

/// The pieces of a dim, major to minor.
using FeaturePieces = llvm::SmallVector<FeaturePiece, 1>;
/// The pieces of all dims of a tensor.
using FeatureRoles = std::vector<FeaturePieces>;

bool hasFeatures(const FeaturePieces &dim);
bool hasFeatures(const FeatureRoles &roles);

/// The roles of the dims of one operand of a call.
struct RolesOfOperand {
  FeatureRoles roles;
  /// True if the call does not distinguish the dims of the operand.
  bool isUnknown = false;
  /// The major factor that the call contracts with activations.
  std::optional<unsigned> contracted;
};

/// Roles of an operand that the call combines with `activations`, other operands of the call.
RolesOfOperand rolesAtMeeting(const CallView &call, const FactorRule &rule, unsigned operand,
                              llvm::ArrayRef<unsigned> activations);

/// Roles of an operand of a call whose operands all derive from weights, given the roles of the results.
RolesOfOperand rolesThrough(const CallView &call, const FactorRule &rule, unsigned operand,
                            llvm::ArrayRef<FeatureRoles> results);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PLACE_FEATURE_ROLES_H
