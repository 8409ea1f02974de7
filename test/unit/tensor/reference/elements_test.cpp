//===- elements_test.cpp - statistics of elements of tensors --------------===//

#include "runtime/tensor/elements.h"

#include "test/unit/tensor/call_helper.h"

#include <gmock/gmock.h>
#include <limits>

using namespace meshplan;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double noNumber = std::numeric_limits<double>::quiet_NaN();

at::Tensor numbers(std::initializer_list<double> list, at::ScalarType type = at::kDouble) {
  return at::tensor(std::vector<double>(list), at::kDouble).to(type);
}

ElementErrors errors(const at::Tensor &own, const at::Tensor &exact) {
  auto found = errorsOf(wrap(own), wrap(exact));
  EXPECT_TRUE(found.ok()) << found.status().message();
  return *found;
}

} // namespace

TEST(ElementsTest, TheLargestError) {
  EXPECT_DOUBLE_EQ(errors(numbers({1, 2, 3}), numbers({1.5, 2, 2})).largest, 1);
  EXPECT_EQ(errors(numbers({}), numbers({})).largest, 0);
  EXPECT_EQ(errors(numbers({1, 0}, at::kBool), numbers({1, 1})).largest, 1);
}

TEST(ElementsTest, WhatIsNoNumberIsInfinitelyWrong) {
  EXPECT_EQ(errors(numbers({1, noNumber}), numbers({1, 2})).largest, infinity);
  EXPECT_EQ(errors(numbers({1, 2}), numbers({1, noNumber})).largest, infinity);
  EXPECT_EQ(errors(numbers({noNumber}), numbers({noNumber})).largest, infinity);
  EXPECT_EQ(errors(numbers({infinity}), numbers({2})).largest, infinity);
  EXPECT_EQ(errors(numbers({-infinity}), numbers({infinity})).largest, infinity);
  EXPECT_EQ(errors(numbers({-infinity, 1}), numbers({-infinity, 1})).largest, 0) << "a mask";
}

TEST(ElementsTest, ElementsThatAreTheExactOnesRoundedOnce) {
  at::Tensor exact = numbers({1.001, 300.4});
  ElementErrors found = errors(exact.to(at::kBFloat16), exact);
  EXPECT_GT(found.largest, 0.1);
  EXPECT_EQ(found.ofOthers, 0);
  EXPECT_NEAR(errors(numbers({1.0, 304}, at::kBFloat16), exact).ofOthers, 3.6, 1e-12);
}

TEST(ElementsTest, ElementsThatAreNotFinite) {
  for (at::ScalarType type : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16}) {
    at::Tensor tensor = numbers({1, infinity, 2, noNumber, -infinity, 0}, type).view({2, 3});
    EXPECT_EQ(nonfiniteIn(wrap(tensor))->count, 3);
    EXPECT_EQ(nonfiniteIn(wrap(tensor))->first, 1);
    EXPECT_EQ(nonfiniteIn(wrap(tensor), /*infinities=*/false)->count, 1);
    EXPECT_EQ(nonfiniteIn(wrap(tensor), /*infinities=*/false)->first, 3);
    EXPECT_EQ(nonfiniteIn(wrap(tensor.t()), false)->first, 1) << "in the order of the tensor, not of the memory";
  }
  EXPECT_EQ(nonfiniteIn(wrap(numbers({-infinity, 2})), /*infinities=*/false)->count, 0);
  EXPECT_EQ(nonfiniteIn(wrap(at::tensor({1, 2}, at::kLong)))->count, 0);
  EXPECT_EQ(nonfiniteIn(wrap(numbers({})))->count, 0);
  at::Tensor large = at::zeros({(1 << 22) + 3});
  large[(1 << 22) + 1] = noNumber;
  EXPECT_EQ(nonfiniteIn(wrap(large))->first, (1 << 22) + 1) << "after the first piece";
}

TEST(ElementsTest, ThePlaceOfANumber) {
  at::Tensor tensor = at::tensor({3, 5, 7, 5}, at::kLong).view({2, 2});
  EXPECT_EQ(*onlyIndexOf(wrap(tensor), 7), 2);
  EXPECT_EQ(*onlyIndexOf(wrap(tensor), 5), std::nullopt) << "it is there twice";
  EXPECT_EQ(*onlyIndexOf(wrap(tensor), 4), std::nullopt);
  EXPECT_EQ(*onlyIndexOf(wrap(tensor.narrow(0, 0, 0)), 5), std::nullopt);
}

