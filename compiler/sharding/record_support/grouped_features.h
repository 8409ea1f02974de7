//===- grouped_features.h - features that belong to groups ------*- C++ -*-===//
//
// Grouped convolutions and group norms treat a dim of features as [groups,
// features of a group]. Ranks may hold whole groups, or a part of each group
// where the operator allows it.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_GROUPED_FEATURES_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_GROUPED_FEATURES_H

#include "compiler/sharding/record_support/rule_builder.h"

namespace meshplan {

/// Adds the feature dims of one call to its rule. All of them have the same groups; `builder` must outlive this.
class GroupedFeatures {
public:
  GroupedFeatures(RuleBuilder &builder, int64_t groups);

  /// Ties `ofAll`, dims of the features of all groups, to `ofOne`, dims of the features of one group. Where sizes do
  /// not fit nothing is tied, and the dims end as `whole`. Dims that the call does not have are ignored.
  void tie(llvm::ArrayRef<DimRef> ofAll, llvm::ArrayRef<DimRef> ofOne, FactorKind kind);

private:
  RuleBuilder &builder;
  int64_t groups;
  std::optional<unsigned> group;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_GROUPED_FEATURES_H
