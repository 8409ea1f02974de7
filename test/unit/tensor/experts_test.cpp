//===- experts_test.cpp - rows of routed tokens, by expert ----------------===//
//
// Compared with loops over pairs of tokens and slots, and with products with one-hot matrices.
//
//===----------------------------------------------------------------------===//

#include "test/unit/tensor/call_helper.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

/// A range of experts, as a rank has it.
struct Experts {
  int64_t first = 0, count = 0;
};

struct Routed {
  at::Tensor table, counts;
};

Routed route(const at::Tensor &indices, Experts experts) {
  std::vector<at::Tensor> made =
      callNamed("meshplan.route", {{"indices", indices}}, {{"first", experts.first}, {"experts", experts.count}}, 2);
  return {made[0], made[1]};
}

/// What `route` promises, pair by pair.
Routed routeByLoops(const at::Tensor &indices, Experts experts) {
  at::Tensor flat = indices.reshape({-1});
  std::vector<int64_t> table, counts(experts.count, 0);
  for (int64_t expert = 0; expert < experts.count; ++expert)
    for (int64_t pair = 0; pair < flat.size(0); ++pair)
      if (flat[pair].item<int64_t>() == experts.first + expert) {
        table.push_back(pair);
        ++counts[expert];
      }
  return {at::tensor(table, at::kLong), at::tensor(counts, at::kLong)};
}

/// The experts of six tokens in three slots, of six experts.
struct Routing {
  const char *name;
  at::Tensor indices;
};

std::vector<Routing> routings() {
  at::manual_seed(3);
  at::Tensor spread = std::get<1>(at::randn({2, 3, 6}).topk(3));
  at::Tensor crowded = at::tensor({4, 1, 5}, at::kLong).expand({2, 3, 3});
  return {{"spread", spread},
          {"all tokens to the same experts", crowded},
          {"all to one expert", at::full({2, 3, 1}, 2, at::kLong)},
          {"one dim of tokens", spread.flatten(0, 1)},
          {"not contiguous", spread.transpose(0, 1)},
          {"one expert in two slots", at::tensor({1, 1, 0, 3, 3, 3}, at::kLong).view({1, 2, 3})},
          {"no tokens", at::zeros({2, 0, 3}, at::kLong)}};
}

/// Ways to split the experts, also with a rank that has none.
std::vector<std::vector<Experts>> expertSplits() {
  return {{{0, 6}}, {{0, 2}, {2, 2}, {4, 2}}, {{0, 1}, {1, 0}, {1, 5}}};
}

int64_t slotsOf(const at::Tensor &indices) { return indices.size(-1); }

/// [tokens.., last]
std::vector<int64_t> sizesWith(const at::Tensor &indices, int64_t last) {
  std::vector<int64_t> sizes = indices.sizes().vec();
  sizes.back() = last;
  return sizes;
}

/// [rows, tokens]: which token each row has.
at::Tensor tokensOfRows(const at::Tensor &table, const at::Tensor &indices, at::ScalarType type = at::kDouble) {
  int64_t tokens = indices.numel() / slotsOf(indices);
  return at::one_hot(table.div(slotsOf(indices), "floor"), std::max<int64_t>(tokens, 1)).narrow(1, 0, tokens).to(type);
}

/// [rows]: the expert of each row.
at::Tensor expertsOfRows(const at::Tensor &counts) { return at::repeat_interleave(counts); }

at::Tensor dispatch(const at::Tensor &self, const at::Tensor &table, int64_t slots) {
  return callNamed("meshplan.dispatch", {{"self", self}, {"table", table}}, {{"slots", slots}})[0];
}

at::Tensor combine(const at::Tensor &rows, const at::Tensor &table, int64_t slots, std::vector<int64_t> size,
                   std::vector<Argument> literals = {}) {
  literals.insert(literals.end(), {{"slots", slots}, {"size", std::move(size)}});
  return callNamed("meshplan.combine", {{"rows", rows}, {"table", table}}, std::move(literals))[0];
}

