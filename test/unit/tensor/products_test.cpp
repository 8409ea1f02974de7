#include "test/unit/tensor/call_helper.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

at::Tensor matmulF32(const at::Tensor &self, const at::Tensor &other) {
  return callOperator("meshplan.matmul_f32", {self, other}, {value("self", 0), value("other", 1)})[0];
}

at::Tensor linearF32(const at::Tensor &input, const at::Tensor &weight) {
  return callOperator("meshplan.linear_f32", {input, weight}, {value("input", 0), value("weight", 1)})[0];
}

at::Tensor weightGradient(const at::Tensor &left, const at::Tensor &right, const char *target) {
  return callOperator(target, {left, right}, {value("left", 0), value("right", 1)})[0];
}

/// The product of the same 16-bit values in f64. f32 sums of k products of magnitude about 1 have an error below k *
/// 2^-24 * sqrt(k); one rounding to 16 bits would have an error of 2^-9 of a sum.
void expectProduct(const at::Tensor &result, const at::Tensor &self, const at::Tensor &other) {
  at::Tensor exact = at::matmul(self.to(at::kDouble), other.to(at::kDouble));
  EXPECT_EQ(result.scalar_type(), at::kFloat);
  double contracted = static_cast<double>(self.size(-1));
  EXPECT_LE(difference(result, exact), contracted * std::sqrt(contracted) * std::exp2(-24) * 8);
}

at::Tensor randomMatrix(at::IntArrayRef sizes, at::ScalarType type = at::kBFloat16) {
  return at::randn(sizes).to(type);
}

TEST(Products, AreNotRounded) {
  at::manual_seed(1);
  for (at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    at::Tensor self = randomMatrix({5, 64}, type), other = randomMatrix({64, 3}, type);
    expectProduct(matmulF32(self, other), self, other);
  }
}

/// The second operand is converted in blocks of columns.
TEST(Products, OfManyColumns) {
  at::Tensor input = randomMatrix({2, 3, 1 << 12}), weight = randomMatrix({150, 1 << 12});
  expectProduct(linearF32(input, weight), input, weight.t());
  at::Tensor wide = randomMatrix({1 << 15, 40});
  expectProduct(matmulF32(randomMatrix({2, 1 << 15}).zero_(), wide), at::zeros({2, 1 << 15}), wide);
}

TEST(Products, OfAnyStrides) {
  at::Tensor self = randomMatrix({64, 6, 5}).permute({2, 1, 0}), other = randomMatrix({7, 64}).t();
  expectProduct(matmulF32(self, other), self, other);
  at::Tensor batch = randomMatrix({64, 5, 7}).permute({1, 0, 2});
  expectProduct(matmulF32(self, batch), self, batch);
}

TEST(Products, OfAllRanks) {
  at::Tensor vector = randomMatrix({8}), matrix = randomMatrix({8, 3}), four = randomMatrix({2, 3, 4, 8}),
             batch = randomMatrix({3, 8, 2});
  expectProduct(matmulF32(vector, matrix), vector, matrix);
  expectProduct(matmulF32(four, matrix), four, matrix);
  expectProduct(matmulF32(four, batch), four, batch);
  expectProduct(matmulF32(matrix.t(), vector), matrix.t(), vector);
  expectProduct(linearF32(vector, matrix.t()), vector, matrix);
}

TEST(Products, OfNothing) {
  EXPECT_EQ(matmulF32(randomMatrix({0, 4}), randomMatrix({4, 3})).sizes(), (at::IntArrayRef{0, 3}));
  EXPECT_EQ(matmulF32(randomMatrix({2, 4}), randomMatrix({4, 0})).sizes(), (at::IntArrayRef{2, 0}));
  EXPECT_EQ(linearF32(randomMatrix({0, 2, 4}), randomMatrix({3, 4})).sizes(), (at::IntArrayRef{0, 2, 3}));
  // A rank without any part of the contraction adds zeros.
  EXPECT_TRUE(matmulF32(randomMatrix({2, 0}), randomMatrix({0, 3})).equal(at::zeros({2, 3})));
  EXPECT_TRUE(linearF32(randomMatrix({2, 5, 0}), randomMatrix({3, 0})).equal(at::zeros({2, 5, 3})));
  EXPECT_TRUE(matmulF32(randomMatrix({2, 4, 0}), randomMatrix({2, 0, 3})).equal(at::zeros({2, 4, 3})));
}

