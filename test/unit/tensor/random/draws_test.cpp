//===- draws_test.cpp - dropout and uniform values ------------------------===//

#include "runtime/tensor/torch/kernels/random/draws.h"
#include "test/unit/tensor/call_helper.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

at::Tensor scalarOf(double content) { return at::scalar_tensor(content, at::kDouble); }

struct Place {
  std::vector<int64_t> shape, offset;
};

std::vector<Argument> placeLiterals(int64_t number, const Place &place) {
  std::vector<Argument> arguments{{"number", number}};
  if (!place.shape.empty()) {
    arguments.push_back({"shape", place.shape});
    arguments.push_back({"offset", place.offset});
  }
  return arguments;
}

at::Tensor drop(const at::Tensor &input, double p, const Place &place = {}, int64_t number = 2, double seed = 7,
                double step = 1) {
  std::vector<Argument> arguments = placeLiterals(number, place);
  arguments.push_back({"p", p});
  return callNamed("meshplan.dropout", {{"input", input}, {"seed", scalarOf(seed)}, {"step", scalarOf(step)}},
                   arguments)[0];
}

at::Tensor drawAt(std::vector<int64_t> size, DType dtype, const Place &place = {}) {
  std::vector<Argument> arguments = placeLiterals(2, place);
  arguments.push_back({"size", size});
  arguments.push_back({"dtype", dtype});
  return callNamed("meshplan.uniform", {{"seed", scalarOf(7)}, {"step", scalarOf(1)}}, arguments)[0];
}

/// The random words of all elements of a tensor, one by one.
at::Tensor wordsOf(int64_t count) {
  at::Tensor words = at::empty({count}, at::kDouble);
  for (int64_t i = 0; i < count; ++i)
    words[i] = double(philox({uint32_t(i / 4), 0, 2, 1}, {7, 0})[i % 4]);
  return words;
}

TEST(Dropout, DropsByTheWordOfAnElement) {
  at::Tensor input = at::randn({5, 7, 3}, at::kDouble);
  at::Tensor kept = wordsOf(input.numel()).view(input.sizes()).ge(0.3 * 4294967296.0);
  EXPECT_TRUE(at::equal(drop(input, 0.3), input * kept.to(at::kDouble) * (1 / 0.7)));
}

TEST(Dropout, APartHasTheMaskOfTheWhole) {
  at::Tensor input = at::randn({6, 5, 8}, at::kDouble), whole = drop(input, 0.4);
  for (int64_t dim = 0; dim < 3; ++dim)
    for (int64_t begin = 0; begin < input.size(dim); begin += 2) {
      int64_t size = std::min<int64_t>(2, input.size(dim) - begin);
      Place place{{6, 5, 8}, {0, 0, 0}};
      place.offset[dim] = begin;
      EXPECT_TRUE(at::equal(drop(input.narrow(dim, begin, size), 0.4, place), whole.narrow(dim, begin, size)))
          << "dim " << dim << " from " << begin;
    }
  at::Tensor corner = input.narrow(0, 3, 2).narrow(1, 1, 3).narrow(2, 5, 3);
  EXPECT_TRUE(
      at::equal(drop(corner, 0.4, {{6, 5, 8}, {3, 1, 5}}), whole.narrow(0, 3, 2).narrow(1, 1, 3).narrow(2, 5, 3)));
}

TEST(Dropout, LongRunsAndManyRunsAreWhole) {
  at::Tensor input = at::ones({3, 7001}, at::kFloat), whole = drop(input, 0.5);
  EXPECT_TRUE(at::equal(drop(input.view({-1}), 0.5), whole.view({-1})));
  EXPECT_TRUE(at::equal(drop(input.narrow(1, 4000, 3001), 0.5, {{3, 7001}, {0, 4000}}), whole.narrow(1, 4000, 3001)));
  at::Tensor many = at::ones({5000, 3}, at::kFloat);
  EXPECT_TRUE(at::equal(drop(many.narrow(1, 1, 2), 0.5, {{5000, 3}, {0, 1}}), drop(many, 0.5).narrow(1, 1, 2)));
}

TEST(Dropout, EveryShapeAndLayout) {
  EXPECT_EQ(drop(at::ones({}, at::kFloat), 0.5).dim(), 0);
  EXPECT_EQ(drop(at::ones({0, 4}, at::kFloat), 0.5).sizes(), (at::IntArrayRef{0, 4}));
  EXPECT_EQ(drop(at::ones({4, 0}, at::kFloat), 0.5, {{4, 6}, {0, 6}}).numel(), 0) << "a rank that holds nothing";
  at::Tensor turned = at::randn({4, 6}, at::kDouble).t();
  EXPECT_TRUE(at::equal(drop(turned, 0.5), drop(turned.contiguous(), 0.5)));
}