at::Tensor collect(const at::Tensor &rows, const at::Tensor &table, std::vector<int64_t> size) {
  return callNamed("meshplan.collect_gates", {{"rows", rows}, {"table", table}}, {{"size", std::move(size)}})[0];
}

/// A layer: `first` and `second` are the tensors before the counts.
at::Tensor layerOfExperts(const std::string &target, const NamedTensors &tensors, const at::Tensor &counts,
                          std::optional<bool> transposed = std::nullopt) {
  NamedTensors all = tensors;
  all.emplace_back("counts", counts);
  std::vector<Argument> literals;
  if (transposed)
    literals.push_back({"transposed", *transposed});
  return callNamed(target, all, std::move(literals))[0];
}

at::Tensor linear(const at::Tensor &rows, const at::Tensor &weight, const at::Tensor &counts,
                  std::optional<bool> transposed = std::nullopt, const char *target = "meshplan.grouped_linear") {
  return layerOfExperts(target, {{"rows", rows}, {"weight", weight}}, counts, transposed);
}

at::Tensor weightGradient(const at::Tensor &gradient, const at::Tensor &rows, const at::Tensor &counts,
                          bool transposed = false, const char *target = "meshplan.grouped_linear_weight_gradient") {
  return layerOfExperts(target, {{"gradient", gradient}, {"rows", rows}}, counts, transposed);
}

/// Each row times a copy of the matrix of its expert, in f64.
at::Tensor linearByCopies(const at::Tensor &rows, const at::Tensor &weight, const at::Tensor &counts) {
  at::Tensor copies = weight.to(at::kDouble).index_select(0, expertsOfRows(counts));
  return copies.bmm(rows.to(at::kDouble).unsqueeze(2)).squeeze(2);
}

/// The relative size of a rounding to the dtype.
double roundingOf(at::ScalarType type) {
  return type == at::kDouble ? 1e-15 : type == at::kFloat ? 1e-7 : type == at::kHalf ? 1e-3 : 8e-3;
}

/// Counts with experts without rows at both ends and in the middle.
at::Tensor someCounts() { return at::tensor({0, 3, 1, 0, 5, 0}, at::kLong); }

const at::ScalarType rowTypes[] = {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf};

} // namespace

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

TEST(ExpertsTest, TheTableListsThePairsOfEachExpert) {
  for (const auto &[name, indices] : routings())
    for (const std::vector<Experts> &split : expertSplits())
      for (Experts experts : split) {
        Routed made = route(indices, experts), expected = routeByLoops(indices, experts);
        EXPECT_TRUE(at::equal(made.table, expected.table)) << name << ": " << made.table;
        EXPECT_TRUE(at::equal(made.counts, expected.counts)) << name << ": " << made.counts;
        EXPECT_TRUE(made.counts.is_cpu());
      }
}

/// The example of the header.
TEST(ExpertsTest, ATableOfTwoTokens) {
  at::Tensor indices = at::tensor({2, 0, 1, 2}, at::kLong).view({2, 2});
  Routed last = route(indices, {1, 2}), first = route(indices, {0, 1});
  EXPECT_TRUE(at::equal(last.counts, at::tensor({1, 2}, at::kLong)));
  EXPECT_TRUE(at::equal(last.table, at::tensor({2, 0, 3}, at::kLong)));
  EXPECT_TRUE(at::equal(first.counts, at::tensor({1}, at::kLong)));
  EXPECT_TRUE(at::equal(first.table, at::tensor({1}, at::kLong)));
}

TEST(ExpertsTest, ATableKeepsNoMemoryOfOtherRanks) {
  Routed made = route(std::get<1>(at::randn({50, 6}).topk(2)), {2, 1});
  EXPECT_EQ(made.table.storage().nbytes(), made.table.nbytes());
}

TEST(ExpertsTest, IndicesOfOtherDtypes) {
  at::Tensor indices = routings()[0].indices;
  EXPECT_TRUE(at::equal(route(indices.to(at::kInt), {2, 3}).table, route(indices, {2, 3}).table));
}

