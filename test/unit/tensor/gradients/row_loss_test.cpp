#include "runtime/tensor/memory.h"
#include "runtime/tensor/torch/kernels/rows.h"
#include "test/unit/tensor/call_helper.h"

#include <gmock/gmock.h>
#include <torch/csrc/autograd/autograd.h>

using namespace meshplan;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// A loss per row, with its columns sharded over `shards` ranks.
struct Loss {
  int64_t shards = 1, ignoreIndex = -100;
  double smoothing = 0;
  std::optional<at::Tensor> classWeight;

  /// Values that the forward pass saved, of whole rows.
  NamedTensors rowValues(const at::Tensor &logits, const at::Tensor &target) const {
    at::Tensor max = rowMax(logits);
    NamedTensors values = {{"max", max}, {"sum_exp", rowSumExp(logits, max)}};
    if (classWeight)
      values.push_back({"weight", meshplan::classWeight(*classWeight, target, ignoreIndex)});
    if (classWeight && smoothing != 0)
      values.push_back({"class_weight", *classWeight});
    return values;
  }

  /// Concatenated from the columns of all ranks.
  at::Tensor gradient(const at::Tensor &gradient, const at::Tensor &input, const at::Tensor &target,
                      const NamedTensors &rowValues) const {
    std::vector<at::Tensor> found;
    int64_t offset = 0;
    for (const at::Tensor &piece : input.tensor_split(shards, 1)) {
      NamedTensors named = {{"gradient", gradient}, {"input", piece}, {"target", target}};
      named.insert(named.end(), rowValues.begin(), rowValues.end());
      found.push_back(callNamed("meshplan.row_loss_gradient", named,
                                {{"ignore_index", ignoreIndex},
                                 {"classes", input.size(1)},
                                 {"label_smoothing", smoothing},
                                 {"offset", offset}})[0]);
      offset += piece.size(1);
    }
    return at::cat(found, 1);
  }

  at::Tensor gradient(const at::Tensor &gradient, const at::Tensor &logits, const at::Tensor &target) const {
    return this->gradient(gradient, logits, target, rowValues(logits, target));
  }

  /// Computed by autograd in f64.
  at::Tensor expected(const at::Tensor &gradient, const at::Tensor &logits, const at::Tensor &target) const {
    at::Tensor leaf = logits.to(at::kDouble).detach().clone().requires_grad_(true);
    std::optional<at::Tensor> weight = classWeight ? std::optional(classWeight->to(at::kDouble)) : std::nullopt;
    at::Tensor loss = at::cross_entropy_loss(leaf, target, weight, at::Reduction::None, ignoreIndex, smoothing);
    return torch::autograd::grad({loss}, {leaf}, {gradient.to(at::kDouble)})[0];
  }
};

/// Logits, targets of which two are ignored, and a gradient of their losses.
struct Rows {
  explicit Rows(int64_t rows, int64_t classes, int64_t ignoreIndex = -100) {
    at::manual_seed(3);
    logits = at::randn({rows, classes}, at::kDouble) * 5;
    target = at::randint(classes, {rows}, at::kLong);
    gradient = at::randn({rows}, at::kDouble);
    target[1] = ignoreIndex;
    target[rows - 1] = ignoreIndex;
  }
  at::Tensor logits, target, gradient;
};

} // namespace

TEST(RowLossTest, EveryFormDividedInEveryWay) {
  Rows rows(9, 17);
  at::Tensor weight = at::rand({17}, at::kDouble);
  for (int64_t shards : {1, 2, 5, 17, 20})
    for (double smoothing : {0.0, 0.1, 1.0})
      for (const std::optional<at::Tensor> &weights : {std::optional<at::Tensor>(), std::optional(weight)}) {
        Loss loss{shards, -100, smoothing, weights};
        // About ten roundings of values below 4.
        EXPECT_LT(difference(loss.gradient(rows.gradient, rows.logits, rows.target),
                             loss.expected(rows.gradient, rows.logits, rows.target)),
                  1e-14)
            << shards << " shards, smoothing " << smoothing << (weights ? ", weights" : "");
      }
}

