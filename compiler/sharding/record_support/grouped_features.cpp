//===- grouped_features.cpp - features that belong to groups --------------===//

#include "compiler/sharding/record_support/grouped_features.h"

using namespace mlir;

namespace meshplan {

GroupedFeatures::GroupedFeatures(RuleBuilder &builder, int64_t groups) : builder(builder), groups(groups) {}

void GroupedFeatures::tie(ArrayRef<DimRef> ofAll, ArrayRef<DimRef> ofOne, FactorKind kind) {
  int64_t size = groups > 0 ? ofAll.front().size / groups : 0;
  auto hasSize = [](int64_t wanted) { return [wanted](DimRef dim) { return !dim.tensor || dim.size == wanted; }; };
  if (size == 0 || !llvm::all_of(ofAll, hasSize(groups * size)) || !llvm::all_of(ofOne, hasSize(size)))
    return;
  // The group is the major factor of a dim of all features, since the features of a group are adjacent. It is made once
  // and then shared: input and output features of a grouped convolution have different sizes in a group, but a rank
  // that has groups 0 and 1 of one needs groups 0 and 1 of the other.
  if (groups > 1 && !group)
    group = builder.add(groups);
  std::optional<unsigned> own = size > 1 ? std::optional(builder.add(size, kind)) : std::nullopt;
  for (DimRef dim : ofAll) {
    if (group)
      builder.append(dim, *group);
    if (own)
      builder.append(dim, *own);
  }
  // A dim of one group has every group's features at the same indices, so it has no factor for the group: ranks that
  // split the groups all need it whole.
  for (DimRef dim : ofOne)
    if (own)
      builder.append(dim, *own);
}

} // namespace meshplan