TEST(ExpertsTest, WrongIndices) {
  auto failure = [](const at::Tensor &indices) {
    return failureOf("meshplan.route", {{"indices", indices}}, {{"first", int64_t(0)}, {"experts", int64_t(4)}}, 2);
  };
  EXPECT_THAT(failure(at::tensor({1, -3, 0, 2}, at::kLong).view({2, 2})), testing::HasSubstr("index -3 is negative"));
  EXPECT_THAT(failure(at::zeros({4}, at::kLong)),
              testing::HasSubstr("indices must have dims of tokens and one of slots, they have 1 in total"));
  EXPECT_THAT(failure(at::zeros({2, 2})), testing::HasSubstr("indices must be integers, they are Float"));
}

//===----------------------------------------------------------------------===//
// Tokens and gates as rows
//===----------------------------------------------------------------------===//

TEST(ExpertsTest, DispatchedRowsAreTokens) {
  for (const auto &[name, indices] : routings())
    for (at::ScalarType type : rowTypes) {
      Routed routed = route(indices, {1, 4});
      at::Tensor self = at::randn(sizesWith(indices, 5), type);
      at::Tensor expected = tokensOfRows(routed.table, indices).mm(self.flatten(0, -2).to(at::kDouble)).to(type);
      at::Tensor made = dispatch(self, routed.table, slotsOf(indices));
      EXPECT_TRUE(at::equal(made, expected)) << name;
      EXPECT_EQ(made.scalar_type(), type);
    }
}

TEST(ExpertsTest, GatesOfRows) {
  for (const auto &[name, indices] : routings()) {
    Routed routed = route(indices, {1, 4});
    at::Tensor gates = at::rand(indices.sizes());
    at::Tensor made = callNamed("meshplan.dispatch_gates", {{"gates", gates}, {"table", routed.table}})[0];
    ASSERT_EQ(made.sizes(), routed.table.sizes()) << name;
    for (int64_t row = 0; row < made.size(0); ++row) {
      int64_t pair = routed.table[row].item<int64_t>();
      EXPECT_EQ(made[row].item<float>(), gates.reshape({-1})[pair].item<float>()) << name;
    }
  }
}

/// Each rank sums the rows of its experts; the sum over ranks is that of all experts.
TEST(ExpertsTest, CombinedRowsAreSumsOfTokens) {
  for (const auto &[name, indices] : routings())
    for (const std::vector<Experts> &split : expertSplits()) {
      std::vector<int64_t> size = sizesWith(indices, 5);
      at::Tensor self = at::randn(size, at::kDouble), sum = at::zeros(size, at::kDouble);
      for (Experts experts : split) {
        Routed routed = route(indices, experts);
        // Rows that differ between experts, as those of a layer do.
        at::Tensor factor = expertsOfRows(routed.counts) + (experts.first + 1);
        at::Tensor rows = dispatch(self, routed.table, slotsOf(indices)) * factor.unsqueeze(1);
        at::Tensor part = combine(rows, routed.table, slotsOf(indices), size);
        at::Tensor expected = tokensOfRows(routed.table, indices).t().mm(rows).view(size);
        EXPECT_LT(difference(part, expected), 1e-13) << name;
        sum += part;
      }
      at::Tensor whole = self * (indices + 1).sum(-1, /*keepdim=*/true);
      EXPECT_LT(difference(sum, whole), 1e-13) << name;
    }
}

/// In order of slots, in f32, and rounded once; in several blocks of tokens.
TEST(ExpertsTest, SixteenBitRowsAreRoundedOnce) {
  for (at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    at::Tensor indices = std::get<1>(at::randn({3, 40, 6}).topk(4));
    std::vector<int64_t> size = sizesWith(indices, 3000);
    Routed routed = route(indices, {1, 4});
    at::Tensor rows = at::randn({routed.table.size(0), 3000}).to(type);
    at::Tensor sum = at::zeros({120, 3000});
    for (int64_t slot = 0; slot < 4; ++slot)
      for (int64_t row = 0; row < rows.size(0); ++row)
        if (int64_t pair = routed.table[row].item<int64_t>(); pair % 4 == slot)
          sum[pair / 4] += rows[row].to(at::kFloat);
    EXPECT_TRUE(at::equal(combine(rows, routed.table, 4, size), sum.to(type).view(size)));
    at::Tensor wide = combine(rows, routed.table, 4, size, {{"dtype", DType::f32}});
    EXPECT_TRUE(at::equal(wide, sum.view(size)));
  }
}

