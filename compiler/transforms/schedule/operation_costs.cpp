//===- operation_costs.cpp - times of collectives and copies --------------===//

#include "compiler/transforms/schedule/operation_costs.h"
#include <cmath>

using namespace mlir;

namespace meshplan {

int64_t toNanoseconds(double seconds) { return std::llround(seconds * 1e9); }

/// Bytes/s of copies in one direction between device and host memory.
static int64_t copyRate(const Cluster &cluster) {
  constexpr double large = 1e12; // the latency does not show
  return std::max<int64_t>(1, std::llround(large / (transferSeconds(cluster, large) - cluster.host.latencySeconds)));
}

std::vector<scheduling::Link> OperationCosts::links() const {
  auto rateOf = [](const LinkRates &link) { return std::max<int64_t>(1, std::llround(link.bytes)); };
  return {{"node", rateOf(cluster.node)},
          {"network", rateOf(cluster.network)},
          {"to device", copyRate(cluster)},
          {"to host", copyRate(cluster)}};
}

void OperationCosts::setTransfer(scheduling::Operation &operation, double seconds, unsigned link,
                                 double latency) const {
  latency = std::min(seconds, latency);
  operation.latency = toNanoseconds(latency);
  auto rate = static_cast<double>(rates[link].bytesPerSecond);
  operation.transfers = {{link, std::llround((seconds - latency) * rate)}};
}

void OperationCosts::setCollective(scheduling::Operation &operation, base::CollectiveKind kind, double bytes,
                                   ArrayRef<scheduling::Communicator> communicators) {
  auto [group, isNew] = groups.try_emplace(*operation.communicator);
  if (isNew)
    group->second =
        groupSpread(communicators[*operation.communicator].axes, layouts.axisSizes(), cluster.ranksPerNode());
  bool crosses = group->second.crosses();
  double seconds = collectiveSeconds(cluster, {base::stringifyCollectiveKind(kind), bytes, group->second});
  setTransfer(operation, seconds, crosses ? networkLink : nodeLink,
              (crosses ? cluster.network : cluster.node).latencySeconds);
}

int64_t OperationCosts::timeOfCopy(int64_t bytes) const {
  auto moved = static_cast<double>(2 * bytes); // read, and written
  return toNanoseconds(operatorSeconds(cluster, {.target = cluster_keys::copyTarget, .dtype = "f32", .bytes = moved}));
}

} // namespace meshplan
