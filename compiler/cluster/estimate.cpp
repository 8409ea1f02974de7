//===- estimate.cpp - how long an operation takes -------------------------===//

#include "compiler/cluster/estimate.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace meshplan;
using llvm::StringRef;

double meshplan::peakFlops(const Cluster &cluster, StringRef dtype) {
  const std::map<std::string, double> &peaks = cluster.compute.flops;
  auto find = [&](StringRef name) { return peaks.find(name.str()); };
  auto found = find(dtype);
  if (found == peaks.end() && (dtype == "bf16" || dtype == "f16"))
    found = find(dtype == "bf16" ? "f16" : "bf16");
  return found == peaks.end() ? find("f32")->second : found->second;
}

/// Seconds to read and write `bytes` of device memory.
static double trafficSeconds(const ComputeRates &rates, double bytes) {
  return rates.traffic.empty() ? bytes / rates.bytes : rates.traffic.at(bytes, rates.launchSeconds);
}

/// By which factor the access takes longer than one to operands that are alike.
static double accessFactor(const ComputeRates &rates, const OperatorWork &work) {
  auto tables = rates.accesses.find(work.access.str());
  if (work.access.empty() || tables == rates.accesses.end())
    return 1;
  auto table = tables->second.find(work.dtype.str());
  if (table == tables->second.end())
    return 1;
  double seconds = table->second.times.at(work.bytes, rates.launchSeconds), alike = trafficSeconds(rates, work.bytes);
  if (auto target = rates.operators.find(table->second.target); target != rates.operators.end())
    if (auto found = target->second.find(work.dtype.str()); found != target->second.end() && !found->second.byFlops)
      alike = found->second.times.at(work.bytes, rates.launchSeconds);
  return std::max(seconds / alike, 1.0);
}

static std::optional<double> tableSeconds(const ComputeRates &rates, const OperatorWork &work) {
  auto tables = rates.operators.find(work.target.str());
  if (tables == rates.operators.end())
    return std::nullopt;
  auto table = tables->second.find(work.dtype.str());
  if (table == tables->second.end())
    return std::nullopt;
  const RateTable &times = table->second.times;
  if (!table->second.byFlops)
    return times.at(work.bytes, rates.launchSeconds) * accessFactor(rates, work);
  // The rate depends on the size of a part: a head of 1,024 rows is faster than four of 512, which have as many flops.
  return work.equalParts * times.at(work.flops / work.equalParts, 0);
}

static double productSeconds(const Cluster &cluster, const OperatorWork &work) {
  const ComputeRates &rates = cluster.compute;
  std::string dtype = work.dtype.str();
  if (auto shaped = rates.shapedProducts.find(dtype); shaped != rates.shapedProducts.end())
    return shaped->second.at(*work.product);
  if (auto table = rates.products.find(dtype); table != rates.products.end())
    return table->second.at(work.flops, rates.launchSeconds);
  return work.flops / peakFlops(cluster, work.dtype);
}

double meshplan::operatorSeconds(const Cluster &cluster, const OperatorWork &work) {
  if (work.flops == 0 && work.bytes == 0)
    return 0;
  const ComputeRates &rates = cluster.compute;
  if (std::optional<double> attained = tableSeconds(rates, work))
    return std::max(*attained, rates.launchSeconds);
  double arithmetic = work.product ? productSeconds(cluster, work) : work.flops / peakFlops(cluster, work.dtype);
  double traffic = trafficSeconds(rates, work.bytes) * accessFactor(rates, work);
  return std::max({arithmetic, traffic, rates.launchSeconds});
}

double meshplan::hostSeconds(const Cluster &cluster, double bytes) { return bytes / cluster.hostBytes; }

double meshplan::transferSeconds(const Cluster &cluster, double bytes) {
  // On a CPU both memories are one, and a copy reads and writes it.
  if (cluster.host.bytes == 0)
    return std::max(2 * bytes / cluster.hostBytes, cluster.compute.launchSeconds);
  return std::max(cluster.host.latencySeconds + bytes / cluster.host.bytes, cluster.compute.launchSeconds);
}

namespace {
/// An axis of a group: how far its coordinates are apart in ranks, and how many there are.
struct Digit {
  int64_t stride, size;
};
} // namespace

/// Fewest of the ranks first + offsets that lie in one node.
static int64_t fewestInNode(int64_t first, llvm::ArrayRef<int64_t> offsets, int64_t ranksPerNode) {
  auto fewest = static_cast<int64_t>(offsets.size()), held = int64_t(0);
  int64_t node = first / ranksPerNode;
  for (int64_t offset : offsets) {
    if ((first + offset) / ranksPerNode != node) {
      fewest = std::min(fewest, held);
      node = (first + offset) / ranksPerNode;
      held = 0;
    }
    ++held;
  }
  return std::min(fewest, held);
}