/// Rows that are not finite do not reach other tokens.
TEST(ExpertsTest, TokensWithoutRowsAreZero) {
  at::Tensor rows = at::full({1, 2}, std::numeric_limits<double>::infinity()), table = at::tensor({3}, at::kLong);
  at::Tensor made = combine(rows, table, 2, {3, 2});
  EXPECT_EQ(made[0].abs().max().item<double>(), 0);
  EXPECT_TRUE(made[1].isinf().all().item<bool>());
  EXPECT_EQ(made[2].abs().max().item<double>(), 0);
}

TEST(ExpertsTest, CollectedGatesAreThoseDispatched) {
  const std::vector<Experts> split = expertSplits()[1];
  for (const auto &[name, indices] : routings())
    for (at::ScalarType type : rowTypes) {
      at::Tensor gates = at::rand(indices.sizes(), type), sum = at::zeros(indices.sizes(), type);
      for (Experts experts : split) {
        Routed routed = route(indices, experts);
        at::Tensor rows = callNamed("meshplan.dispatch_gates", {{"gates", gates}, {"table", routed.table}})[0];
        at::Tensor part = collect(rows, routed.table, indices.sizes().vec());
        at::Tensor isHere = indices.ge(experts.first).logical_and(indices.lt(experts.first + experts.count));
        EXPECT_TRUE(at::equal(part, gates.masked_fill(isHere.logical_not(), 0))) << name;
        sum += part;
      }
      EXPECT_TRUE(at::equal(sum, gates)) << name;
    }
}