TEST(RowLossTest, AClassMayBeTheIgnoredOne) {
  Rows rows(40, 5, 3);
  Loss loss{2, 3};
  EXPECT_LT(difference(loss.gradient(rows.gradient, rows.logits, rows.target),
                       loss.expected(rows.gradient, rows.logits, rows.target)),
            1e-14);
}

TEST(RowLossTest, IgnoredRowsAreZeroWhateverTheyHold) {
  Rows rows(6, 7);
  at::Tensor expected = Loss{}.expected(rows.gradient, rows.logits, rows.target);
  rows.gradient[1] = infinite;
  rows.gradient[5] = std::numeric_limits<double>::quiet_NaN();
  rows.logits[1].fill_(-infinite);
  rows.logits[5].fill_(infinite);
  for (int64_t shards : {1, 3}) {
    at::Tensor found = Loss{shards}.gradient(rows.gradient, rows.logits, rows.target);
    EXPECT_LT(difference(found, expected), 1e-14);
    EXPECT_TRUE(at::equal(found[1], at::zeros({7}, at::kDouble)));
  }
}

TEST(RowLossTest, HiddenClassesAreAsInPyTorch) {
  Rows rows(6, 7);
  rows.logits[0][3] = -infinite;
  rows.logits[2].fill_(-infinite).select(0, 2).fill_(4);
  rows.target[0] = 1;
  rows.target[2] = 5; // the ignored class itself
  Loss loss{3};
  EXPECT_LT(difference(loss.gradient(rows.gradient, rows.logits, rows.target),
                       loss.expected(rows.gradient, rows.logits, rows.target)),
            1e-14);
}

/// On log-probabilities, of which the loss selects one per row: nll_loss.
TEST(RowLossTest, LogarithmsOfProbabilities) {
  Rows rows(9, 17);
  at::Tensor classWeight = at::rand({17}, at::kDouble);
  for (bool weighted : {false, true})
    for (int64_t shards : {1, 4, 20}) {
      at::Tensor leaf = rows.logits.log_softmax(1).detach().requires_grad_(true);
      std::optional<at::Tensor> weights = weighted ? std::optional(classWeight) : std::nullopt;
      at::Tensor loss = at::nll_loss(leaf, rows.target, weights, at::Reduction::None, -100);
      at::Tensor expected = torch::autograd::grad({loss}, {leaf}, {rows.gradient})[0];
      NamedTensors values;
      if (weighted)
        values = {{"weight", meshplan::classWeight(classWeight, rows.target, -100)}};
      at::Tensor found = Loss{shards}.gradient(rows.gradient, leaf.detach(), rows.target, values);
      EXPECT_TRUE(at::equal(found, expected)) << "one product each";
    }
}

/// The label-smoothed loss of log-probabilities, by its definition.
TEST(RowLossTest, SmoothedLogarithmsOfProbabilities) {
  Rows rows(9, 17);
  at::Tensor weight = at::rand({17}, at::kDouble), leaf = rows.logits.log_softmax(1).detach().requires_grad_(true);
  at::Tensor known = rows.target.clamp_min(0), ignored = rows.target.eq(-100);
  at::Tensor targetWeight = weight.index_select(0, known).masked_fill(ignored, 0);
  at::Tensor picked = leaf.gather(1, known.unsqueeze(1)).squeeze(1);
  at::Tensor loss = (picked * targetWeight * -0.75 - (leaf * weight).sum(1) * (0.25 / 17)).masked_fill(ignored, 0);
  at::Tensor expected = torch::autograd::grad({loss}, {leaf}, {rows.gradient})[0];
  at::Tensor found = Loss{3, -100, 0.25}.gradient(rows.gradient, leaf.detach(), rows.target,
                                                  {{"weight", targetWeight}, {"class_weight", weight}});
  EXPECT_LT(difference(found, expected), 1e-14);
}

