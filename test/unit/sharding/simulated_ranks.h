//===- simulated_ranks.h - a reshard on simulated ranks ---------*- C++ -*-===//
//
// Every rank has a map from elements to values. A step may move values only between the ranks of its group; after it,
// each rank must have exactly the elements of its sharding, with the right values.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TEST_UNIT_SHARDING_SIMULATED_RANKS_H
#define MESHPLAN_TEST_UNIT_SHARDING_SIMULATED_RANKS_H

#include "compiler/sharding/reshard.h"
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace meshplan {

using Shard = std::map<int64_t, double>;

class SimulatedRanks {
public:
  SimulatedRanks(plan::MeshOp mesh, llvm::ArrayRef<int64_t> shape) : mesh(mesh), shape(shape.begin(), shape.end()) {
    for (int64_t index = 0; index < static_cast<int64_t>(mesh.getAxes().size()); ++index)
      sizes.push_back(mesh.getAxisSize(index));
  }

  /// Runs the steps; at the end each rank must have its shard of the target, whose addends sum to the tensor.
  void run(plan::ShardingAttr from, llvm::ArrayRef<ReshardStep> steps, plan::ShardingAttr target) {
    std::vector<Shard> shards = start(from);
    for (const ReshardStep &step : steps) {
      EXPECT_EQ(step.result.getReduction(), step.result.isPartial() ? from.getReduction() : plan::Reduction::none);
      shards = apply(step, shards);
    }
    EXPECT_EQ(steps.empty() ? from : steps.back().result, target);
    for (int64_t rank = 0; rank < mesh.getWorldSize(); ++rank) {
      Shard sum;
      for (int64_t peer : group(target.getPartialAxes(), rank))
        for (auto [element, value] : shards[peer])
          sum[element] += value;
      Shard whole;
      for (int64_t element : elements(target, rank))
        whole[element] = element + 1;
      EXPECT_TRUE(sum == whole) << "rank " << rank << " does not hold its part of the target";
    }
  }

private:
  std::vector<int64_t> group(llvm::ArrayRef<plan::AxisRefAttr> axes, int64_t rank) {
    std::vector<AxisRef> resolved;
    for (plan::AxisRefAttr axis : axes)
      resolved.push_back(resolveAxis(axis, mesh));
    return groupOf(resolved, sizes, coordinate(rank));
  }

  /// Shards of the tensor whose element i is i + 1; a partial tensor has addends that depend on the rank.
  std::vector<Shard> start(plan::ShardingAttr sharding) {
    std::vector<Shard> shards(mesh.getWorldSize());
    for (int64_t rank = 0; rank < mesh.getWorldSize(); ++rank) {
      std::vector<int64_t> peers = group(sharding.getPartialAxes(), rank);
      int64_t position = std::find(peers.begin(), peers.end(), rank) - peers.begin();
      int64_t count = peers.size();
      for (int64_t element : elements(sharding, rank))
        // With the addends 1, 2, ... of the others, that of the last peer makes the sum the value.
        shards[rank][element] = position + 1 < count ? position + 1 : element + 1 - (count - 1) * count / 2;
    }
    return shards;
  }

  /// The shards of all ranks after a step; a failure if a collective of this kind cannot produce them.
  std::vector<Shard> apply(const ReshardStep &step, const std::vector<Shard> &before) {
    bool reduces = step.kind && base::reduces(*step.kind);
    std::vector<Shard> after(before.size());
    for (int64_t rank = 0; rank < static_cast<int64_t>(before.size()); ++rank) {
      std::vector<int64_t> peers = step.kind ? group(step.axes, rank) : std::vector<int64_t>{rank};
      for (int64_t element : elements(step.result, rank)) {
        size_t holders = 0;
        for (int64_t peer : peers)
          if (auto held = before[peer].find(element); held != before[peer].end()) {
            after[rank][element] = (reduces ? after[rank][element] : 0) + held->second;
            ++holders;
          }
        // Each peer has an addend, or one has the element; a permutation reads a shard that may have copies.
        EXPECT_TRUE(holders == (reduces ? peers.size() : 1) ||
                    (holders > 0 && step.kind == plan::CollectiveKind::permute))
            << holders << " of the peers of rank " << rank << " have element " << element;
      }
    }
    if (step.kind == plan::CollectiveKind::permute)
      checkPermutation(step.axes, before, after);
    return after;
  }

  /// Within a group each shard goes to one rank as a whole, so the number of its copies does not change.
  void checkPermutation(llvm::ArrayRef<plan::AxisRefAttr> axes, const std::vector<Shard> &before,
                        const std::vector<Shard> &after) {
    for (int64_t rank = 0; rank < static_cast<int64_t>(before.size()); ++rank) {
      std::multiset<Shard> sent, received;
      for (int64_t peer : group(axes, rank)) {
        sent.insert(before[peer]);
        received.insert(after[peer]);
      }
      EXPECT_TRUE(sent == received) << "the ranks beside " << rank << " do not hold what they need";
    }
  }

  std::vector<int64_t> coordinate(int64_t rank) const { return coordinateOfRank(rank, sizes); }

  /// The rank's elements under a sharding.
  std::vector<int64_t> elements(plan::ShardingAttr sharding, int64_t rank) {
    std::vector<int64_t> places{0};
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      std::vector<int64_t> next;
      for (int64_t prefix : places)
        for (Range range : localRanges(resolveDim(shape[dim], sharding.getDims()[dim], mesh), sizes, coordinate(rank)))
          for (int64_t i = range.offset; i < range.offset + range.size; ++i)
            next.push_back(prefix * shape[dim] + i);
      places = next;
    }
    std::vector<AxisRef> axes;
    for (plan::AxisRefAttr axis : sharding.getFlatAxes())
      axes.push_back(resolveAxis(axis, mesh));
    auto count = static_cast<int64_t>(places.size());
    Range run = flatRange(count, axes, sizes, coordinate(rank));
    return {places.begin() + run.offset, places.begin() + run.offset + run.size};
  }

  plan::MeshOp mesh;
  std::vector<int64_t> shape;
  std::vector<int64_t> sizes;
};

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_SHARDING_SIMULATED_RANKS_H