/// A rank's part of a tensor is not row-major. Rounded once, an element is the exact one in 16 bits except for ties:
/// f32 sums of 30 terms have an error of at most 2^-19, and 16-bit values are 2^-8 apart. Rounded before and after the
/// bias, about one in ten differs.
TEST(Products, ABiasIsAddedBeforeThePartIsRounded) {
  at::manual_seed(2);
  at::Tensor input = randomMatrix({4, 64, 30}), weight = randomMatrix({50, 30}), bias = randomMatrix({50});
  at::Tensor part = input.narrow(1, 32, 32);
  at::Tensor result = callOperator("meshplan.linear", {part, weight, bias},
                                   {value("input", 0), value("weight", 1), value("bias", 2)})[0];
  at::Tensor exact = at::linear(part.to(at::kDouble), weight.to(at::kDouble), bias.to(at::kDouble));
  double others = result.ne(exact.to(at::kBFloat16)).to(at::kDouble).mean().item<double>();
  EXPECT_LT(others, 0.01);
}

std::string productFailure(const char *target, const char *first, const char *second, const at::Tensor &a,
                           const at::Tensor &b) {
  std::vector<Argument> arguments{value(first, 0), value(second, 1)};
  std::vector<int> results{2};
  auto call = prepareCall(target, arguments, results);
  EXPECT_TRUE(call.ok());
  std::vector<Tensor> values{wrap(at::Tensor(a)), wrap(at::Tensor(b)), Tensor()};
  return (*call)->run(values).message();
}

TEST(Products, Refusals) {
  EXPECT_THAT(productFailure("meshplan.matmul_f32", "self", "other", randomMatrix({2, 4}), at::zeros({4, 3})),
              testing::HasSubstr("both operands must have one 16-bit type, they have BFloat16 and Float"));
  EXPECT_THAT(productFailure("meshplan.matmul_f32", "self", "other", randomMatrix({2, 4}), randomMatrix({5, 3})),
              testing::HasSubstr("cannot multiply [2, 4] with [5, 3]"));
  EXPECT_THAT(productFailure("meshplan.linear_f32", "input", "weight", randomMatrix({2, 4}), randomMatrix({4})),
              testing::HasSubstr("weight must have 2 dims, it has 1"));
}

/// Rows of any number of dims, compared with the product of the rows as one matrix in f64. f32 sums of k products of
/// magnitude about 1 have an error below k * 2^-24 * sqrt(k).
TEST(Products, TheGradientOfAWeightSumsOverAllRows) {
  at::manual_seed(2);
  const std::vector<std::vector<int64_t>> forms{{}, {7}, {3, 5}, {2, 0, 4}};
  for (const std::vector<int64_t> &rows : forms) {
    std::vector<int64_t> leftSizes = rows, rightSizes = rows;
    leftSizes.push_back(6);
    rightSizes.push_back(4);
    at::Tensor left = at::randn(leftSizes), right = at::randn(rightSizes);
    at::Tensor exact = at::mm(left.to(at::kDouble).reshape({-1, 6}).t(), right.to(at::kDouble).reshape({-1, 4}));
    at::Tensor made = weightGradient(left, right, "meshplan.weight_gradient");
    EXPECT_EQ(made.sizes(), at::IntArrayRef({6, 4}));
    EXPECT_LE(difference(made, exact), 15 * 4 * std::exp2(-24) * 8);
    at::Tensor narrowLeft = left.to(at::kBFloat16), narrowRight = right.to(at::kBFloat16);
    if (rows.size() == 1)
      expectProduct(weightGradient(narrowLeft, narrowRight, "meshplan.weight_gradient_f32"), narrowLeft.t(),
                    narrowRight);
  }
}

} // namespace
