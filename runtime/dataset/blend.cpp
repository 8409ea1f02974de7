//===- blend.cpp - the order of blended data sets -------------------------===//

#include "runtime/dataset/blend.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>

namespace meshplan {

Expected<Blend> Blend::create(std::vector<int64_t> weights) {
  if (weights.size() > mostParts)
    return Status::error(StatusCode::invalid, "a blend of ", weights.size(), " data sets, at most ", mostParts,
                         " possible; help: join some of them");
  Blend blend(std::move(weights));
  if (*std::ranges::max_element(blend.weights) > mostWeight)
    return Status::error(StatusCode::invalid, "weights whose ratio has more than ", mostWeight,
                         " parts; help: round the weights");
  return blend;
}

Blend::Blend(std::vector<int64_t> given) : weights(std::move(given)) {
  assert(!weights.empty() && std::ranges::all_of(weights, [](int64_t weight) { return weight > 0; }));
  int64_t divisor = std::accumulate(weights.begin(), weights.end(), int64_t(0), std::gcd<int64_t, int64_t>);
  for (int64_t &weight : weights)
    total += weight /= divisor;
}

/// Chooses, among the parts that lag enough to be eligible, the one with the earliest deadline. With m parts and total
/// weight T, after n samples part i has count c_i and lags by (w_i n - T c_i) / T samples. It is eligible if it lags by
/// at least 1 / (2 m - 2), and late if it would lag by more than 1 - 1 / (2 m - 2). The code multiplies both by (2 m -
/// 2) T so that all numbers are integers.
///
/// Example: weights 2 and 1, so m = 2 and both bounds are 1/2. n = 1: part 0 lags by 2/3, part 1 by 1/3: take part 0. n
/// = 2: part 0 lags by 1/3, part 1 by 2/3: take part 1. n = 3: part 0 lags by 1: take part 0. Order: 0, 1, 0.
size_t Blend::Walk::nextPart() const {
  int64_t parts = static_cast<int64_t>(counts.size()), scale = 2 * parts - 2, total = blend->total;
  std::optional<size_t> next;
  // 128 bits suffice: the sum of up to 1024 weights of 2^40 has 50 bits. Before its next sample the count of a part
  // differs from its share by less than two samples, so the lag below has at most 51 bits, and its products at most 51
  // + 11 + 40.
  __int128 least = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    __int128 lag = __int128(blend->weights[i]) * (step + 1) - __int128(total) * counts[i];
    if (lag * scale < total)
      continue;
    __int128 rest = __int128(scale - 1) * total - scale * lag;
    // rest / weight is the time until the deadline; compared without division.
    if (!next || rest * blend->weights[*next] < least * blend->weights[i]) {
      next = i;
      least = rest;
    }
  }
  assert(next && "some part has fewer samples than its share, by the mean");
  return *next;
}

Blend::Entry Blend::Walk::at(int64_t position) {
  if (counts.size() == 1)
    return {0, position};
  // The order is periodic, so the state is bounded by one period however long the run is.
  int64_t wanted = position % blend->total;
  if (wanted < step) {
    std::ranges::fill(counts, 0);
    step = 0;
  }
  for (; step < wanted; ++step)
    ++counts[nextPart()];
  size_t part = nextPart();
  return {part, position / blend->total * blend->weights[part] + counts[part]};
}

} // namespace meshplan