GroupSpread meshplan::groupSpread(std::span<const AxisRef> axes, std::span<const int64_t> meshSizes,
                                  int64_t ranksPerNode) {
  std::vector<Digit> digits;
  std::vector<int64_t> offsets{0};
  int64_t world = 1, block = 1;
  for (int64_t size : meshSizes)
    world *= size;
  for (const AxisRef &axis : axes) {
    Digit digit{meshSizes[axis.axis] / (axis.pre * axis.size), axis.size};
    for (size_t inner = axis.axis + 1; inner < meshSizes.size(); ++inner)
      digit.stride *= meshSizes[inner];
    digits.push_back(digit);
    block = std::max(block, digit.stride * digit.size);
    size_t members = offsets.size();
    for (int64_t index = 1; index < digit.size; ++index)
      for (size_t member = 0; member < members; ++member)
        offsets.push_back(offsets[member] + index * digit.stride);
  }
  llvm::sort(offsets);
  GroupSpread spread{static_cast<int64_t>(offsets.size()), static_cast<int64_t>(offsets.size())};
  // A group lies in a block of ranks that begins at a multiple of its size.
  if (ranksPerNode % block == 0)
    return spread;
  // Groups lie in nodes in the same way again after the least common multiple of block and node.
  for (int64_t rank = 0, period = std::min(world, std::lcm(block, ranksPerNode)); rank < period; ++rank)
    if (llvm::all_of(digits, [&](const Digit &digit) { return rank / digit.stride % digit.size == 0; }))
      spread.ranksInNode = std::min(spread.ranksInNode, fewestInNode(rank, offsets, ranksPerNode));
  return spread;
}

double meshplan::linkBytes(const Cluster &cluster, StringRef kind, const GroupSpread &group) {
  auto ranks = static_cast<double>(group.ranks), members = static_cast<double>(group.ranksInNode);
  auto shareOf = [&](const LinkRates &link) {
    double all = static_cast<double>(cluster.ranksPerNode());
    return link.nodeBytes == 0 ? link.bytes : std::min(link.bytes, link.nodeBytes / all);
  };
  double inside = shareOf(cluster.node), link = shareOf(cluster.network), outside = link * members;
  if (!group.crosses())
    return inside;
  // Of n - 1 equal parts n - m go to other nodes, over the rank's own link, and m - 1 stay: other ranks of the node
  // send as much, so that none can use the links of another. In the other kinds the same data goes around the whole
  // group, and each link of a node carries a part of it.
  if (kind == "all_to_all") {
    double away = link * (ranks - 1) / (ranks - members);
    return members > 1 ? std::min(away, inside * (ranks - 1) / (members - 1)) : away;
  }
  return group.ranksInNode > 1 ? std::min(inside, outside) : outside;
}

/// The tables for a collective, by number of ranks, of one backend.
static std::vector<const CollectiveTable *> tablesOf(const Cluster &cluster, const CollectiveWork &work) {
  std::vector<const CollectiveTable *> tables;
  auto collect = [&](StringRef backend) {
    for (const CollectiveTable &table : cluster.collectives)
      if (table.kind == work.kind && table.crosses == work.group.crosses() && table.backend == backend)
        tables.push_back(&table);
  };
  if (cluster.deviceKind == "cuda") {
    collect("nccl");
  } else {
    if (!work.group.crosses())
      collect("threads");
    if (tables.empty())
      collect("mpi");
  }
  llvm::stable_sort(tables, [](const auto *a, const auto *b) { return a->ranks < b->ranks; });
  return tables;
}

/// The time of a table. Below its first size the time is linear from the latency on: a table may have a single size, at
/// which the latency does not show.
static double tableTime(const RateTable &table, double bytes, double latency) {
  double first = table.sizes.front(), seconds = table.seconds.front();
  if (bytes >= first || latency >= seconds)
    return table.at(bytes, latency);
  return latency + (seconds - latency) * (bytes / first);
}

double meshplan::collectiveSeconds(const Cluster &cluster, const CollectiveWork &work) {
  const LinkRates &link = work.group.crosses() ? cluster.network : cluster.node;
  double doublings = std::ceil(std::log2(static_cast<double>(work.group.ranks)));
  double latency = link.latencySeconds * std::max(doublings, 1.0);
  std::vector<const CollectiveTable *> tables = tablesOf(cluster, work);
  if (tables.empty())
    return latency + work.bytes / linkBytes(cluster, work.kind, work.group);
  auto next = llvm::find_if(tables, [&](const CollectiveTable *table) { return table->ranks >= work.group.ranks; });
  if (next == tables.end())
    return tableTime(tables.back()->times, work.bytes, latency);
  double high = tableTime((*next)->times, work.bytes, latency);
  if (next == tables.begin() || (*next)->ranks == work.group.ranks)
    return high;
  const CollectiveTable &below = **std::prev(next);
  double low = tableTime(below.times, work.bytes, latency);
  double weight =
      static_cast<double>(work.group.ranks - below.ranks) / static_cast<double>((*next)->ranks - below.ranks);
  return low + (high - low) * weight;
}
