//===- large_test.cpp - pieces of several megabytes -----------------------===//
//
// Backends may move large pieces in another way than small ones.
//
//===----------------------------------------------------------------------===//

#include "test/conformance/helpers.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace meshplan {
namespace {

// Pieces of several megabytes that are not powers of two, one small piece and one empty piece.
const std::vector<int64_t> counts = {700'001, 3, 0, 300'007};
constexpr int64_t total = 1'000'011;

float numberOf(int64_t rank, int64_t i) { return static_cast<float>((rank * 31 + i * 7) % 1009) * 0.1f; }

std::vector<float> numbersOf(int64_t rank, int64_t begin, int64_t count) {
  std::vector<float> numbers(count);
  for (int64_t i = 0; i < count; ++i)
    numbers[i] = numberOf(rank, begin + i);
  return numbers;
}

std::vector<float> sumsOf(int64_t begin, int64_t count, int64_t ranks) {
  std::vector<float> sums = numbersOf(0, begin, count);
  for (int64_t rank = 1; rank < ranks; ++rank)
    for (int64_t i = 0; i < count; ++i)
      sums[i] += numberOf(rank, begin + i);
  return sums;
}

int64_t beginOf(int64_t rank) { return std::accumulate(counts.begin(), counts.begin() + rank, int64_t(0)); }

/// gtest would print millions of numbers.
template <typename T> void expectSame(const std::vector<T> &actual, const std::vector<T> &expected) {
  ASSERT_EQ(actual.size(), expected.size());
  auto [here, there] = std::ranges::mismatch(actual, expected);
  if (here != actual.end())
    ADD_FAILURE() << "element " << here - actual.begin() << " is " << *here << ", expected " << *there;
}

TEST(Large, AllReduce) {
  for (bool inPlace : {false, true})
    expectOk(4, [&](World &world) -> Status {
      MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
      std::vector<float> input = numbersOf(world.rank(), 0, total), separate(inPlace ? 0 : total);
      std::vector<float> &output = inPlace ? input : separate;
      MESHPLAN_RETURN_IF_ERROR(
          finish(group->startAllReduce(input.data(), output.data(), total, DType::f32, Reduction::sum)));
      expectSame(output, sumsOf(0, total, 4));
      return Status();
    });
}

TEST(Large, ReduceScatter) {
  expectOk(4, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
    std::vector<float> input = numbersOf(world.rank(), 0, total), output(counts[world.rank()]);
    MESHPLAN_RETURN_IF_ERROR(
        finish(group->startReduceScatter(input.data(), output.data(), counts, DType::f32, Reduction::sum)));
    expectSame(output, sumsOf(beginOf(world.rank()), counts[world.rank()], 4));
    return Status();
  });
}

TEST(Large, AllGather) {
  expectOk(4, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
    std::vector<float> input = numbersOf(world.rank(), 0, counts[world.rank()]), output(total), expected;
    for (int64_t rank = 0; rank < 4; ++rank)
      std::ranges::copy(numbersOf(rank, 0, counts[rank]), std::back_inserter(expected));
    MESHPLAN_RETURN_IF_ERROR(finish(group->startAllGather(input.data(), output.data(), counts, DType::f32)));
    expectSame(output, expected);
    return Status();
  });
}

TEST(Large, AllToAll) {
  // Every rank sends counts[i] elements to rank i, so rank i receives counts[i] from each.
  expectOk(4, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
    int64_t own = counts[world.rank()];
    std::vector<int64_t> receiveCounts(4, own);
    std::vector<float> input = numbersOf(world.rank(), 0, total), output(4 * own), expected;
    for (int64_t rank = 0; rank < 4; ++rank)
      std::ranges::copy(numbersOf(rank, beginOf(world.rank()), own), std::back_inserter(expected));
    MESHPLAN_RETURN_IF_ERROR(
        finish(group->startAllToAll(input.data(), counts, output.data(), receiveCounts, DType::f32)));
    expectSame(output, expected);
    return Status();
  });
}

TEST(Large, BroadcastAndRingInFlightTogether) {
  expectOk(4, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
    int64_t next = (world.rank() + 1) % 4, previous = (world.rank() + 3) % 4;
    std::vector<float> shared = numbersOf(world.rank(), 0, total), input = shared, output(total);
    MESHPLAN_ASSIGN_OR_RETURN(Pending broadcast, group->startBroadcast(shared.data(), total, DType::f32, 1));
    MESHPLAN_ASSIGN_OR_RETURN(
        Pending ring, group->startPermute(input.data(), total, next, output.data(), total, previous, DType::f32));
    MESHPLAN_RETURN_IF_ERROR(ring->wait());
    MESHPLAN_RETURN_IF_ERROR(broadcast->wait());
    expectSame(shared, numbersOf(1, 0, total));
    expectSame(output, numbersOf(previous, 0, total));
    return Status();
  });
}

TEST(Large, AFailureWhileDataMoves) {
  // Data of the peers must not be written to freed memory.
  std::vector<Status> statuses = runWorld(4, longTimeout, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
    std::vector<float> input(4 * total), output(4 * total);
    MESHPLAN_ASSIGN_OR_RETURN(
        Pending sum, group->startAllReduce(input.data(), output.data(), 4 * total, DType::f32, Reduction::sum));
    if (world.rank() == 2)
      return Status(StatusCode::internal, "numeric fault");
    return sum->wait();
  });
  EXPECT_EQ(statuses[2].message(), "numeric fault");
}

} // namespace
} // namespace meshplan