TEST(Dropout, HalfTypesAreRoundedOnce) {
  for (at::ScalarType type : {at::kHalf, at::kBFloat16}) {
    at::Tensor input = at::randn({40, 9}, at::kFloat).to(type);
    EXPECT_TRUE(at::equal(drop(input, 0.3), drop(input.to(at::kFloat), 0.3).to(type)));
  }
}

/// Of n elements, the number that is kept has the standard deviation sqrt(n p (1 - p)); one draw in a million exceeds
/// five of them.
TEST(Dropout, SharesAreTheProbability) {
  constexpr int64_t count = 1 << 20;
  for (double p : {0.0, 0.001, 0.1, 0.5, 0.9}) {
    int64_t kept = drop(at::ones({count}, at::kFloat), p).count_nonzero().item<int64_t>();
    double deviation = std::sqrt(double(count) * p * (1 - p));
    EXPECT_NEAR(double(kept), double(count) * (1 - p), 5 * deviation) << p;
  }
  EXPECT_EQ(drop(at::ones({count}, at::kFloat), 1).count_nonzero().item<int64_t>(), 0);
}

TEST(Dropout, SeedStepAndNumberGiveOtherMasks) {
  at::Tensor input = at::ones({64}, at::kFloat), first = drop(input, 0.5);
  EXPECT_TRUE(at::equal(first, drop(input, 0.5)));
  EXPECT_FALSE(at::equal(first, drop(input, 0.5, {}, /*number=*/3)));
  EXPECT_FALSE(at::equal(first, drop(input, 0.5, {}, 2, /*seed=*/8)));
  EXPECT_FALSE(at::equal(first, drop(input, 0.5, {}, 2, 7, /*step=*/2)));
}

/// The call for a microbatch, which draws as many words as each one before.
at::Tensor ofMicrobatch(const char *target, std::vector<std::pair<std::string, at::Tensor>> tensors,
                        std::vector<Argument> arguments, double number, int64_t drawn) {
  tensors.insert(tensors.end(), {{"seed", scalarOf(7)}, {"step", scalarOf(1)}, {"microbatch", scalarOf(number)}});
  arguments.push_back({"drawn", drawn});
  return callNamed(target, tensors, arguments)[0];
}

TEST(Dropout, MicrobatchesHaveTheMaskOfTheBatch) {
  // 35 words each, so that one of them starts within a counter.
  at::Tensor batch = at::randn({15, 7}, at::kDouble), whole = drop(batch, 0.3);
  for (int64_t number = 0; number < 3; ++number) {
    at::Tensor own = batch.narrow(0, 5 * number, 5), expected = whole.narrow(0, 5 * number, 5);
    std::vector<Argument> arguments = placeLiterals(2, {});
    arguments.push_back({"p", 0.3});
    EXPECT_TRUE(at::equal(ofMicrobatch("meshplan.dropout", {{"input", own}}, arguments, number, 35), expected));
    arguments = placeLiterals(2, {{5, 7}, {1, 2}});
    arguments.push_back({"p", 0.3});
    at::Tensor part = own.narrow(0, 1, 2).narrow(1, 2, 4);
    EXPECT_TRUE(at::equal(ofMicrobatch("meshplan.dropout", {{"input", part}}, arguments, number, 35),
                          expected.narrow(0, 1, 2).narrow(1, 2, 4)))
        << "a rank's part";
  }
}

TEST(Uniform, MicrobatchesHaveTheNumbersOfTheBatch) {
  std::vector<Argument> arguments = placeLiterals(2, {});
  arguments.push_back({"size", std::vector<int64_t>{2, 3}});
  arguments.push_back({"dtype", DType::f64});
  EXPECT_TRUE(
      at::equal(ofMicrobatch("meshplan.uniform", {}, arguments, 3, 6), drawAt({8, 3}, DType::f64).narrow(0, 6, 2)));
  EXPECT_THAT(failureOf("meshplan.uniform",
                        {{"seed", scalarOf(0)}, {"step", scalarOf(1)}, {"microbatch", scalarOf(-1)}}, arguments),
              testing::HasSubstr("the microbatch -1 is not a whole number from 0 to 4294967295"));
}

TEST(Dropout, OperatorsOfPyTorchGiveTheSame) {
  at::Tensor input = at::randn({6, 33}, at::kFloat), part = input.narrow(1, 5, 20).contiguous();
  std::vector<int64_t> whole{6, 33}, offset{0, 5};
  RandomStream stream = randomStream({scalarOf(1e15), scalarOf(4000000000), 2});
  at::Tensor ours = at::empty_like(part);
  PartOfWhole place(part.sizes(), whole, offset);
  dropInto(ours, part, place, 0.3, stream);
  EXPECT_TRUE(at::equal(ours, dropByOperators(part, place, 0.3, stream)));
  stream.first = 77;
  dropInto(ours, part, place, 0.3, stream);
  EXPECT_TRUE(at::equal(ours, dropByOperators(part, place, 0.3, stream))) << "of a later microbatch";
}

