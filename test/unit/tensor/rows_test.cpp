#include "runtime/tensor/torch/kernels/rows.h"
#include "test/unit/tensor/call_helper.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

/// Cross entropy from columns that are sharded over `shards` ranks.
struct ShardedLoss {
  int64_t shards;

  at::Tensor operator()(const at::Tensor &logits, const at::Tensor &target, int64_t ignoreIndex) const {
    auto pieces = logits.tensor_split(shards, 1);
    at::Tensor max, sumExp, picked;
    for (const at::Tensor &piece : pieces) {
      at::Tensor part = callOperator("meshplan.row_max", {piece}, {value("input", 0)})[0];
      max = max.defined() ? at::maximum(max, part) : part;
    }
    int64_t offset = 0;
    for (const at::Tensor &piece : pieces) {
      at::Tensor sum = callOperator("meshplan.row_sum_exp", {piece, max}, {value("input", 0), value("max", 1)})[0];
      at::Tensor pick = callOperator("meshplan.row_pick", {piece, target},
                                     {value("input", 0), value("target", 1), {"offset", offset}})[0];
      sumExp = sumExp.defined() ? sumExp + sum : sum;
      picked = picked.defined() ? picked + pick : pick;
      offset += piece.size(1);
    }
    return callOperator("meshplan.token_loss", {max, sumExp, picked, target},
                        {value("max", 0),
                         value("sum_exp", 1),
                         value("picked", 2),
                         value("target", 3),
                         {"ignore_index", ignoreIndex}})[0];
  }
};

at::Tensor lossPerToken(const at::Tensor &logits, const at::Tensor &target, int64_t ignoreIndex) {
  return at::cross_entropy_loss(logits.to(at::kDouble), target, {}, at::Reduction::None, ignoreIndex);
}

/// The same with class weights and label smoothing.
struct SmoothedLoss {
  int64_t shards;
  double smoothing = 0;
  std::optional<at::Tensor> weight;

  at::Tensor operator()(const at::Tensor &logits, const at::Tensor &target, int64_t ignoreIndex) const {
    at::Tensor max = rowMax(logits), sumExp = rowSumExp(logits, max), picked = rowPick(logits, target, 0), rowSum;
    auto weights = weight ? weight->tensor_split(shards) : std::vector<at::Tensor>();
    auto pieces = logits.tensor_split(shards, 1);
    for (size_t index = 0; index < pieces.size(); ++index) {
      std::vector<at::Tensor> values{pieces[index], max, sumExp};
      std::vector<Argument> arguments{value("input", 0), value("max", 1), value("sum_exp", 2)};
      if (weight) {
        values.push_back(weights[index]);
        arguments.push_back(value("weight", 3));
      }
      at::Tensor sum = callOperator("meshplan.row_sum_log_softmax", values, arguments)[0];
      rowSum = rowSum.defined() ? rowSum + sum : sum;
    }
    std::optional<at::Tensor> targetWeight;
    if (weight)
      targetWeight = callOperator("meshplan.class_weight", {*weight, target},
                                  {value("weight", 0), value("target", 1), {"ignore_index", ignoreIndex}})[0];
    return tokenLoss({max, sumExp, picked, target, ignoreIndex, logits.size(1), targetWeight, rowSum, smoothing});
  }

  at::Tensor expected(const at::Tensor &logits, const at::Tensor &target, int64_t ignoreIndex) const {
    std::optional<at::Tensor> wide = weight ? std::optional(weight->to(at::kDouble)) : std::nullopt;
    return at::cross_entropy_loss(logits.to(at::kDouble), target, wide, at::Reduction::None, ignoreIndex, smoothing);
  }
};

} // namespace

TEST(RowsTest, ShardedCrossEntropy) {
  at::Tensor logits = at::randn({9, 17}, at::kDouble) * 30, target = at::randint(17, {9}, at::kLong);
  target[3] = -100;
  for (int64_t shards : {1, 2, 5, 17, 20})
    EXPECT_LT(difference(ShardedLoss{shards}(logits, target, -100), lossPerToken(logits, target, -100)), 1e-13)
        << shards << " shards";
}

