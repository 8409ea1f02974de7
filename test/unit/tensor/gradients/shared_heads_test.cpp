#include "test/unit/tensor/call_helper.h"

#include <gmock/gmock.h>

using namespace meshplan;

static std::vector<Argument> groupsOf(int64_t groups, int64_t heads, int64_t first) {
  return {{"groups", groups}, {"heads_per_group", heads}, {"first_head", first}};
}

static at::Tensor sums(const at::Tensor &input, int64_t groups, int64_t heads, int64_t first) {
  return callNamed("meshplan.sum_shared_heads", {{"input", input}}, groupsOf(groups, heads, first))[0];
}

TEST(SharedHeadsTest, EveryPartOfTheHeads) {
  at::Tensor all = at::randn({2, 12, 3, 5}, at::kDouble);
  for (int64_t perGroup : {1, 2, 3, 12})
    for (int64_t first = 0; first <= 12; ++first)
      for (int64_t heads = 0; first + heads <= 12; ++heads) {
        at::Tensor expected = at::zeros({2, 12 / perGroup, 3, 5}, at::kDouble);
        for (int64_t head = first; head < first + heads; ++head)
          expected.select(1, head / perGroup) += all.select(1, head);
        // At most 12 additions of values below 5 in another order.
        EXPECT_LT(difference(sums(all.narrow(1, first, heads), 12 / perGroup, perGroup, first), expected), 1e-14);
      }
}

TEST(SharedHeadsTest, GroupsWithoutHeadsAreZero) {
  at::Tensor found = sums(at::ones({1, 2, 1, 1}), 4, 2, 2);
  EXPECT_TRUE(at::equal(found, at::tensor({0.0f, 2.0f, 0.0f, 0.0f}).view({1, 4, 1, 1})));
}

TEST(SharedHeadsTest, HalfTypesAreRoundedOnce) {
  for (at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    at::Tensor input = at::randn({3, 64, 2, 7}).to(type);
    at::Tensor exact = input.to(at::kFloat).sum(1, true);
    at::Tensor found = sums(input, 1, 64, 0);
    EXPECT_EQ(found.scalar_type(), type);
    // A sum in f32 in another order may be rounded to the neighbouring value of the type, but not further.
    EXPECT_TRUE(at::allclose(found.to(at::kFloat), exact, type == at::kHalf ? 0x1p-11 : 0x1p-8, 1e-5));
    at::Tensor sum = input.select(1, 0);
    for (int64_t head = 1; head < 64; ++head)
      sum = sum + input.select(1, head);
    EXPECT_GT(difference(sum, found.squeeze(1)), 0) << "a sum that is rounded each time is another";
  }
}

TEST(SharedHeadsTest, Refusals) {
  auto failure = [](const at::Tensor &input, int64_t groups, int64_t heads, int64_t first) {
    return failureOf("meshplan.sum_shared_heads", {{"input", input}}, groupsOf(groups, heads, first));
  };
  at::Tensor x = at::zeros({1, 3, 2, 2});
  EXPECT_EQ(failure(x, 2, 2, 2), "heads 2 to 5 do not fit 2 groups of 2");
  EXPECT_EQ(failure(x, 2, 2, -1), "heads -1 to 2 do not fit 2 groups of 2");
  EXPECT_EQ(failure(x, 2, 0, 0), "heads 0 to 3 do not fit 2 groups of 0");
  EXPECT_EQ(failure(at::zeros({3}), 2, 2, 0), "input must have 2 dims or more, it has 1");
}
