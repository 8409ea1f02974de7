//===- collectives_test.cpp - every operation moves the right elements ----===//

#include "test/conformance/helpers.h"

#include <numeric>
#include <thread>

namespace meshplan {
namespace {

// Uneven on purpose; rank 2 has no elements.
const std::vector<int64_t> unevenCounts = {3, 1, 0, 5};

double reduceReference(std::span<const int64_t> ranks, int64_t i, Reduction reduction) {
  double result = elementOf(ranks[0], i);
  for (int64_t rank : ranks.subspan(1)) {
    double next = elementOf(rank, i);
    result = reduction == Reduction::sum   ? result + next
             : reduction == Reduction::max ? std::max(result, next)
                                           : std::min(result, next);
  }
  return result;
}

class EveryDType : public testing::TestWithParam<DType> {};

INSTANTIATE_TEST_SUITE_P(Collectives, EveryDType, testing::ValuesIn(allDTypes),
                         [](const auto &info) { return std::string(dtypeName(info.param)); });

using Case = std::tuple<DType, Reduction>;
class EveryReduction : public testing::TestWithParam<Case> {};

std::string caseName(const testing::TestParamInfo<Case> &info) {
  static const char *const names[] = {"sum", "max", "min"};
  auto [dtype, reduction] = info.param;
  return std::string(dtypeName(dtype)) + "_" + names[static_cast<size_t>(reduction)];
}

INSTANTIATE_TEST_SUITE_P(Collectives, EveryReduction,
                         testing::Combine(testing::ValuesIn(std::span(allDTypes).first(9)),
                                          testing::Values(Reduction::sum, Reduction::max, Reduction::min)),
                         caseName);

TEST_P(EveryReduction, AllReduce) {
  auto [dtype, reduction] = GetParam();
  MESHPLAN_SKIP_IF_OMITTED(omittedReduction(dtype, reduction));
  for (int64_t size : {1, 2, 3, 5})
    for (int64_t count : {0, 1, 7, 5000})
      expectOk(size, [&, dtype = dtype, reduction = reduction](World &world) -> Status {
        MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
        std::vector<std::byte> input = encode(elementsOf(world.rank(), count), dtype), output(input.size());
        MESHPLAN_RETURN_IF_ERROR(finish(group->startAllReduce(input.data(), output.data(), count, dtype, reduction)));
        std::vector<double> expected;
        for (int64_t i = 0; i < count; ++i)
          expected.push_back(reduceReference(group->ranks(), i, reduction));
        EXPECT_EQ(decode(output, dtype), expected);
        EXPECT_EQ(decode(input, dtype), elementsOf(world.rank(), count)) << "the input changed";
        return Status();
      });
}

TEST_P(EveryReduction, AllReduceInPlace) {
  auto [dtype, reduction] = GetParam();
  MESHPLAN_SKIP_IF_OMITTED(omittedReduction(dtype, reduction));
  expectOk(3, [dtype = dtype, reduction = reduction](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
    std::vector<std::byte> buffer = encode(elementsOf(world.rank(), 10), dtype);
    MESHPLAN_RETURN_IF_ERROR(finish(group->startAllReduce(buffer.data(), buffer.data(), 10, dtype, reduction)));
    std::vector<double> actual = decode(buffer, dtype);
    for (int64_t i = 0; i < 10; ++i)
      EXPECT_EQ(actual[i], reduceReference(group->ranks(), i, reduction));
    return Status();
  });
}

TEST_P(EveryReduction, ReduceScatter) {
  auto [dtype, reduction] = GetParam();
  MESHPLAN_SKIP_IF_OMITTED(omittedReduction(dtype, reduction));
  for (const std::vector<int64_t> &counts : {unevenCounts, std::vector<int64_t>(4, 6)})
    expectOk(4, [&, dtype = dtype, reduction = reduction](World &world) -> Status {
      MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
      int64_t total = std::accumulate(counts.begin(), counts.end(), int64_t(0)), own = counts[world.rank()];
      int64_t begin = std::accumulate(counts.begin(), counts.begin() + world.rank(), int64_t(0));
      std::vector<std::byte> input = encode(elementsOf(world.rank(), total), dtype), output(own * dtypeSize(dtype));
      MESHPLAN_RETURN_IF_ERROR(
          finish(group->startReduceScatter(input.data(), output.data(), counts, dtype, reduction)));
      std::vector<double> expected;
      for (int64_t i = begin; i < begin + own; ++i)
        expected.push_back(reduceReference(group->ranks(), i, reduction));
      EXPECT_EQ(decode(output, dtype), expected);
      return Status();
    });
}

TEST(Reductions, EqualReduceScatter) {
  expectOk(3, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
    std::vector<float> input = {1, 2, 3, 4, 5, 6}, output(2);
    MESHPLAN_RETURN_IF_ERROR(
        finish(group->startReduceScatter(input.data(), output.data(), 2, DType::f32, Reduction::sum)));
    float first = static_cast<float>(world.rank() * 2 + 1);
    EXPECT_THAT(output, testing::ElementsAre(3 * first, 3 * (first + 1)));
    return Status();
  });
}

TEST_P(EveryDType, AllGather) {
  DType dtype = GetParam();
  for (const std::vector<int64_t> &counts : {unevenCounts, std::vector<int64_t>(4, 3)})
    expectOk(4, [&](World &world) -> Status {
      MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
      std::vector<double> expected;
      for (int64_t rank = 0; rank < 4; ++rank)
        for (double element : elementsOf(rank, counts[rank]))
          expected.push_back(element);
      std::vector<std::byte> input = encode(elementsOf(world.rank(), counts[world.rank()]), dtype);
      std::vector<std::byte> output(expected.size() * dtypeSize(dtype));
      MESHPLAN_RETURN_IF_ERROR(finish(group->startAllGather(input.data(), output.data(), counts, dtype)));
      EXPECT_EQ(decode(output, dtype), expected);
      return Status();
    });
}

// Rank r sends (r + 2 * to) % 4 elements to rank `to`.
int64_t countBetween(int64_t from, int64_t to) { return (from + 2 * to) % 4; }

TEST_P(EveryDType, AllToAll) {
  DType dtype = GetParam();
  expectOk(4, [&](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
    std::vector<int64_t> sendCounts, receiveCounts;
    std::vector<double> sent, expected;
    for (int64_t peer = 0; peer < 4; ++peer) {
      sendCounts.push_back(countBetween(world.rank(), peer));
      receiveCounts.push_back(countBetween(peer, world.rank()));
      for (double element : elementsOf(world.rank(), sendCounts.back(), 10 * peer))
        sent.push_back(element);
      for (double element : elementsOf(peer, receiveCounts.back(), 10 * world.rank()))
        expected.push_back(element);
    }
    std::vector<std::byte> input = encode(sent, dtype), output(expected.size() * dtypeSize(dtype));
    MESHPLAN_RETURN_IF_ERROR(
        finish(group->startAllToAll(input.data(), sendCounts, output.data(), receiveCounts, dtype)));
    EXPECT_EQ(decode(output, dtype), expected);
    return Status();
  });
}

TEST_P(EveryDType, Broadcast) {
  DType dtype = GetParam();
  for (int64_t root : {0, 2})
    expectOk(3, [&](World &world) -> Status {
      MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
      std::vector<std::byte> buffer = encode(elementsOf(world.rank(), 9), dtype);
      MESHPLAN_RETURN_IF_ERROR(finish(group->startBroadcast(buffer.data(), 9, dtype, root)));
      EXPECT_EQ(decode(buffer, dtype), elementsOf(root, 9));
      return Status();
    });
}

TEST_P(EveryDType, PermuteShiftsWithoutWrappingAround) {
  DType dtype = GetParam();
  expectOk(4, [&](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
    int64_t rank = world.rank();
    int64_t to = rank + 1 < 4 ? rank + 1 : -1, from = rank - 1;
    int64_t sent = rank + 1, received = from >= 0 ? rank : 0; // rank r sends r + 1 elements
    std::vector<std::byte> input = encode(elementsOf(rank, sent), dtype), output(received * dtypeSize(dtype));
    MESHPLAN_RETURN_IF_ERROR(finish(group->startPermute(input.data(), sent, to, output.data(), received, from, dtype)));
    EXPECT_EQ(decode(output, dtype), elementsOf(from, received));
    return Status();
  });
}

TEST_P(EveryDType, SendAndReceive) {
  DType dtype = GetParam();
  expectOk(3, [&](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
    if (world.rank() == 0) {
      std::vector<std::byte> input = encode(elementsOf(0, 4), dtype);
      return finish(group->startSend(input.data(), 4, dtype, 2));
    }
    if (world.rank() == 2) {
      std::vector<std::byte> output(4 * dtypeSize(dtype));
      MESHPLAN_RETURN_IF_ERROR(finish(group->startReceive(output.data(), 4, dtype, 0)));
      EXPECT_EQ(decode(output, dtype), elementsOf(0, 4));
    }
    return Status(); // rank 1 takes no part
  });
}

TEST(Barrier, NobodyLeavesBeforeAllHaveArrived) {
  // Ranks may be processes, so they compare clock times, which all processes of a machine share.
  expectOk(5, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
    auto now = [] { return static_cast<int64_t>(std::chrono::steady_clock::now().time_since_epoch().count()); };
    std::this_thread::sleep_for(std::chrono::milliseconds(10 * world.rank()));
    int64_t arrived = now(), lastArrived = 0;
    MESHPLAN_RETURN_IF_ERROR(finish(group->startBarrier()));
    int64_t left = now();
    MESHPLAN_RETURN_IF_ERROR(finish(group->startAllReduce(&arrived, &lastArrived, 1, DType::i64, Reduction::max)));
    EXPECT_LE(lastArrived, left);
    return Status();
  });
}

} // namespace
} // namespace meshplan
