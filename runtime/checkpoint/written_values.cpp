//===- written_values.cpp - which rank writes which shard -----------------===//

#include "runtime/checkpoint/written_values.h"

#include <map>

using namespace meshplan;

std::vector<bool> meshplan::writtenValues(const RankView &place, std::span<const int> values) {
  auto bytesOf = [&](int value) { return globalBytesOf(place.value(value)); };
  std::map<int64_t, int64_t> total, dealt; // bytes of values, by number of holders
  for (int value : values)
    total[place.holders(value)] += bytesOf(value);
  std::vector<bool> written;
  for (int value : values) {
    int64_t holders = place.holders(value), bytes = bytesOf(value);
    // A value is not split: the writer is the rank in whose share the middle of the value lies.
    int64_t all = std::max<int64_t>(total[holders], 1);
    int64_t writer = (2 * dealt[holders] + bytes) * holders / (2 * all);
    dealt[holders] += bytes;
    written.push_back(place.placeAmongHolders(value) == std::min(writer, holders - 1));
  }
  return written;
}