TEST(ElementsTest, SumsAndParts) {
  at::Tensor sum = unwrap(*sumOf(wrap(numbers({1, 256}, at::kBFloat16)), wrap(numbers({2, 1}, at::kBFloat16))));
  EXPECT_TRUE(at::equal(sum, numbers({3, 256}, at::kBFloat16))) << "in the type of both";
  EXPECT_TRUE(at::equal(unwrap(*dividedBy(wrap(sum), 4)), numbers({0.75, 64}, at::kBFloat16)));
  EXPECT_EQ(sumOf(wrap(at::zeros({2})), wrap(at::zeros({1, 2}))).status().message(),
            "cannot add [2] f32 and [1, 2] f32");
  EXPECT_EQ(sumOf(wrap(at::zeros({2})), wrap(at::zeros({2}, at::kDouble))).status().message(),
            "cannot add [2] f32 and [2] f64");
}

TEST(ElementsTest, Refusals) {
  EXPECT_EQ(errorsOf(wrap(at::zeros({2})), wrap(at::zeros({3}))).status().message(),
            "cannot compare [2] f32 with [3] f32");
}

TEST(ElementsTest, MagnitudesAndNorms) {
  EXPECT_EQ(*largestMagnitude(wrap(numbers({1, -3, infinity, noNumber}))), 3);
  EXPECT_EQ(*largestMagnitude(wrap(numbers({}))), 0);
  std::vector<Tensor> list{wrap(numbers({3, 0}, at::kFloat)), wrap(numbers({4}, at::kFloat))};
  EXPECT_EQ(*normOf(list), 5);
  EXPECT_EQ(*normOf({}), 0);
  list = {wrap(numbers({1.001}, at::kBFloat16))};
  EXPECT_EQ(*normOf(list), 1) << "in the precision of the tensors";
}

TEST(ElementsTest, Conversion) { EXPECT_EQ(converted(wrap(at::zeros({2})), DType::f64)->dtype(), DType::f64); }

/// One element in three moves to a neighbouring value, up as often as down.
TEST(ElementsTest, RoundedAnew) {
  // Away from powers of two, where the spacing changes.
  at::Tensor mantissas = at::arange(240'000, at::kDouble).div(240'000).mul(0.97).add(1.01).mul(-8);
  for (at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    at::Tensor own = mantissas.to(type);
    double unit = 8 * (type == at::kFloat ? 0x1p-23 : type == at::kHalf ? 0x1p-10 : 0x1p-7);
    at::Tensor steps = (unwrap(*withPerturbedRounding(wrap(own), 7)).to(at::kDouble) - own.to(at::kDouble)).div(unit);
    EXPECT_TRUE(steps.eq(steps.round()).all().item<bool>()) << type;
    EXPECT_LE(steps.abs().max().item<double>(), 1) << type;
    for (double step : {-1.0, 1.0})
      EXPECT_NEAR(steps.eq(step).sum().item<double>(), 40'000, 5 * 183) << type << " " << step; // standard deviations
  }
  at::Tensor own = mantissas.to(at::kFloat);
  EXPECT_TRUE(at::equal(unwrap(*withPerturbedRounding(wrap(own), 7)), unwrap(*withPerturbedRounding(wrap(own), 7))));
  EXPECT_FALSE(at::equal(unwrap(*withPerturbedRounding(wrap(own), 7)), unwrap(*withPerturbedRounding(wrap(own), 8))));
  at::Tensor ends = at::full({1000}, std::numeric_limits<float>::lowest());
  EXPECT_TRUE(unwrap(*withPerturbedRounding(wrap(ends), 1)).isfinite().all().item<bool>());
  EXPECT_TRUE(at::equal(unwrap(*withPerturbedRounding(wrap(at::zeros({1000})), 1)), at::zeros({1000})));
  EXPECT_EQ(withPerturbedRounding(wrap(at::ones({1}, at::kLong)), 1).status().message(),
            "a tensor of i64 cannot be rounded");
}

TEST(ElementsTest, WhatSixteenBitsAreRoundedBy) {
  EXPECT_EQ(*roundingOf(wrap(numbers({1, -3, 2}, at::kBFloat16))), 0x1p-7) << "numbers from 2 to 4 are 2^-6 apart";
  EXPECT_EQ(*roundingOf(wrap(numbers({1}, at::kHalf))), 0x1p-11);
  for (const at::Tensor &none : {numbers({1}, at::kFloat), numbers({0}, at::kHalf), at::empty({0}, at::kHalf),
                                 numbers({INFINITY}, at::kBFloat16)})
    EXPECT_EQ(*roundingOf(wrap(none)), 0);
}

TEST(ElementsTest, Views) {
  at::Tensor own = at::zeros({2, 3});
  EXPECT_TRUE(shareMemory(wrap(own), wrap(own.t())));
  EXPECT_FALSE(shareMemory(wrap(own), wrap(own.clone())));
}