TEST(RowsTest, SmoothedLabelsAndWeights) {
  at::Tensor logits = at::randn({9, 17}, at::kDouble) * 30 + 1e4, target = at::randint(17, {9}, at::kLong);
  target[3] = -100;
  at::Tensor weight = at::rand({17}, at::kDouble);
  for (int64_t shards : {1, 2, 5, 17, 20})
    for (double smoothing : {0.0, 0.1, 1.0})
      for (const std::optional<at::Tensor> &weights : {std::optional<at::Tensor>(), std::optional(weight)}) {
        SmoothedLoss loss{shards, smoothing, weights};
        EXPECT_LT(difference(loss(logits, target, -100), loss.expected(logits, target, -100)), 1e-12)
            << shards << " shards, smoothing " << smoothing << (weights ? ", weights" : "");
      }
}

TEST(RowsTest, SmoothedLabelsInBlocksOfHalfTypes) {
  for (at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    at::Tensor logits = at::randn({50, 4000}).to(type), target = at::randint(4000, {50}, at::kLong);
    SmoothedLoss loss{2, 0.1, at::rand({4000}).to(type)};
    at::Tensor found = loss(logits, target, 7);
    EXPECT_EQ(found.scalar_type(), type);
    // One rounding, of the loss: half a unit in the last of 8 bits.
    EXPECT_LT(difference(found, loss.expected(logits, target, 7)), 0.06);
  }
}

TEST(RowsTest, SmoothedInfiniteLogitsAreAsInPyTorch) {
  const double infinity = std::numeric_limits<double>::infinity();
  at::Tensor logits = at::randn({3, 6}, at::kDouble), target = at::tensor({0, 1, 2}, at::kLong);
  logits[0][3] = -infinity;
  logits[1].fill_(-infinity);
  logits[2][4] = infinity;
  for (const std::optional<at::Tensor> &weight :
       {std::optional<at::Tensor>(), std::optional(at::ones({6}, at::kDouble))}) {
    SmoothedLoss loss{3, 0.1, weight};
    EXPECT_TRUE(at::allclose(loss(logits, target, -100), loss.expected(logits, target, -100), 1e-13, 1e-13,
                             /*equal_nan=*/true));
  }
}

TEST(RowsTest, ClassWeightsOfTargets) {
  at::Tensor weight = at::tensor({0.5, 2.0, 4.0}), target = at::tensor({2, -100, 0, 2}, at::kLong);
  auto weigh = [&](const at::Tensor &targets, int64_t ignored) {
    return callOperator("meshplan.class_weight", {weight, targets},
                        {value("weight", 0), value("target", 1), {"ignore_index", ignored}})[0];
  };
  EXPECT_TRUE(at::equal(weigh(target, -100), at::tensor({4.0, 0.0, 0.5, 4.0})));
  EXPECT_TRUE(at::equal(weigh(at::tensor({7, 1}, at::kLong), 7), at::tensor({0.0, 2.0}))) << "ignored and no class";
  EXPECT_EQ(weigh(target.narrow(0, 0, 0), -100).numel(), 0);
  EXPECT_THROW(classWeight(weight, target, 0), c10::IndexError);
  EXPECT_THROW(classWeight(weight.unsqueeze(1), target, -100), c10::Error);
}

TEST(RowsTest, SmoothedLabelsNeedTheNumberOfClasses) {
  at::Tensor row = at::ones({2}), target = at::zeros({2}, at::kLong);
  EXPECT_THROW(tokenLoss({row, row, row, target, -100, -1, {}, row, 0.1}), c10::Error);
  EXPECT_TRUE(at::allclose(tokenLoss({row, row, row, target, -100, 4, {}, row, 0.5}), at::full({2}, -0.125)));
}

