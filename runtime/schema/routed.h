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
// program runs. Times assume that every expert is chosen equally often; memory
// is planned for this, or for a multiple of it that the plan reserves and that
// a run may not exceed.
//
// Header only, standard library only, no state.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_SCHEMA_ROUTED_H
#define MESHPLAN_RUNTIME_SCHEMA_ROUTED_H

#include <algorithm>
#include <cassert>
#include <cmath>
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

/// How often the experts of a rank are chosen.
enum class RowLoad {
  balanced, ///< as often as all others
  reserved, ///< as often as the plan reserves memory for; balanced where it reserves none
  worst,    ///< by each token of the rank, in as many slots as possible
};

/// A reserve is a factor of the balanced rows, a capacity one of the balanced tokens of an expert.
inline bool isReserve(double factor) { return std::isfinite(factor) && factor >= 1; }

/// The rate of the updates that balance the bias of a router.
inline bool isBalanceRate(double rate) { return std::isfinite(rate) && rate > 0; }

/// What is known of a routed value besides its shape.
struct RoutedTokens {
  int64_t dims = 2;       ///< of experts and tokens
  int64_t slots = 1;      ///< experts that a token chooses
  int64_t allExperts = 1; ///< of all ranks
  double reserve = 0;     ///< 0: none
};

/// The number of rows of a rank with `experts` experts and `tokens` tokens.
inline int64_t rowsOf(const RoutedTokens &routed, int64_t experts, int64_t tokens, RowLoad load) {
  int64_t balanced = balancedRows(experts, routed.allExperts, tokens, routed.slots);
  int64_t worst = tokens * std::min(routed.slots, experts);
  if (load == RowLoad::worst)
    return worst;
  if (load == RowLoad::balanced || routed.reserve == 0)
    return balanced;
  double reserved = std::ceil(routed.reserve * static_cast<double>(balanced));
  return reserved < static_cast<double>(worst) ? static_cast<int64_t>(reserved) : worst;
}

/// The shape in which a rank stores its shard of a routed value. `shard`: the extents of the shard; the first `dims` of
/// them are its experts and the dims of its tokens.
inline std::vector<int64_t> routedShape(bool isCounts, const RoutedTokens &routed, std::span<const int64_t> shard,
                                        RowLoad load = RowLoad::balanced) {
  assert(routed.dims >= 2 && routed.dims <= static_cast<int64_t>(shard.size()));
  if (isCounts)
    return {shard[0]};
  int64_t tokens = 1;
  for (int64_t extent : shard.subspan(1, routed.dims - 1))
    tokens *= extent;
  std::vector<int64_t> shape{rowsOf(routed, shard[0], tokens, load)};
  shape.insert(shape.end(), shard.begin() + routed.dims, shard.end());
  return shape;
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_SCHEMA_ROUTED_H
