//===- order_test.cpp - sums have the same bits everywhere ----------------===//

#include "test/conformance/helpers.h"

#include <cmath>
#include <random>

namespace meshplan {
namespace {

// Numbers of very different magnitudes, so that another order of the sum gives other bits.
std::vector<float> roughNumbers(int64_t rank, int64_t count) {
  std::mt19937 generator(static_cast<unsigned>(rank + 1));
  std::vector<float> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(std::ldexp(static_cast<float>(generator() % 2001) - 1000.0f, int(generator() % 24)));
  return numbers;
}

// More than one block of the reduction, and no multiple of the number of ranks.
constexpr int64_t count = 9001;

std::vector<float> sumInOrder(std::span<const int64_t> ranks) {
  std::vector<float> sum = roughNumbers(ranks[0], count);
  for (int64_t rank : ranks.subspan(1)) {
    std::vector<float> next = roughNumbers(rank, count);
    for (int64_t i = 0; i < count; ++i)
      sum[i] += next[i];
  }
  return sum;
}

TEST(Order, FloatSumsFollowTheIndicesOfTheGroup) {
  MESHPLAN_SKIP_IF_OMITTED(omissions().order);
  for (const std::vector<int64_t> &order : {std::vector<int64_t>{0, 1, 2, 3, 4}, std::vector<int64_t>{3, 0, 4, 2, 1}})
    expectOk(5, [&](World &world) -> Status {
      MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createGroup(order, "order"));
      std::vector<float> input = roughNumbers(world.rank(), count), output(count);
      MESHPLAN_RETURN_IF_ERROR(
          finish(group->startAllReduce(input.data(), output.data(), count, DType::f32, Reduction::sum)));
      EXPECT_EQ(output, sumInOrder(order));
      return Status();
    });
}

TEST(Order, ReduceScatterGivesTheBitsOfAllReduce) {
  MESHPLAN_SKIP_IF_OMITTED(omissions().order);
  expectOk(4, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
    std::vector<int64_t> counts = {4000, 1, 5000, 0};
    std::vector<int64_t> begins = {0, 4000, 4001, 9001};
    std::vector<float> input = roughNumbers(world.rank(), count), output(counts[world.rank()]);
    MESHPLAN_RETURN_IF_ERROR(
        finish(group->startReduceScatter(input.data(), output.data(), counts, DType::f32, Reduction::sum)));
    std::vector<float> whole = sumInOrder(group->ranks());
    auto begin = whole.begin() + begins[world.rank()];
    EXPECT_EQ(output, std::vector<float>(begin, begin + counts[world.rank()]));
    return Status();
  });
}

TEST(Order, HalvesAreAddedInFloatAndRoundedOnce) {
  MESHPLAN_SKIP_IF_OMITTED(omissions().order);
  expectOk(3, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
    // In bf16 256 + 1 is 256 again, so rounding after each addition would give 256.
    BFloat16 input = toBFloat16(world.rank() == 0 ? 256.0f : 1.0f), output;
    MESHPLAN_RETURN_IF_ERROR(finish(group->startAllReduce(&input, &output, 1, DType::bf16, Reduction::sum)));
    EXPECT_EQ(toFloat(output), 258.0f);
    // The same for f16 at 2048.
    Float16 half = toFloat16(world.rank() == 0 ? 2048.0f : 1.0f), sum;
    MESHPLAN_RETURN_IF_ERROR(finish(group->startAllReduce(&half, &sum, 1, DType::f16, Reduction::sum)));
    EXPECT_EQ(toFloat(sum), 2050.0f);
    return Status();
  });
}

TEST(Order, MaxAndMinKeepNaN) {
  MESHPLAN_SKIP_IF_OMITTED(omittedReduction(DType::f32, Reduction::max));
  for (Reduction reduction : {Reduction::max, Reduction::min})
    for (int64_t where : {0, 1, 2})
      expectOk(3, [&](World &world) -> Status {
        MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
        float input = world.rank() == where ? std::nanf("") : float(world.rank()), output = 0;
        MESHPLAN_RETURN_IF_ERROR(finish(group->startAllReduce(&input, &output, 1, DType::f32, reduction)));
        EXPECT_TRUE(std::isnan(output));
        return Status();
      });
}

TEST(Order, IntegerSumsWrapAround) {
  expectOk(2, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world));
    int32_t input = world.rank() == 0 ? INT32_MAX : 1, output = 0;
    MESHPLAN_RETURN_IF_ERROR(finish(group->startAllReduce(&input, &output, 1, DType::i32, Reduction::sum)));
    EXPECT_EQ(output, INT32_MIN);
    return Status();
  });
}

} // namespace
} // namespace meshplan