TEST(RowsTest, LogarithmsOfProbabilitiesNeedNoSum) {
  at::Tensor picked = at::randn({5}, at::kDouble),
             target = at::tensor({int64_t(0), int64_t(-100), int64_t(3), int64_t(1), int64_t(1)});
  picked[1] = std::numeric_limits<double>::quiet_NaN();
  picked[4] = -std::numeric_limits<double>::infinity();
  for (int64_t ignored : {-100, 1}) {
    at::Tensor loss = callOperator("meshplan.token_loss", {picked, target},
                                   {value("picked", 0), value("target", 1), {"ignore_index", ignored}})[0];
    EXPECT_TRUE(at::allclose(loss, picked.neg().masked_fill(target.eq(ignored), 0), 0, 0, /*equal_nan=*/true));
  }
  EXPECT_THROW(tokenLoss({{}, {}, picked, target, -100, 3}), c10::IndexError);
  EXPECT_EQ(tokenLoss({{}, {}, picked.to(at::kBFloat16), target, -100, 4}).scalar_type(), at::kBFloat16);
}

/// A loss near zero is as exact as log(1 + x) in float32, however large the logits are.
TEST(RowsTest, SmallLossesOfLargeLogitsAreExact) {
  at::Tensor logits = at::rand({6, 12}, at::kFloat) * 4 + 70;
  at::Tensor target = at::arange(6);
  logits.diagonal().fill_(81.3F);
  at::Tensor loss = ShardedLoss{3}(logits, target, -100), expected = lossPerToken(logits, target, -100);
  EXPECT_LT(expected.max().item<double>(), 0.02);
  EXPECT_LT((loss.to(at::kDouble) - expected).abs().max().item<double>(), 3 * std::numeric_limits<float>::epsilon());
}

TEST(RowsTest, ATargetThatIsNoClassIsAnError) {
  at::Tensor row = at::ones({2}), ignored = at::tensor({int64_t(1), int64_t(-100)});
  auto loss = [&](const at::Tensor &target) { return tokenLoss({row, row, row, target, -100, 4}); };
  EXPECT_NO_THROW(loss(ignored));
  EXPECT_THROW(loss(at::tensor({int64_t(1), int64_t(4)})), c10::IndexError);
  EXPECT_THROW(loss(at::tensor({int64_t(-1), int64_t(0)})), c10::IndexError);
}

TEST(RowsTest, ManyBlocksOfRows) {
  at::Tensor logits = at::randn({50, 30000}), target = at::randint(30000, {50}, at::kLong);
  EXPECT_LT(difference(ShardedLoss{2}(logits, target, 0), lossPerToken(logits, target, 0)), 1e-5);
}

TEST(RowsTest, HalfTypesAccumulateInFloat) {
  for (at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    at::Tensor logits = at::randn({6, 40000}).to(type), target = at::randint(40000, {6}, at::kLong);
    for (int64_t shards : {1, 20}) {
      at::Tensor loss = ShardedLoss{shards}(logits, target, -100);
      EXPECT_EQ(loss.scalar_type(), type);
      // One rounding, of the loss: half a unit in the last of 8 bits of a number below 16.
      EXPECT_LE(difference(loss, lossPerToken(logits, target, -100)), std::exp2(-5) + 1e-3) << shards << " shards";
    }
  }
}

TEST(RowsTest, ShiftedInput) {
  at::Tensor input = at::full({2, 3}, 1000.0), max = at::full({2}, 1000.0);
  EXPECT_TRUE(at::equal(callOperator("meshplan.row_sum_exp", {input, max}, {value("input", 0), value("max", 1)})[0],
                        at::full({2}, 3.0)));
}

TEST(RowsTest, NoColumnsAndNoRows) {
  at::Tensor empty = at::zeros({2, 0});
  EXPECT_TRUE(at::isneginf(callOperator("meshplan.row_max", {empty}, {value("input", 0)})[0]).all().item<bool>());
  at::Tensor rows = at::zeros({0, 5});
  EXPECT_EQ(callOperator("meshplan.row_max", {rows}, {value("input", 0)})[0].sizes(), (std::vector<int64_t>{0}));
  EXPECT_EQ(
      callOperator("meshplan.row_sum_exp", {rows, at::zeros({0})}, {value("input", 0), value("max", 1)})[0].numel(), 0);
}

TEST(RowsTest, CountTokens) {
  at::Tensor target = at::tensor({1, -100, 3, -100, 5});
  at::Tensor count = callOperator("meshplan.count_tokens", {target},
                                  {value("target", 0), {"ignore_index", int64_t(-100)}, {"dtype", DType::f32}})[0];
  EXPECT_TRUE(at::equal(count, at::scalar_tensor(3.0, at::kFloat)));
}

