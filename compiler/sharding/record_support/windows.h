//===- windows.h - dims over which a window moves ---------------*- C++ -*-===//
//
// Convolutions and pools read a window of each of their last dims. Where
// windows do not overlap and leave no border, a dim of the input is (position,
// element of the window), and positions can be divided. Otherwise a shard would
// need elements of its neighbours, and the dim is `whole`.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_WINDOWS_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_WINDOWS_H

#include "compiler/sharding/record_support/rule_builder.h"

namespace meshplan {

/// How a window moves along one dim.
struct Window {
  int64_t size = 1, stride = 1, padding = 0, dilation = 1;
};

/// Item `index` of a list of `count` integers, which may be written as one integer for all. `otherwise` if it is absent
/// or empty; nullopt if it is neither.
std::optional<int64_t> windowArgument(const CallView &call, llvm::StringRef name, unsigned index, unsigned count,
                                      int64_t otherwise);

/// Ties the positions of `input` and `result` if every element of the input is in at most one window. Otherwise both
/// end as `whole`. An input dim with elements that are in no window is tied, too.
void tieWindows(RuleBuilder &builder, DimRef input, DimRef result, Window window);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_WINDOWS_H
