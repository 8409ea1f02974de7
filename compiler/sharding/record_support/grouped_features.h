//===- grouped_features.h - features that belong to groups ------*- C++ -*-===//
//
// Grouped convolutions and group norms see a dim of features as [groups, features
// of each]. Ranks may have whole groups, or parts of each where the operator
// allows it.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_GROUPED_FEATURES_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_GROUPED_FEATURES_H

#include "compiler/sharding/record_support/rule_builder.h"

namespace meshplan {

/// Writes the dims of features of one call. All of them consist of the same groups; `builder` must outlive this.
class GroupedFeatures {
public:
  GroupedFeatures(RuleBuilder &builder, int64_t groups);

  /// Dims of the features of all groups, and dims of those of one, `ofOne`, have the same features. Nothing is tied,
  /// and the dims end as `whole`, where sizes do not fit. A dim that the call does not have is ignored.
  void tie(llvm::ArrayRef<DimRef> ofAll, llvm::ArrayRef<DimRef> ofOne, FactorKind kind);

private:
  RuleBuilder &builder;
  int64_t groups;
  std::optional<unsigned> group;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_GROUPED_FEATURES_H
