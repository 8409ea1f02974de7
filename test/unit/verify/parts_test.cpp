//===- parts_test.cpp - parts of whole tensors ----------------------------===//

#include "runtime/verify/parts.h"

#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/torch/access.h"

#include <gtest/gtest.h>

using namespace meshplan;

namespace {

const std::vector<int64_t> shape{3, 4};
// Rows 0 and 2 of the columns 1 and 2, and then the first element of row 1.
const std::vector<SliceRanges> slices{{{{0, 1}, {2, 1}}, {{1, 2}}}, {{{1, 1}}, {{0, 1}}}};

at::Tensor numbers() { return at::arange(12, at::kDouble).view({3, 4}); }

} // namespace

TEST(PartsTest, APartIsItsSlicesOneAfterTheOther) {
  ComputeScope compute(1);
  auto part = partOf(wrap(numbers()), slices, std::vector<int64_t>{5});
  ASSERT_TRUE(part.ok()) << part.status().message();
  EXPECT_TRUE(at::equal(unwrap(*part), at::tensor({1.0, 2.0, 9.0, 10.0, 4.0}, at::kDouble)));
}

TEST(PartsTest, AWholeHasZerosElsewhere) {
  ComputeScope compute(1);
  at::Tensor part = at::tensor({1.0f, 2.0f, 9.0f, 10.0f, 4.0f}).to(at::kBFloat16);
  auto whole = assembled(wrap(part), slices, shape);
  ASSERT_TRUE(whole.ok()) << whole.status().message();
  at::Tensor expected = at::zeros({3, 4}, at::kDouble);
  for (auto [row, column] : {std::pair(0, 1), {0, 2}, {2, 1}, {2, 2}, {1, 0}})
    expected[row][column] = numbers()[row][column];
  EXPECT_TRUE(at::equal(unwrap(*whole), expected));
}

TEST(PartsTest, ATensorThatIsNotContiguous) {
  ComputeScope compute(1);
  at::Tensor turned = numbers().t();
  std::vector<SliceRanges> all{meshplan::wholeTensor(std::vector<int64_t>{4, 3})};
  auto whole = assembled(wrap(turned), all, std::vector<int64_t>{4, 3});
  EXPECT_TRUE(at::equal(unwrap(*whole), turned));
}

TEST(PartsTest, WithoutSlicesNothingIsThere) {
  ComputeScope compute(1);
  auto whole = assembled(wrap(numbers()), {}, shape);
  EXPECT_TRUE(at::equal(unwrap(*whole), at::zeros({3, 4}, at::kDouble)));
}
