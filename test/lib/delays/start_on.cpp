//===- start_on.cpp - a collective on another group -----------------------===//

#include "test/lib/delays/start_on.h"

#include <algorithm>
#include <numeric>

using namespace meshplan;

static int64_t sum(const std::vector<int64_t> &counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t(0));
}

/// The only rank with a count; -1: none.
static int64_t peerOf(const std::vector<int64_t> &counts) {
  auto found = std::ranges::find_if(counts, [](int64_t count) { return count > 0; });
  return found == counts.end() ? -1 : found - counts.begin();
}

Expected<Pending> meshplan::startOn(Group &group, const Collective &c, const void *input, void *output) {
  switch (c.kind) {
  case CollectiveKind::allReduce:
    return group.startAllReduce(input, output, c.count, c.dtype, c.reduction, c.label);
  case CollectiveKind::allGather:
    return group.startAllGather(input, output, c.receiveCounts, c.dtype, c.label);
  case CollectiveKind::reduceScatter:
    return group.startReduceScatter(input, output, c.sendCounts, c.dtype, c.reduction, c.label);
  case CollectiveKind::allToAll:
    return group.startAllToAll(input, c.sendCounts, output, c.receiveCounts, c.dtype, c.label);
  case CollectiveKind::permute:
    return group.startPermute(input, sum(c.sendCounts), peerOf(c.sendCounts), output, sum(c.receiveCounts),
                              peerOf(c.receiveCounts), c.dtype, c.label);
  case CollectiveKind::broadcast:
    return group.startBroadcast(output, c.count, c.dtype, c.peer, c.label);
  case CollectiveKind::barrier:
    return group.startBarrier(c.label);
  case CollectiveKind::send:
    return group.startSend(input, c.count, c.dtype, c.peer, c.label);
  case CollectiveKind::receive:
    break;
  }
  return group.startReceive(output, c.count, c.dtype, c.peer, c.label);
}
