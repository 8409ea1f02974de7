//===- routed.h - the shape of routed values on a rank ----------*- C++ -*-===//
//
// A mixture of experts computes each token in a few of its experts, which the
// router chooses when the program runs. The rows between the two have the
// global shape [experts, tokens.., features], of which only the chosen pairs of
// expert and token exist. A rank stores one index for each pair of its experts
// and its tokens instead of these dims: by expert, then by token.
//
// Example: 4 experts, 3 tokens, 2 slots. Token 0 chooses experts 1 and 3, token
// 1 chooses 3 and 0, token 2 chooses 1 and 0. A rank with all of them stores 6
// rows: (0, 1) (0, 2) (1, 0) (1, 2) (3, 0) (3, 1). The counts are 2, 2, 0, 2.
//
// Ranks exchange rows: those of a rank's tokens go to the ranks of their experts, and come back. What is sent to a
// rank, or arrives from one, is contiguous in `arrivals`: by rank, then by expert, then by token.
//
// A rank with all experts stores exactly `slots` rows for each of its tokens.
// How many rows a rank with some of the experts stores is known only when the
// program runs; plans assume that every expert is chosen equally often.
//
// Header only, standard library only, no state.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_SCHEMA_ROUTED_H
#define MESHPLAN_RUNTIME_SCHEMA_ROUTED_H

#include <cassert>
#include <cstdint>
#include <span>
#include <vector>

namespace meshplan {

/// The number of rows of a rank with `experts` of `allExperts` and `tokens` tokens, if every expert is chosen equally
/// often, rounded up. Exact if the rank has all experts.
inline int64_t balancedRows(int64_t experts, int64_t allExperts, int64_t tokens, int64_t slots) {
  assert(allExperts > 0 && experts <= allExperts);
  // Not tokens * slots * experts, which may exceed 64 bits although the tensor does not.
  int64_t pairs = tokens * slots, perExpert = pairs / allExperts, rest = pairs % allExperts;
  return perExpert * experts + (rest * experts + allExperts - 1) / allExperts;
}

/// The shape in which a rank stores its shard of a routed value. `shard`: the extents of the shard; the first `dims` of
/// them are its experts and the dims of its tokens. The number of rows is the balanced one.
inline std::vector<int64_t> routedShape(bool isCounts, int64_t dims, int64_t slots, int64_t allExperts,
                                        std::span<const int64_t> shard) {
  assert(dims >= 2 && dims <= static_cast<int64_t>(shard.size()));
  if (isCounts)
    return {shard[0]};
  int64_t tokens = 1;
  for (int64_t extent : shard.subspan(1, dims - 1))
    tokens *= extent;
  std::vector<int64_t> shape{balancedRows(shard[0], allExperts, tokens, slots)};
  shape.insert(shape.end(), shard.begin() + dims, shard.end());
  return shape;
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_SCHEMA_ROUTED_H
