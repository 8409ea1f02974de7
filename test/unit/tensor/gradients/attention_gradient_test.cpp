#include "runtime/schema/extent.h"
#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/memory.h"
#include "test/unit/tensor/attention_case.h"
#include "test/unit/tensor/call_helper.h"

#include <gmock/gmock.h>
#include <torch/csrc/autograd/autograd.h>

using namespace meshplan;
using testing::HasSubstr;

namespace {

using Case = AttentionCase;
using Inputs = AttentionInputs;

/// Gradients of query, key and value, and of an added mask.
struct Gradients {
  at::Tensor query, key, value, mask;
};

/// The values rounded to the type, in f64.
Inputs rounded(Inputs inputs, const Case &c, at::ScalarType type) {
  auto round = [&](at::Tensor &tensor) { tensor = tensor.to(type).to(at::kDouble); };
  round(inputs.query), round(inputs.key), round(inputs.value);
  if (c.floatMask)
    round(inputs.mask);
  return inputs;
}

/// Computed by autograd on the definition.
Gradients expectedGradients(const Case &c, Inputs inputs, const at::Tensor &gradient) {
  std::vector<at::Tensor> leaves;
  auto record = [&](at::Tensor &tensor) { leaves.push_back(tensor = tensor.detach().clone().requires_grad_(true)); };
  record(inputs.query), record(inputs.key), record(inputs.value);
  if (c.floatMask)
    record(inputs.mask);
  auto found = torch::autograd::grad({attentionByDefinition(c, inputs).out}, leaves, {gradient});
  return {found[0], found[1], found[2], c.floatMask ? found[3] : at::Tensor()};
}

std::vector<Argument> literals(const Case &c) {
  return {{"scale", attentionScale}, {"causal", c.causal},   {"window", c.window},
          {"softcap", c.softcap},    {"dropout", c.dropout}, {"number", attentionNumber}};
}

NamedTensors operands(const Case &c, const Inputs &inputs, at::ScalarType type) {
  return {{"query", inputs.query.to(type)},
          {"key", inputs.key.to(type)},
          {"value", inputs.value.to(type)},
          {"mask", c.floatMask ? inputs.mask.to(type) : inputs.mask},
          {"key_mask", inputs.keyMask},
          {"seed", inputs.seed},
          {"step", inputs.step}};
}

NamedTensors withGradient(NamedTensors named, const at::Tensor &gradient) {
  named.push_back({"gradient", gradient});
  return named;
}

Gradients callGradient(const Case &c, const NamedTensors &named, std::vector<Argument> more = {}) {
  std::vector<Argument> arguments = literals(c);
  arguments.insert(arguments.end(), more.begin(), more.end());
  auto found = callNamed("meshplan.attention_backward", named, arguments, 3);
  at::Tensor mask = c.floatMask ? callNamed("meshplan.attention_mask_gradient", named, arguments)[0] : at::Tensor();
  return {found[0], found[1], found[2], mask};
}

Gradients gradientsOfKernels(const Case &c, const Inputs &inputs, const at::Tensor &gradient, at::ScalarType type) {
  return callGradient(c, withGradient(operands(c, inputs, type), gradient.to(type)));
}

at::Tensor gradientFor(const Case &c) {
  at::manual_seed(2);
  return at::randn({c.batch, c.heads, c.queries, c.valueDim}, at::kDouble);
}

void expectNear(const Gradients &found, const Gradients &expected, double tolerance) {
  EXPECT_LT(difference(found.query, expected.query), tolerance);
  EXPECT_LT(difference(found.key, expected.key), tolerance);
  EXPECT_LT(difference(found.value, expected.value), tolerance);
  if (expected.mask.defined()) {
    EXPECT_LT(difference(found.mask, expected.mask), tolerance);
  }
}

/// Bounds for the effect of rounding, element by element, when everything is computed in f32 on 16-bit operands.
struct RoundingBounds {
  RoundingBounds(const Gradients &expected, double unit) {
    // Every gradient is rounded once. 1e-4 is for f32: 2^-24 for each of at most 200 addends of magnitude below
    // 10.
    auto roundedOnce = [&](const at::Tensor &exact) { return exact.abs() * unit + 1e-4; };
    bounds = {roundedOnce(expected.query), roundedOnce(expected.key), roundedOnce(expected.value), at::Tensor()};
    if (expected.mask.defined())
      bounds.mask = roundedOnce(expected.mask);
  }

