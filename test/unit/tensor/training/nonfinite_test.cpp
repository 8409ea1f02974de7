//===- nonfinite_test.cpp - non-finite elements ---------------------------===//

#include "runtime/tensor/nonfinite_notes.h"
#include "runtime/tensor/torch/kernels/training/nonfinite.h"
#include "test/unit/tensor/call_helper.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <limits>
#include <thread>

using namespace meshplan;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

int64_t countOf(const at::Tensor &tensor) {
  at::Tensor count = callOperator("meshplan.nonfinite_count", {tensor}, {value("self", 0)})[0];
  EXPECT_EQ(count.scalar_type(), at::kLong);
  EXPECT_EQ(count.dim(), 0);
  at::Tensor byOperators = nonfiniteCountByOperators(tensor);
  EXPECT_EQ(byOperators.scalar_type(), at::kLong);
  EXPECT_EQ(byOperators.dim(), 0);
  EXPECT_EQ(byOperators.item<int64_t>(), count.item<int64_t>()) << "on other devices";
  return count.item<int64_t>();
}

int64_t expectedNonfinite(const at::Tensor &tensor) { return at::isfinite(tensor).logical_not().sum().item<int64_t>(); }

class Nonfinite : public testing::TestWithParam<at::ScalarType> {
protected:
  at::Tensor made(const at::Tensor &tensor) const { return tensor.to(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Types, Nonfinite, testing::Values(at::kDouble, at::kFloat, at::kHalf, at::kBFloat16),
                         [](const auto &each) { return std::string(c10::toString(each.param)); });

TEST_P(Nonfinite, NansAndInfinitiesOfBothSigns) {
  EXPECT_EQ(countOf(made(at::tensor({1.0, nan, -inf, 0.0, inf, -nan, -2.5}, at::kDouble))), 4);
}

TEST_P(Nonfinite, TheGreatestAndTheLeastNumbersAreFinite) {
  at::Tensor limits = at::empty({6}, GetParam());
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, GetParam(), "limits", [&] {
    using Limits = std::numeric_limits<scalar_t>;
    scalar_t values[] = {Limits::max(),        Limits::lowest(), Limits::min(),
                         Limits::denorm_min(), scalar_t(0),      scalar_t(-0.0)};
    std::copy(std::begin(values), std::end(values), limits.mutable_data_ptr<scalar_t>());
  });
  EXPECT_EQ(countOf(limits), 0);
  EXPECT_EQ(countOf(limits * 2), 2) << "two of them overflow";
}

TEST_P(Nonfinite, WithoutElements) {
  EXPECT_EQ(countOf(at::zeros({0}, GetParam())), 0);
  EXPECT_EQ(countOf(at::zeros({3, 0, 2}, GetParam())), 0);
}

TEST_P(Nonfinite, WithoutDims) {
  EXPECT_EQ(countOf(made(at::scalar_tensor(nan, at::kDouble))), 1);
  EXPECT_EQ(countOf(made(at::scalar_tensor(1, at::kDouble))), 0);
}

/// Sizes around those of vectors, of runs that are counted together, and of pieces for threads.
TEST_P(Nonfinite, SizesOfAllKinds) {
  at::manual_seed(1);
  for (int64_t size : {1, 7, 8, 31, 33, 4095, 4096, 4097, 8192, 32768, 32769, 100'003}) {
    at::Tensor tensor = at::randn({size});
    tensor.masked_fill_(at::rand({size}).lt(0.1), nan).masked_fill_(at::rand({size}).lt(0.1), -inf);
    tensor = made(tensor);
    EXPECT_EQ(countOf(tensor), expectedNonfinite(tensor)) << size;
  }
}

/// Counters of 16 bits would overflow.
TEST_P(Nonfinite, AllElements) {
  EXPECT_EQ(countOf(at::full({70'000}, nan, GetParam())), 70'000);
  EXPECT_EQ(countOf(at::full({1 << 20}, inf, GetParam())), 1 << 20);
}

/// Memory between the elements of a part does not count.
TEST_P(Nonfinite, TensorsThatLieOtherwise) {
  at::Tensor tensor = at::randn({6, 8});
  tensor.index_put_({at::tensor({1, 2, 5}), at::tensor({0, 3, 7})}, at::full({3}, nan));
  tensor = made(tensor);
  EXPECT_EQ(countOf(tensor.t()), 3);
  EXPECT_EQ(countOf(tensor.narrow(1, 1, 6)), 1);
  EXPECT_EQ(countOf(tensor.slice(0, 0, 6, 2)), 1);
  EXPECT_EQ(countOf(tensor.flatten().narrow(0, 9, 11)), 1) << "a run that begins anywhere";
  EXPECT_EQ(countOf(tensor.narrow(0, 1, 1).narrow(1, 0, 1).expand({4, 5})), 20) << "one element, seen twenty times";
}

TEST_P(Nonfinite, SeveralThreads) {
  int threads = at::get_num_threads();
  at::set_num_threads(3);
  at::Tensor tensor = at::zeros({1 << 18}, GetParam());
  tensor.slice(0, 0, tensor.numel(), 1000).fill_(nan);
  EXPECT_EQ(countOf(tensor), expectedNonfinite(tensor));
  at::set_num_threads(threads);
}

TEST(NonfiniteTypes, WhatIsNoFloat) {
  EXPECT_THAT(failureOf("meshplan.nonfinite_count", {{"self", at::zeros({2}, at::kLong)}}),
              testing::HasSubstr("elements of type Long are not checked for being finite"));
}

at::Tensor note(const at::Tensor &tensor, const std::string &name) {
  return callOperator("meshplan.note_nonfinite", {tensor}, {value("self", 0), {"name", name}})[0];
}

TEST(NonfiniteNotes, AreOfTheOperatorsOfThisThread) {
  at::Tensor bad = at::tensor({1.0, nan, inf}), good = at::ones({4});
  NonfiniteNotes notes;
  EXPECT_EQ(note(bad, "a").data_ptr(), bad.data_ptr()) << "the operand itself";
  note(good, "b");
  note(bad, "c");
  note(bad, "a");
  std::thread([&] { note(bad, "elsewhere"); }).join();
  std::vector<NonfiniteNote> read = notes.read();
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].name, "a");
  EXPECT_EQ(read[0].count, 4) << "of two microbatches";
  EXPECT_EQ(read[1].name, "c");
  EXPECT_EQ(read[1].count, 2);
}

TEST(NonfiniteNotes, SaysWhatOtherRanksMayHaveMade) {
  at::Tensor bad = at::tensor({1.0, nan});
  NonfiniteNotes notes;
  note(bad, "own");
  callOperator("meshplan.note_nonfinite", {bad}, {value("self", 0), {"name", "of all"}, {"summed", true}});
  std::vector<NonfiniteNote> read = notes.read();
  ASSERT_EQ(read.size(), 2u);
  EXPECT_FALSE(read[0].isSummed);
  EXPECT_TRUE(read[1].isSummed);
}

TEST(NonfiniteNotes, AnInnerOneTakesOver) {
  at::Tensor bad = at::tensor({nan});
  note(bad, "without a reader");
  NonfiniteNotes outer;
  {
    NonfiniteNotes inner;
    note(bad, "a");
    EXPECT_EQ(inner.read().size(), 1u);
  }
  EXPECT_TRUE(outer.read().empty());
  note(bad, "b");
  EXPECT_EQ(outer.read().size(), 1u);
}

} // namespace