at::Tensor dropRows(const at::Tensor &rows, const at::Tensor &positions, std::vector<Argument> arguments = {}) {
  arguments.insert(arguments.end(), {{"p", 0.3}, {"number", int64_t(2)}});
  return callNamed("meshplan.dropout_rows",
                   {{"rows", rows}, {"positions", positions}, {"seed", scalarOf(7)}, {"step", scalarOf(1)}},
                   arguments)[0];
}

TEST(DropoutOfRows, ARowHasTheMaskOfItsPosition) {
  // More features than the words that are computed at a time.
  for (int64_t features : {5, 3000}) {
    at::Tensor all = at::randn({7, features}, at::kDouble), whole = drop(all, 0.3);
    at::Tensor positions = at::tensor({6, 0, 3, 3}, at::kLong);
    EXPECT_TRUE(at::equal(dropRows(all.index_select(0, positions), positions), whole.index_select(0, positions)));
    at::Tensor part = all.index_select(0, positions).narrow(1, 2, 3);
    EXPECT_TRUE(at::equal(dropRows(part, positions, {{"features", features}, {"first", int64_t(2)}}),
                          whole.index_select(0, positions).narrow(1, 2, 3)))
        << "a rank's features";
  }
  EXPECT_EQ(dropRows(at::empty({0, 4}), at::empty({0}, at::kLong)).numel(), 0);
}

TEST(DropoutOfRows, WhatCannotBe) {
  using testing::HasSubstr;
  auto failure = [](const at::Tensor &rows, const at::Tensor &positions, std::vector<Argument> arguments) {
    arguments.insert(arguments.end(), {{"p", 0.3}, {"number", int64_t(2)}});
    return failureOf("meshplan.dropout_rows",
                     {{"rows", rows}, {"positions", positions}, {"seed", scalarOf(7)}, {"step", scalarOf(1)}},
                     arguments);
  };
  at::Tensor rows = at::ones({2, 4});
  EXPECT_THAT(failure(rows, at::zeros({3}, at::kLong), {}), HasSubstr("positions Long [3] do not fit rows [2, 4]"));
  EXPECT_THAT(failure(rows, at::zeros({2}), {}), HasSubstr("positions Float [2] do not fit rows [2, 4]"));
  EXPECT_THAT(failure(rows, at::zeros({2}, at::kLong), {{"features", int64_t(6)}, {"first", int64_t(3)}}),
              HasSubstr("4 features from 3 exceed all 6"));
}

TEST(Dropout, WhatCannotBe) {
  at::Tensor input = at::ones({4}, at::kFloat);
  auto failure = [&](double p, double seed, double step, const Place &place = {}) {
    std::vector<Argument> arguments = placeLiterals(2, place);
    arguments.push_back({"p", p});
    return failureOf("meshplan.dropout", {{"input", input}, {"seed", scalarOf(seed)}, {"step", scalarOf(step)}},
                     arguments);
  };
  using testing::HasSubstr;
  EXPECT_THAT(failure(1.5, 0, 1), HasSubstr("a probability of 1.5 is not between 0 and 1"));
  EXPECT_THAT(failure(0.5, 0.5, 1), HasSubstr("the seed 0.5 is not a whole number from 0 to 9007199254740991"));
  EXPECT_THAT(failure(0.5, 0, -1), HasSubstr("the step -1 is not a whole number from 0 to 4294967295"));
  EXPECT_THAT(failure(0.5, 0, 1, {{6}, {3}}), HasSubstr("a part [4] at [3] exceeds the whole tensor [6]"));
}

TEST(Uniform, NumbersAreTheFirstDigitsOfWords) {
  at::Tensor words = wordsOf(24).view({4, 6});
  auto expected = [&](int digits) {
    return words.div(std::ldexp(1.0, 32 - digits)).floor().mul(std::ldexp(1.0, -digits));
  };
  EXPECT_TRUE(at::equal(drawAt({4, 6}, DType::f64), expected(32)));
  EXPECT_TRUE(at::equal(drawAt({4, 6}, DType::f32).to(at::kDouble), expected(24)));
  EXPECT_TRUE(at::equal(drawAt({4, 6}, DType::f16).to(at::kDouble), expected(11)));
  EXPECT_TRUE(at::equal(drawAt({4, 6}, DType::bf16).to(at::kDouble), expected(8)));
  EXPECT_TRUE(at::equal(drawAt({4, 2}, DType::f64, {{4, 6}, {0, 3}}), expected(32).narrow(1, 3, 2)));
}

TEST(Uniform, OnlyFloats) {
  std::vector<Argument> arguments = placeLiterals(2, {});
  arguments.push_back({"size", std::vector<int64_t>{4}});
  arguments.push_back({"dtype", DType::i64});
  EXPECT_THAT(failureOf("meshplan.uniform", {{"seed", scalarOf(0)}, {"step", scalarOf(1)}}, arguments),
              testing::HasSubstr("random numbers of type Long are not supported"));
}

} // namespace