  void expectWithin(const Gradients &found, const Gradients &expected) const {
    auto within = [](const at::Tensor &a, const at::Tensor &b, const at::Tensor &bound) {
      return (a.to(at::kDouble) - b).abs().le(bound).all().item<bool>();
    };
    EXPECT_TRUE(within(found.query, expected.query, bounds.query));
    EXPECT_TRUE(within(found.key, expected.key, bounds.key));
    EXPECT_TRUE(within(found.value, expected.value, bounds.value));
    if (bounds.mask.defined()) {
      EXPECT_TRUE(within(found.mask, expected.mask, bounds.mask));
    }
  }

  Gradients bounds;
};

/// Two blocks of queries.
Case inTwoBlocks(Case c) {
  c = inBlocks(c);
  c.queries = c.keys = 600;
  return c;
}

class AttentionGradientTest : public testing::TestWithParam<Case> {};

} // namespace

TEST_P(AttentionGradientTest, AgreesWithAutograd) {
  const Case &c = GetParam();
  Inputs inputs = makeInputs(c);
  at::Tensor gradient = gradientFor(c);
  Gradients expected = expectedGradients(c, inputs, gradient);
  // 2^-53 and 2^-24 for each of some hundred additions of values below 10.
  for (auto [type, tolerance] : {std::pair(at::kDouble, 1e-12), std::pair(at::kFloat, 1e-4)}) {
    Gradients found = gradientsOfKernels(c, inputs, gradient, type);
    EXPECT_EQ(found.key.scalar_type(), type);
    expectNear(found, expected, tolerance);
  }
}

