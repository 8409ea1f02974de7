//===- blend.cpp - which of several data sets gives the next sample -------===//

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

/// Of the parts that are behind by enough to take a sample, the one that must not wait longest. Multiplied by what
/// makes the numbers whole: a part is behind by (weight * samples - total * count) / total samples, may be taken when
/// that is at least 1 / (2 m - 2), and its time is over when it exceeds 1 - 1 / (2 m - 2).
size_t Blend::Walk::nextPart() const {
  int64_t parts = static_cast<int64_t>(counts.size()), scale = 2 * parts - 2, total = blend->total;
  std::optional<size_t> next;
  __int128 least = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    __int128 behind = __int128(blend->weights[i]) * (step + 1) - __int128(total) * counts[i];
    if (behind * scale < total)
      continue;
    __int128 rest = __int128(scale - 1) * total - scale * behind;
    // rest / weight is the time that is left.
    if (!next || rest * blend->weights[*next] < least * blend->weights[i]) {
      next = i;
      least = rest;
    }
  }
  assert(next && "some part is behind by the mean, which is enough");
  return *next;
}

Blend::Place Blend::Walk::at(int64_t position) {
  if (counts.size() == 1)
    return {0, position};
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