TEST(RowsTest, InputMustBeAMatrix) {
  auto call = prepareCall("meshplan.row_max", std::vector<Argument>{value("input", 0)}, {0});
  std::vector<Tensor> values = {wrap(at::zeros({3}))};
  EXPECT_THAT((*call)->run(values).message(), testing::HasSubstr("input must have 2 dims, it has 1"));
}

TEST(RowsTest, InfiniteLogitsAreAsInPyTorch) {
  const double infinity = std::numeric_limits<double>::infinity();
  at::Tensor logits = at::randn({5, 6}, at::kDouble), target = at::tensor({0, 1, 2, 3, 4}, at::kLong);
  logits[0][3] = -infinity;
  logits[1][1] = -infinity; // the target itself
  logits[2].fill_(-infinity).select(0, 2).fill_(4);
  logits[3][3] = std::numeric_limits<double>::quiet_NaN();
  logits[4][0] = -infinity;
  at::Tensor expected = lossPerToken(logits, target, -100);
  for (int64_t shards : {1, 3, 6})
    EXPECT_TRUE(at::allclose(ShardedLoss{shards}(logits, target, -100), expected, 1e-13, 1e-13, /*equal_nan=*/true))
        << shards << " shards";
}

TEST(RowsTest, PickTakesOnlyWhatLiesHere) {
  at::Tensor input = at::arange(12, at::kDouble).view({4, 3}), target = at::tensor({4, 5, 6, 7}, at::kLong);
  auto pick = [&](int64_t offset) {
    return callOperator("meshplan.row_pick", {input, target},
                        {value("input", 0), value("target", 1), {"offset", offset}})[0];
  };
  EXPECT_TRUE(at::equal(pick(4), at::tensor({0.0, 4.0, 8.0, 0.0}, at::kDouble)));
  EXPECT_TRUE(at::equal(pick(7), at::tensor({0.0, 0.0, 0.0, 9.0}, at::kDouble)));
  EXPECT_TRUE(at::equal(pick(100), at::zeros({4}, at::kDouble)));
}

TEST(RowsTest, AnIgnoredTargetCostsNothingWhateverItsRow) {
  at::Tensor row = at::full({2}, std::numeric_limits<double>::quiet_NaN(), at::kDouble);
  EXPECT_TRUE(at::equal(tokenLoss({row, row, row, at::full({2}, -1, at::kLong), -1, 4}), at::zeros({2}, at::kDouble)));
  EXPECT_TRUE(at::equal(tokenLoss({row, row, row, at::full({2}, 7, at::kLong), 7, 4}), at::zeros({2}, at::kDouble)))
      << "also outside of the classes";
}

TEST(RowsTest, TargetsOutOfRangeAreNamed) {
  at::Tensor row = at::ones({2});
  auto message = [&](std::vector<int64_t> target) {
    try {
      tokenLoss({row, row, row, at::tensor(target, at::kLong), -100, 4});
    } catch (const c10::IndexError &error) {
      return std::string(error.what_without_backtrace());
    }
    return std::string();
  };
  EXPECT_EQ(message({3, 0}), "");
  EXPECT_EQ(message({4, 0}), "target 4 is out of range [0, 4)");
  EXPECT_EQ(message({9, -1}), "target -1 is out of range [0, 4)");
}

TEST(RowsTest, CountsInAnyElementType) {
  at::Tensor target = at::tensor({1, 2, 2, 7}, at::kLong);
  for (auto [dtype, type] : {std::pair(DType::bf16, at::kBFloat16), std::pair(DType::i64, at::kLong)}) {
    at::Tensor count = callOperator("meshplan.count_tokens", {target},
                                    {value("target", 0), {"ignore_index", int64_t(2)}, {"dtype", dtype}})[0];
    EXPECT_TRUE(at::equal(count, at::scalar_tensor(2, type)));
  }
  at::Tensor none = callOperator("meshplan.count_tokens", {target.narrow(0, 0, 0)},
                                 {value("target", 0), {"ignore_index", int64_t(2)}, {"dtype", DType::f32}})[0];
  EXPECT_EQ(none.item<float>(), 0);
}