TEST(RowLossTest, ManyBlocksOfRowsInAnyType) {
  for (auto [type, unit] :
       {std::pair(at::kFloat, 0.0), std::pair(at::kBFloat16, 0x1p-8), std::pair(at::kHalf, 0x1p-11)})
    for (double smoothing : {0.0, 0.1}) {
      Rows rows(50, 4000);
      at::Tensor logits = rows.logits.to(type), gradient = rows.gradient.to(type);
      Loss loss{2, -100, smoothing, at::rand({4000}).to(type)};
      at::Tensor found = loss.gradient(gradient, logits, rows.target);
      EXPECT_EQ(found.scalar_type(), type);
      at::Tensor expected = loss.expected(gradient, logits, rows.target);
      // The weights already have the type, and are exact. The result is rounded once; f16 values near zero are 2^-24
      // apart. In f32 about ten roundings of values below 4, and sums of 4,000 positive ones.
      at::Tensor bound = expected.abs() * (unit + 1e-5) + (unit == 0x1p-11 ? 0x1p-25 : 0) + 2e-6;
      EXPECT_TRUE((found.to(at::kDouble) - expected).abs().le(bound).all().item<bool>())
          << at::toString(type) << ", smoothing " << smoothing;
    }
}

TEST(RowLossTest, TheResultIsTheOnlyTensorOfItsSize) {
  installPoolAllocator();
  for (at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    Rows rows(200, 4000);
    at::Tensor logits = rows.logits.to(type), gradient = rows.gradient.to(type);
    Loss loss{1, -100, 0.1, at::rand({4000}).to(type)};
    NamedTensors values = loss.rowValues(logits, rows.target);
    auto pool = std::make_shared<MemoryPool>();
    PoolScope scope(pool);
    at::Tensor found = loss.gradient(gradient, logits, rows.target, values);
    // The test concatenates a single piece: twice the result, but not three times.
    EXPECT_LT(pool->peak(), static_cast<int64_t>(found.nbytes()) * 5 / 2) << at::toString(type);
  }
}

TEST(RowLossTest, NoRowsAndNoColumns) {
  Loss loss{4};
  at::Tensor none = at::zeros({0}, at::kDouble);
  EXPECT_EQ(loss.gradient(none, at::zeros({0, 3}, at::kDouble), none.to(at::kLong)).sizes(), (at::IntArrayRef{0, 3}));
  Rows rows(4, 2);
  EXPECT_EQ(loss.gradient(rows.gradient, rows.logits, rows.target).sizes(), (at::IntArrayRef{4, 2}));
}

TEST(RowLossTest, Refusals) {
  at::Tensor input = at::zeros({2, 3}), row = at::ones({2}), target = at::tensor({int64_t(0), int64_t(-100)});
  auto failure = [&](const at::Tensor &logits, const at::Tensor &targets, int64_t classes, int64_t offset,
                     const at::Tensor &sumExp) {
    NamedTensors named = {{"gradient", row}, {"input", logits}, {"target", targets}, {"max", row}, {"sum_exp", sumExp}};
    return failureOf("meshplan.row_loss_gradient", named,
                     {{"ignore_index", int64_t(-100)}, {"classes", classes}, {"offset", offset}});
  };
  EXPECT_EQ(failure(input, target, 4, 1, row), "");
  EXPECT_EQ(failure(row, target, 4, 0, row), "input must have 2 dims, it has 1");
  EXPECT_EQ(failure(input, target, 4, 0, {}), "max and sum_exp must be given both or not at all");
  EXPECT_EQ(failure(input, target, 4, 2, row), "columns 2 to 5 are not all of the 4 classes");
  EXPECT_EQ(failure(input, target + 4, 4, 0, row), "target -96 is out of range [0, 4)");
  EXPECT_EQ(failure(input, at::tensor({int64_t(4), int64_t(0)}), 4, 0, row), "target 4 is out of range [0, 4)");
}