TEST(ExpertsTest, TablesThatDoNotFit) {
  at::Tensor rows = at::zeros({3, 2}), table = at::zeros({2}, at::kLong);
  EXPECT_THAT(failureOf("meshplan.combine", {{"rows", rows}, {"table", table}},
                        {{"slots", int64_t(2)}, {"size", std::vector<int64_t>{4, 2}}}),
              testing::HasSubstr("table [2] does not fit 3 rows"));
  EXPECT_THAT(failureOf("meshplan.combine", {{"rows", rows}, {"table", table}},
                        {{"slots", int64_t(2)}, {"size", std::vector<int64_t>{4, 5}}}),
              testing::HasSubstr("rows [3, 2] do not fit tokens [4, 5]"));
  EXPECT_THAT(failureOf("meshplan.combine", {{"rows", rows.flatten()}, {"table", table}},
                        {{"slots", int64_t(2)}, {"size", std::vector<int64_t>{4, 5}}}),
              testing::HasSubstr("rows must have 2 dims, they have 1"));
  EXPECT_THAT(failureOf("meshplan.dispatch", {{"self", rows}, {"table", table}}, {{"slots", int64_t(0)}}),
              testing::HasSubstr("a token must have slots, it has 0"));
  EXPECT_THAT(failureOf("meshplan.dispatch", {{"self", rows.flatten()}, {"table", table}}, {{"slots", int64_t(1)}}),
              testing::HasSubstr("self must have dims of tokens and one of features, it has 1 in total"));
  EXPECT_THAT(
      failureOf("meshplan.collect_gates", {{"rows", rows}, {"table", table}}, {{"size", std::vector<int64_t>{4, 5}}}),
      testing::HasSubstr("rows must have 1 dim, they have 2"));
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

TEST(ExpertsTest, EachRowIsMultipliedWithTheMatrixOfItsExpert) {
  at::Tensor counts = someCounts();
  for (at::ScalarType type : rowTypes) {
    at::Tensor rows = at::randn({9, 7}).to(type), weight = at::randn({6, 5, 7}).to(type);
    at::Tensor expected = linearByCopies(rows, weight, counts), made = linear(rows, weight, counts);
    EXPECT_EQ(made.scalar_type(), type);
    double bound = 32 * roundingOf(type);
    EXPECT_LT(difference(made, expected), bound) << type;
    EXPECT_LT(difference(linear(rows, weight.transpose(1, 2).contiguous(), counts, true), expected), bound) << type;
    EXPECT_LT(difference(linear(rows, weight.transpose(1, 2), counts, true), expected), bound) << "another stride";
    at::Tensor half = at::cat({rows, rows}, 1).narrow(1, 7, 7);
    EXPECT_LT(difference(linear(half, weight, counts, false), expected), bound) << "a part of the columns";
  }
}

TEST(ExpertsTest, ProductsOfSixteenBitsAreNotRounded) {
  at::Tensor counts = someCounts();
  for (at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    at::Tensor rows = at::randn({9, 7}).to(type), weight = at::randn({6, 5, 7}).to(type);
    at::Tensor gradient = at::randn({9, 5}).to(type);
    at::Tensor made = linear(rows, weight, counts, false, "meshplan.grouped_linear_f32");
    EXPECT_EQ(made.scalar_type(), at::kFloat);
    EXPECT_LT(difference(made, linearByCopies(rows, weight, counts)), 1e-5);
    at::Tensor turned = weight.transpose(1, 2).contiguous();
    EXPECT_LT(difference(made, linear(rows, turned, counts, true, "meshplan.grouped_linear_f32")), 1e-5);
    for (bool transposed : {false, true}) {
      at::Tensor sums =
          weightGradient(gradient, rows, counts, transposed, "meshplan.grouped_linear_weight_gradient_f32");
      EXPECT_EQ(sums.scalar_type(), at::kFloat);
      EXPECT_LT(difference(sums, weightGradient(gradient.to(at::kDouble), rows.to(at::kDouble), counts, transposed)),
                1e-5);
    }
  }
}

TEST(ExpertsTest, EachRowGetsTheBiasOfItsExpert) {
  at::Tensor counts = someCounts();
  for (at::ScalarType type : rowTypes) {
    at::Tensor rows = at::randn({9, 5}).to(type), bias = at::randn({6, 5}).to(type);
    at::Tensor made = layerOfExperts("meshplan.grouped_bias", {{"rows", rows}, {"bias", bias}}, counts);
    EXPECT_TRUE(at::equal(made, rows + bias.index_select(0, expertsOfRows(counts)))) << type;
  }
}

/// Compared with autograd of copies of the matrices; an expert without rows has zeros.
TEST(ExpertsTest, GradientsOfParameters) {
  at::Tensor counts = someCounts();
  at::Tensor rows = at::randn({9, 7}, at::kDouble), gradient = at::randn({9, 5}, at::kDouble);
  at::Tensor weight = at::randn({6, 5, 7}, at::kDouble).requires_grad_();
  at::Tensor bias = at::randn({6, 5}, at::kDouble).requires_grad_();
  at::Tensor result = linearByCopies(rows, weight, counts) + bias.index_select(0, expertsOfRows(counts));
  result.backward(gradient);
  for (at::ScalarType type : rowTypes) {
    at::Tensor g = gradient.to(type), x = rows.to(type);
    double bound = 64 * roundingOf(type);
    at::Tensor made = weightGradient(g, x, counts);
    EXPECT_EQ(made.scalar_type(), type);
    EXPECT_LT(difference(made, weight.grad()), bound) << type;
    EXPECT_LT(difference(weightGradient(g, x, counts, true), weight.grad().transpose(1, 2)), bound) << type;
    at::Tensor ofBias = layerOfExperts("meshplan.grouped_bias_gradient", {{"gradient", g}}, counts);
    EXPECT_LT(difference(ofBias, bias.grad()), bound) << type;
    for (int64_t expert : {0, 3, 5}) {
      EXPECT_EQ(made[expert].abs().max().item<double>(), 0);
      EXPECT_EQ(ofBias[expert].abs().max().item<double>(), 0);
    }
  }
}

/// 256 + 1 is 256 in bf16.
TEST(ExpertsTest, ABiasSumsManyRows) {
  at::Tensor made = layerOfExperts("meshplan.grouped_bias_gradient", {{"gradient", at::ones({1024, 3}, at::kBFloat16)}},
                                   at::tensor({1000, 24}, at::kLong));
  EXPECT_TRUE(at::equal(made[0], at::full({3}, 1000, at::kBFloat16)));
  EXPECT_TRUE(at::equal(made[1], at::full({3}, 24, at::kBFloat16)));
}

TEST(ExpertsTest, ARankWithoutRowsOrExperts) {
  at::Tensor none = at::zeros({2}, at::kLong), nothing = at::zeros({0}, at::kLong);
  EXPECT_EQ(linear(at::zeros({0, 3}), at::zeros({2, 4, 3}), none).sizes(), (at::IntArrayRef{0, 4}));
  EXPECT_EQ(linear(at::zeros({0, 3}), at::zeros({0, 4, 3}), nothing).sizes(), (at::IntArrayRef{0, 4}));
  EXPECT_TRUE(at::equal(weightGradient(at::zeros({0, 4}), at::zeros({0, 3}), none), at::zeros({2, 4, 3})));
  EXPECT_TRUE(at::equal(layerOfExperts("meshplan.grouped_bias_gradient", {{"gradient", at::zeros({0, 4})}}, none),
                        at::zeros({2, 4})));
  EXPECT_EQ(
      layerOfExperts("meshplan.grouped_bias", {{"rows", at::zeros({0, 4})}, {"bias", at::zeros({2, 4})}}, none).sizes(),
      (at::IntArrayRef{0, 4}));
  EXPECT_EQ(dispatch(at::zeros({2, 3}), nothing, 2).sizes(), (at::IntArrayRef{0, 3}));
  EXPECT_TRUE(at::equal(combine(at::zeros({0, 3}), nothing, 2, {2, 3}), at::zeros({2, 3})));
  EXPECT_TRUE(at::equal(collect(at::zeros({0}), nothing, {2, 3}), at::zeros({2, 3})));
}

TEST(ExpertsTest, CountsThatDoNotFit) {
  auto failure = [](const at::Tensor &counts, const at::Tensor &weight = at::zeros({2, 3, 4})) {
    return failureOf("meshplan.grouped_linear", {{"rows", at::zeros({5, 4})}, {"weight", weight}, {"counts", counts}});
  };
  EXPECT_THAT(failure(at::tensor({2, 2}, at::kLong)), testing::HasSubstr("counts are 4 rows in total, there are 5"));
  EXPECT_THAT(failure(at::tensor({2, 4}, at::kLong)), testing::HasSubstr("expert 1 has 4 rows, but 3 are left of 5"));
  EXPECT_THAT(failure(at::tensor({-1, 6}, at::kLong)), testing::HasSubstr("expert 0 has -1 rows, but 5 are left of 5"));
  EXPECT_THAT(failure(at::tensor({2, 3}, at::kInt)),
              testing::HasSubstr("counts must be one list of i64 in host memory, they are Int [2] on cpu"));
  EXPECT_THAT(failure(at::tensor({2, 3}, at::kLong), at::zeros({2, 4, 3})),
              testing::HasSubstr("rows [5, 4], weight [2, 4, 3] and counts [2] do not match"));
  EXPECT_THAT(failure(at::tensor({2, 3, 0}, at::kLong)), testing::HasSubstr("counts [3] do not match"));
  EXPECT_THAT(failureOf("meshplan.grouped_linear_f32", {{"rows", at::zeros({5, 4})},
                                                        {"weight", at::zeros({2, 3, 4})},
                                                        {"counts", at::tensor({2, 3}, at::kLong)}}),
              testing::HasSubstr("both operands must have one 16-bit type, they have Float and Float"));
  EXPECT_THAT(
      failureOf("meshplan.grouped_bias",
                {{"rows", at::zeros({5, 4})}, {"bias", at::zeros({2, 3})}, {"counts", at::tensor({2, 3}, at::kLong)}}),
      testing::HasSubstr("rows [5, 4], bias [2, 3] and counts [2] do not match"));
  EXPECT_THAT(failureOf("meshplan.grouped_linear_weight_gradient", {{"gradient", at::zeros({5, 4})},
                                                                    {"rows", at::zeros({4, 3})},
                                                                    {"counts", at::tensor({2, 3}, at::kLong)}}),
              testing::HasSubstr("gradient [5, 4], rows [4, 3] and counts [2] do not match"));
  EXPECT_THAT(failureOf("meshplan.grouped_bias_gradient",
                        {{"gradient", at::zeros({5})}, {"counts", at::tensor({2, 3}, at::kLong)}}),
              testing::HasSubstr("gradient must have 2 dims, it has 1"));
}

TEST(ExpertsTest, TokensOfExpertsAreACopyOfTheCounts) {
  at::Tensor counts = at::tensor({3, 0, 5}, at::kLong);
  at::Tensor made = callNamed("meshplan.expert_tokens", {{"counts", counts}, {"table", at::zeros({8}, at::kLong)}})[0];
  EXPECT_TRUE(at::equal(made, counts));
  EXPECT_FALSE(made.is_alias_of(counts));
}

TEST(ExpertsTest, AnExpertTakesTheFirstPairsOfEachSample) {
  at::manual_seed(5);
  auto drop = [](const at::Tensor &indices, int64_t most) {
    return callNamed("meshplan.drop_choices", {{"indices", indices}}, {{"experts", 4}, {"most", most}})[0];
  };
  at::Tensor spread = std::get<1>(at::randn({3, 7, 4}).topk(2));
  for (const at::Tensor &indices : {spread, spread.transpose(0, 1), at::full({2, 5, 1}, 3, at::kLong),
                                    at::zeros({2, 0, 2}, at::kLong), at::zeros({0, 3, 2}, at::kLong)})
    for (int64_t most : {0, 1, 3, 100}) {
      at::Tensor expected = indices.clone();
      for (int64_t sample = 0; sample < indices.size(0); ++sample) {
        std::vector<int64_t> taken(4, 0);
        for (int64_t position = 0; position < indices.size(1); ++position)
          for (int64_t slot = 0; slot < indices.size(2); ++slot)
            if (taken[indices[sample][position][slot].item<int64_t>()]++ >= most)
              expected[sample][position][slot] = 4;
      }
      EXPECT_TRUE(at::equal(drop(indices, most), expected)) << indices.sizes() << " at most " << most;
    }
}

TEST(ExpertsTest, PairsThatAreDroppedGetNoRow) {
  Routed routed = route(at::tensor({0, 2, 2, 1}, at::kLong).view({1, 2, 2}), {0, 2});
  EXPECT_TRUE(at::equal(routed.counts, at::tensor({1, 1}, at::kLong)));
  EXPECT_TRUE(at::equal(routed.table, at::tensor({0, 3}, at::kLong)));
}

TEST(ExpertsTest, ABiasMovesTowardsTheMean) {
  at::Tensor bias = at::tensor({0.5, 0.5, 0.5, 0.5}), tokens = at::tensor({1, 4, 3, 6}, at::kLong);
  auto balanced = [&](const at::Tensor &nonfinite) {
    return callNamed("meshplan.balanced_bias", {{"bias", bias}, {"tokens", tokens}, {"nonfinite", nonfinite}},
                     {{"rate", 0.25}})[0];
  };
  // The mean is 3.5.
  at::Tensor moved = at::tensor({0.75, 0.25, 0.75, 0.25});
  EXPECT_TRUE(at::equal(balanced({}), moved));
  EXPECT_TRUE(at::equal(balanced(at::scalar_tensor(0, at::kLong)), moved));
  EXPECT_TRUE(at::equal(balanced(at::scalar_tensor(2, at::kLong)), bias)) << "a step that is skipped";
  tokens = at::tensor({2, 2, 2, 2}, at::kLong);
  EXPECT_TRUE(at::equal(balanced({}), bias));
}
