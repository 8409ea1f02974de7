//===- groups_test.cpp - several groups, many collectives in flight -------===//

#include "test/conformance/helpers.h"

#include <deque>
#include <random>

namespace meshplan {
namespace {

/// Ranks of a 2 x 3 mesh: groups of three along a row, groups of two along a column.
struct MeshGroups {
  std::unique_ptr<Group> row, column;
};

Expected<MeshGroups> makeMeshGroups(World &world) {
  int64_t row = world.rank() / 3, column = world.rank() % 3;
  MeshGroups groups;
  MESHPLAN_ASSIGN_OR_RETURN(groups.row, world.createGroup({3 * row, 3 * row + 1, 3 * row + 2}, "tp"));
  MESHPLAN_ASSIGN_OR_RETURN(groups.column, world.createGroup({column, 3 + column}, "dp"));
  return groups;
}

float sumOver(const Group &group, int64_t step) {
  float sum = 0;
  for (int64_t rank : group.ranks())
    sum += static_cast<float>(rank * 100 + step);
  return sum;
}

TEST(Groups, IndicesFollowTheOrderOfTheList) {
  expectOk(3, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createGroup({2, 0, 1}, "turned"));
    EXPECT_EQ(group->index(), (world.rank() + 1) % 3);
    EXPECT_EQ(group->size(), 3);
    EXPECT_EQ(group->name(), "turned");
    int64_t own = world.rank(), all[3];
    MESHPLAN_RETURN_IF_ERROR(finish(group->startAllGather(&own, all, 1, DType::i64)));
    EXPECT_THAT(all, testing::ElementsAre(2, 0, 1));
    return Status();
  });
}

TEST(Groups, InterleavedOnAMesh) {
  expectOk(6, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(MeshGroups groups, makeMeshGroups(world));
    for (int64_t step = 0; step < 50; ++step) {
      float input = static_cast<float>(world.rank() * 100 + step), rowSum = 0, columnSum = 0;
      MESHPLAN_ASSIGN_OR_RETURN(Pending row,
                                groups.row->startAllReduce(&input, &rowSum, 1, DType::f32, Reduction::sum));
      MESHPLAN_ASSIGN_OR_RETURN(Pending column,
                                groups.column->startAllReduce(&input, &columnSum, 1, DType::f32, Reduction::sum));
      MESHPLAN_RETURN_IF_ERROR(column->wait());
      MESHPLAN_RETURN_IF_ERROR(row->wait());
      EXPECT_EQ(rowSum, sumOver(*groups.row, step));
      EXPECT_EQ(columnSum, sumOver(*groups.column, step));
    }
    return Status();
  });
}

TEST(Groups, ManyInFlightWaitedForInAnyOrder) {
  constexpr int64_t steps = 200;
  expectOk(6, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(MeshGroups groups, makeMeshGroups(world));
    std::vector<float> inputs(steps), outputs(steps);
    std::vector<Pending> pending;
    for (int64_t step = 0; step < steps; ++step) {
      Group &group = step % 3 == 0 ? *groups.column : *groups.row;
      inputs[step] = static_cast<float>(world.rank() * 100 + step);
      MESHPLAN_ASSIGN_OR_RETURN(Pending next,
                                group.startAllReduce(&inputs[step], &outputs[step], 1, DType::f32, Reduction::sum));
      pending.push_back(std::move(next));
    }
    // Each rank waits in its own order.
    std::vector<int64_t> order(steps);
    for (int64_t step = 0; step < steps; ++step)
      order[step] = step;
    std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(world.rank())));
    for (int64_t step : order)
      MESHPLAN_RETURN_IF_ERROR(pending[step]->wait());
    for (int64_t step = 0; step < steps; ++step)
      EXPECT_EQ(outputs[step], sumOver(step % 3 == 0 ? *groups.column : *groups.row, step));
    return Status();
  });
}

TEST(Groups, TwoGroupsWithTheSameRanksAreApart) {
  expectOk(2, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto first, world.createGroup({0, 1}, "twin"));
    MESHPLAN_ASSIGN_OR_RETURN(auto second, world.createGroup({0, 1}, "twin"));
    int32_t one = 1, two = 2, sumOfOnes = 0, sumOfTwos = 0;
    MESHPLAN_ASSIGN_OR_RETURN(Pending a, first->startAllReduce(&one, &sumOfOnes, 1, DType::i32, Reduction::sum));
    MESHPLAN_ASSIGN_OR_RETURN(Pending b, second->startAllReduce(&two, &sumOfTwos, 1, DType::i32, Reduction::sum));
    // The order of waits is free: here each rank has its own.
    MESHPLAN_RETURN_IF_ERROR(world.rank() == 0 ? a->wait() : b->wait());
    MESHPLAN_RETURN_IF_ERROR(world.rank() == 0 ? b->wait() : a->wait());
    EXPECT_EQ(sumOfOnes, 2);
    EXPECT_EQ(sumOfTwos, 4);
    return Status();
  });
}

TEST(Groups, SendsOfAPairStayInOrder) {
  // Rank 2 receives ten numbers from each of the others, alternating.
  expectOk(3, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
    bool receives = world.rank() == 2;
    std::vector<int64_t> values(receives ? 20 : 10);
    std::vector<Pending> pending;
    for (int64_t i = 0; i < static_cast<int64_t>(values.size()); ++i) {
      if (!receives)
        values[i] = world.rank() * 1000 + i;
      MESHPLAN_ASSIGN_OR_RETURN(Pending next, receives ? group->startReceive(&values[i], 1, DType::i64, i % 2)
                                                       : group->startSend(&values[i], 1, DType::i64, 2));
      pending.push_back(std::move(next));
    }
    for (Pending &each : pending)
      MESHPLAN_RETURN_IF_ERROR(each->wait());
    for (int64_t i = 0; receives && i < 20; ++i)
      EXPECT_EQ(values[i], (i % 2) * 1000 + i / 2);
    return Status();
  });
}

TEST(Groups, ALeavingRankDoesNotDisturbTheOthers) {
  // Buffers are freed right after wait. A peer that still read them would see the poison.
  expectOk(4, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
    for (int64_t step = 0; step < 100; ++step) {
      std::vector<int32_t> input(3000, int32_t(world.rank() + step)), output(4 * 3000);
      MESHPLAN_RETURN_IF_ERROR(finish(group->startAllGather(input.data(), output.data(), 3000, DType::i32)));
      std::fill(input.begin(), input.end(), -1);
      for (int64_t rank = 0; rank < 4; ++rank)
        EXPECT_EQ(output[rank * 3000 + 2999], rank + step);
    }
    return Status();
  });
}

} // namespace
} // namespace meshplan