TEST_P(AttentionGradientTest, HalfTypesAreComputedInFloat) {
  const Case &c = GetParam();
  for (auto [type, unit] : {std::pair(at::kBFloat16, 0x1p-8), std::pair(at::kHalf, 0x1p-11)}) {
    Inputs inputs = rounded(makeInputs(c), c, type);
    at::Tensor gradient = gradientFor(c).to(type).to(at::kDouble);
    Gradients expected = expectedGradients(c, inputs, gradient);
    Gradients found = gradientsOfKernels(c, inputs, gradient, type);
    EXPECT_EQ(found.query.scalar_type(), type);
    EXPECT_EQ(found.value.scalar_type(), type);
    RoundingBounds(expected, unit).expectWithin(found, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, AttentionGradientTest,
    testing::Values(Case{.name = "plain"}, Case{.name = "causal", .causal = true},
                    Case{.name = "grouped", .heads = 6, .keyHeads = 2, .causal = true},
                    Case{.name = "groupedMasked", .heads = 6, .keyHeads = 2, .keyMask = true},
                    Case{.name = "oneKeyHead", .heads = 3, .keyHeads = 1},
                    Case{.name = "moreKeys", .queries = 5, .keys = 12, .causal = true},
                    Case{.name = "moreQueries", .queries = 12, .keys = 5, .causal = true},
                    Case{.name = "window", .causal = true, .window = 3}, Case{.name = "windowBothSides", .window = 3},
                    Case{.name = "rowsWithoutKeys", .queries = 14, .keys = 4, .causal = true, .window = 2},
                    Case{.name = "keyMask", .causal = true, .keyMask = true},
                    Case{.name = "boolMaskOfHeads", .causal = true, .maskShape = {1, 4, 9, 9}},
                    Case{.name = "boolMaskOfKeys", .maskShape = {2, 1, 1, 9}},
                    Case{.name = "floatMask", .maskShape = {2, 4, 9, 9}, .floatMask = true},
                    Case{.name = "floatMaskOfHeads", .causal = true, .maskShape = {1, 4, 9, 9}, .floatMask = true},
                    Case{.name = "floatMaskOfQueries", .maskShape = {2, 1, 9, 1}, .floatMask = true},
                    Case{.name = "oneNumberForAMask", .causal = true, .maskShape = {1, 1, 1, 1}, .floatMask = true},
                    Case{.name = "allMasks", .causal = true, .window = 4, .maskShape = {2, 1, 9, 9}, .keyMask = true},
                    Case{.name = "otherValueDim", .valueDim = 5, .causal = true},
                    Case{.name = "otherValueDimGrouped",
                         .heads = 6,
                         .keyHeads = 3,
                         .valueDim = 12,
                         .window = 2,
                         .maskShape = {2, 6, 9, 9},
                         .floatMask = true,
                         .keyMask = true},
                    Case{.name = "softcap", .causal = true, .softcap = 0.5},
                    Case{.name = "softcapWithBias",
                         .heads = 6,
                         .keyHeads = 2,
                         .causal = true,
                         .window = 4,
                         .maskShape = {1, 6, 1, 9},
                         .floatMask = true,
                         .softcap = 1.5},
                    inTwoBlocks({.name = "blocks", .keyMask = true}),
                    inTwoBlocks({.name = "softcapInBlocks", .softcap = 0.7}),
                    inTwoBlocks({.name = "maskInBlocks", .maskShape = {1, 2, 600, 600}, .floatMask = true}),
                    inTwoBlocks({.name = "maskOfKeysInBlocks", .maskShape = {1, 1, 1, 600}, .floatMask = true}),
                    Case{.name = "dropout", .causal = true, .dropout = 0.4},
                    Case{.name = "dropoutGrouped",
                         .heads = 6,
                         .keyHeads = 2,
                         .valueDim = 5,
                         .maskShape = {2, 1, 9, 9},
                         .floatMask = true,
                         .keyMask = true,
                         .softcap = 1.5,
                         .dropout = 0.1},
                    Case{.name = "everythingDropped", .dropout = 1},
                    inTwoBlocks({.name = "dropoutInBlocks", .keyMask = true, .dropout = 0.3}),
                    Case{.name = "noQueries", .queries = 0, .causal = true},
                    Case{.name = "noKeys", .keys = 0, .maskShape = {1, 1, 9, 1}, .floatMask = true},
                    Case{.name = "noBatch", .batch = 0, .keyMask = true}),
    [](const auto &info) { return info.param.name; });

TEST(AttentionGradientTest, RowsOfOneLargeNumberAreEven) {
  for (double large : {-1e4, -1e9, double(std::numeric_limits<float>::lowest())})
    for (int64_t valueDim : {8, 5}) {
      Case c{.name = "", .valueDim = valueDim, .floatMask = true};
      Inputs inputs = makeInputs(c);
      inputs.mask = at::zeros({1, 1, 9, 9}, at::kDouble);
      inputs.mask.select(2, 4).fill_(large);
      at::Tensor gradient = gradientFor(c);
      std::vector<at::Tensor> leaves = {inputs.query, inputs.key, inputs.value};
      for (at::Tensor &leaf : leaves)
        leaf = leaf.clone().requires_grad_(true);
      at::Tensor scores = at::matmul(leaves[0], leaves[1].transpose(2, 3)) * attentionScale + inputs.mask;
      auto expected = torch::autograd::grad({at::matmul(scores.softmax(3), leaves[2])}, leaves, {gradient});
      // Scores of that row have an error of 2^-53 of the large value, and probabilities that relative error, until
      // scores vanish beside it. 2^5 is for the sums.
      double digits = large < -1e30 ? 0 : -large * 0x1p-48;
      Gradients found = gradientsOfKernels(c, inputs, gradient, at::kDouble);
      expectNear({found.query, found.key, found.value, {}}, {expected[0], expected[1], expected[2], {}},
                 std::max(1e-12, digits));
    }
}

/// If the probabilities of a row do not sum to 1, the value gradient is too large.
TEST(AttentionGradientTest, WeightsOfARowAddUpToOneInFloat) {
  for (float large : {-1e4f, -1e9f, std::numeric_limits<float>::lowest()}) {
    Case c{.name = "", .floatMask = true};
    Inputs inputs = makeInputs(c);
    inputs.mask = at::full({1, 1, 1, 1}, large, at::kDouble);
    Gradients found = gradientsOfKernels(c, inputs, at::ones({2, 4, 9, 8}, at::kDouble), at::kFloat);
    // Each of 9 rows distributes a gradient of 1 over the keys. 81 probabilities are rounded to 2^-24.
    EXPECT_LT(difference(found.value.sum(2), at::full({2, 4, 8}, 9.0)), 1e-5) << large;
  }
}

/// The probability of a single key is 1, whatever its score.
TEST(AttentionGradientTest, OneKeyPassesNothingToItsScore) {
  Case padded{.name = "", .keyMask = true};
  for (const Case &c : {Case{.name = "", .keys = 1, .maskShape = {1, 4, 9, 1}, .floatMask = true},
                        Case{.name = "", .keys = 1, .maskShape = {1, 1, 9, 1}, .floatMask = true, .softcap = 30},
                        Case{.name = "", .causal = true, .window = 1}, padded,
                        Case{.name = "", .heads = 6, .keyHeads = 2, .queries = 1, .keys = 5, .causal = true}}) {
    Inputs inputs = makeInputs(c);
    if (c.keyMask) {
      inputs.keyMask = at::zeros({2, 9}, at::kBool);
      inputs.keyMask.select(1, 4).fill_(true);
    }
    for (double size : {1.0, 30.0})
      for (at::ScalarType type : {at::kFloat, at::kBFloat16}) {
        inputs.query = inputs.query.mul(size);
        Gradients found = gradientsOfKernels(c, inputs, gradientFor(c), type);
        EXPECT_EQ(found.query.abs().max().item<double>(), 0) << size;
        EXPECT_EQ(found.key.abs().max().item<double>(), 0) << size;
        if (c.floatMask) {
          EXPECT_EQ(found.mask.abs().max().item<double>(), 0) << size;
        }
      }
  }
}

/// By autograd on single operators, as a model writes them, in the type of the operands.
Gradients gradientsOfPyTorch(const Case &c, const Inputs &inputs, const at::Tensor &gradient, at::ScalarType type) {
  std::vector<at::Tensor> leaves = {inputs.query.to(type), inputs.key.to(type), inputs.value.to(type)};
  for (at::Tensor &leaf : leaves)
    leaf = leaf.detach().clone().requires_grad_(true);
  at::Tensor scores = at::matmul(leaves[0], leaves[1].transpose(2, 3)) * attentionScale;
  scores = scores.masked_fill(visible(c, inputs).logical_not(), -std::numeric_limits<double>::infinity());
  auto found = torch::autograd::grad({at::matmul(scores.softmax(3), leaves[2])}, leaves, {gradient.to(type)});
  return {found[0], found[1], found[2], {}};
}

/// If one score dominates, or others are hidden, the gradient of the scores is a small difference of large values.
TEST(AttentionGradientTest, IsAsExactAsPyTorchWhereOneScoreDominates) {
  for (const Case &c : {Case{.name = "plain"}, Case{.name = "causal", .causal = true},
                        Case{.name = "padded", .maskShape = {2, 1, 9, 9}}, inTwoBlocks({.name = "blocks"})})
    for (double size : {1.0, 10.0, 100.0, 1e3, 1e4}) {
      Inputs inputs = rounded(makeInputs(c), c, at::kFloat);
      if (inputs.mask.defined()) {
        inputs.mask.select(3, 2).fill_(true);                     // each row has a key
        inputs.mask.narrow(2, 3, 2).narrow(3, 3, 6).fill_(false); // two rows have few keys left
      }
      // Quarters, whose products are exact: the remaining errors are those of the softmax. The score of key 2 is about
      // `size` in the first row of its head, and has that magnitude in others.
      for (at::Tensor *tensor : {&inputs.query, &inputs.key})
        *tensor = tensor->mul(4).round_().div_(4);
      at::Tensor first = inputs.query.narrow(2, 0, 1).narrow(1, 0, c.keyHeads);
      at::Tensor factor = (size / attentionScale / first.square().sum(3, true)).ceil();
      inputs.key.narrow(2, 2, 1).copy_(first * factor);
      at::Tensor gradient = gradientFor(c).to(at::kFloat).to(at::kDouble);
      Gradients exact = gradientsOfPyTorch(c, inputs, gradient, at::kDouble);
      Gradients theirs = gradientsOfPyTorch(c, inputs, gradient, at::kFloat);
      Gradients ours = gradientsOfKernels(c, inputs, gradient, at::kFloat);
      // Both round the same values, in another order: one of two similar errors may be a few times the other, and sums
      // of some hundred values may differ by some units in the last place of the largest.
      auto expectLike = [&](const at::Tensor &found, const at::Tensor &other, const at::Tensor &truth) {
        double largest = truth.abs().max().item<double>();
        EXPECT_LE(difference(found, truth), 4 * difference(other, truth) + largest * 0x1p-21) << c.name << " " << size;
      };
      expectLike(ours.query, theirs.query, exact.query);
      expectLike(ours.key, theirs.key, exact.key);
      expectLike(ours.value, theirs.value, exact.value);
    }
}

/// Each rank has some of the query heads, and the key heads that they read: neighbours may share a key head.
TEST(AttentionGradientTest, HeadsSplitToRanksAddUp) {
  for (auto [heads, keyHeads] : {std::pair<int64_t, int64_t>(6, 2), {6, 3}, {9, 3}, {4, 4}, {5, 1}}) {
    Case c{.name = "",
           .heads = heads,
           .keyHeads = keyHeads,
           .causal = true,
           .maskShape = {1, heads, 9, 9},
           .floatMask = true,
           .dropout = 0.4};
    Inputs inputs = makeInputs(c);
    at::Tensor gradient = gradientFor(c);
    Gradients expected = expectedGradients(c, inputs, gradient);
    for (int64_t ranks = 1; ranks <= heads; ++ranks)
      for (bool perHead : {false, true}) {
        Gradients sum{at::zeros_like(expected.query), at::zeros_like(expected.key), at::zeros_like(expected.value),
                      at::zeros_like(expected.mask)};
        for (int64_t rank = 0; rank < ranks; ++rank) {
          Range own = shardRange(heads, 1, ranks, rank), read = shardRange(keyHeads, 1, ranks, rank, heads / keyHeads);
          auto mine = [&](const at::Tensor &tensor) { return tensor.narrow(1, own.offset, own.size); };
          auto shared = [&](const at::Tensor &tensor) { return tensor.narrow(1, read.offset, read.size); };
          Inputs part{mine(inputs.query), shared(inputs.key), shared(inputs.value), mine(inputs.mask), {},
                      inputs.seed,        inputs.step};
          NamedTensors named = withGradient(operands(c, part, at::kDouble), mine(gradient));
          std::vector<Argument> dealt = {{"heads_per_key", heads / keyHeads},
                                         {"first_head", own.offset},
                                         {"first_key_head", read.offset},
                                         {"all_heads", heads}};
          mine(sum.mask) += callGradient(c, named, dealt).mask;
          dealt.push_back({"per_head", perHead});
          std::vector<Argument> arguments = literals(c);
          arguments.insert(arguments.end(), dealt.begin(), dealt.end());
          auto found = callNamed("meshplan.attention_backward", named, arguments, 3);
          mine(sum.query) += found[0];
          if (perHead) {
            EXPECT_EQ(found[1].size(1), own.size);
            std::vector<Argument> groups = {
                {"groups", keyHeads}, {"heads_per_group", heads / keyHeads}, {"first_head", own.offset}};
            sum.key += callNamed("meshplan.sum_shared_heads", {{"input", found[1]}}, groups)[0];
            sum.value += callNamed("meshplan.sum_shared_heads", {{"input", found[2]}}, groups)[0];
          } else {
            shared(sum.key) += found[1];
            shared(sum.value) += found[2];
          }
        }
        expectNear(sum, expected, 1e-12);
      }
  }
}

TEST(AttentionGradientTest, PerHeadWithoutDealing) {
  Case c{.name = "", .heads = 6, .keyHeads = 2, .causal = true};
  Inputs inputs = makeInputs(c);
  at::Tensor gradient = gradientFor(c);
  Gradients expected = expectedGradients(c, inputs, gradient);
  Gradients found = callGradient(c, withGradient(operands(c, inputs, at::kDouble), gradient), {{"per_head", true}});
  EXPECT_EQ(found.key.sizes(), (at::IntArrayRef{2, 6, 9, 8}));
  auto sums = [](const at::Tensor &tensor) { return tensor.unflatten(1, {2, 3}).sum(2); };
  expectNear({found.query, sums(found.key), sums(found.value), {}}, expected, 1e-12);
}

TEST(AttentionGradientTest, StridedOperandsInAComputeScope) {
  ComputeScope scope(2);
  Case c{.name = "", .causal = true};
  Inputs inputs = makeInputs(c);
  at::Tensor gradient = gradientFor(c);
  auto plain = gradientsOfKernels(c, inputs, gradient, at::kDouble);
  auto turned = [](const at::Tensor &tensor) { return tensor.transpose(2, 3).contiguous().transpose(2, 3); };
  auto byRows = [](const at::Tensor &tensor) { return tensor.transpose(1, 2).contiguous().transpose(1, 2); };
  Inputs strided{byRows(inputs.query), turned(inputs.key), inputs.value, {}, {}, {}, {}};
  expectNear(gradientsOfKernels(c, strided, byRows(gradient), at::kDouble), plain, 1e-13);
  at::Tensor one = at::ones({}, at::kDouble).expand_as(gradient);
  expectNear(gradientsOfKernels(c, inputs, one, at::kDouble),
             gradientsOfKernels(c, inputs, one.contiguous(), at::kDouble), 1e-13);
}

TEST(AttentionGradientTest, ScoresOfAllRowsNeverExistAtOnce) {
  installPoolAllocator();
  for (double softcap : {0.0, 1.0}) {
    Case c{.name = "",
           .batch = 1,
           .heads = 1,
           .keyHeads = 1,
           .queries = 2048,
           .keys = 2048,
           .causal = true,
           .window = 128,
           .maskShape = {1, 1, 1, 2048},
           .floatMask = true,
           .softcap = softcap};
    Inputs inputs = makeInputs(c);
    NamedTensors named = operands(c, inputs, at::kFloat);
    at::Tensor gradient = gradientFor(c).to(at::kFloat);
    auto pool = std::make_shared<MemoryPool>();
    PoolScope scope(pool);
    callGradient(c, withGradient(named, gradient));
    // A block of 204 rows and 331 keys needs 0.3 MB for each of some tensors of scores. All rows would need 16 MB; sums
    // and results have 0.8 MB.
    EXPECT_LT(pool->peak(), 3 << 20);
    EXPECT_EQ(pool->current(), 0);
  }
}

TEST(AttentionGradientTest, Refusals) {
  at::Tensor x = at::zeros({1, 4, 3, 2}), rows = at::zeros({1, 4, 3});
  NamedTensors named = {{"gradient", x}, {"query", x}, {"key", x}, {"value", x}};
  auto with = [&](size_t index, const at::Tensor &other) {
    NamedTensors changed = named;
    changed[index].second = other;
    return failureOf("meshplan.attention_backward", changed, {{"scale", 1.0}}, 3);
  };
  EXPECT_EQ(with(0, x), "");
  EXPECT_THAT(with(0, x.narrow(2, 0, 2)),
              HasSubstr("gradient [1, 4, 2, 2] does not fit query [1, 4, 3, 2] and value [1, 4, 3, 2]"));
  EXPECT_THAT(with(2, rows), HasSubstr("must have 4 dims"));
  EXPECT_THAT(with(2, x.narrow(1, 0, 3)), HasSubstr("do not match"));
  EXPECT_THAT(failureOf("meshplan.attention_backward", named, {{"scale", 1.0}, {"dropout", 0.5}}, 3),
              HasSubstr("attention with dropout needs a seed and a step"));
  auto ofMask = [&](const at::Tensor &mask) {
    NamedTensors changed = named;
    changed.push_back({"mask", mask});
    return failureOf("meshplan.attention_mask_gradient", changed, {{"scale", 1.0}});
  };
  EXPECT_THAT(ofMask({}), HasSubstr("there is no mask of a floating type"));
  EXPECT_THAT(ofMask(at::ones({1, 1, 3, 3}, at::kBool)), HasSubstr("there is no mask of a floating type"));
  EXPECT_THAT(ofMask(at::ones({1, 1, 2, 3})), HasSubstr("mask [1, 1, 2, 3] does not fit query"));
}
