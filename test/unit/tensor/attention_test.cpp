#include "runtime/schema/extent.h"
#include "test/unit/tensor/attention_case.h"
#include "test/unit/tensor/call_helper.h"

#include <cmath>
#include <gmock/gmock.h>

using namespace meshplan;

namespace {

using Case = AttentionCase;
using Inputs = AttentionInputs;

constexpr double scale = attentionScale;

std::vector<at::Tensor> callAttention(const Case &c, const Inputs &inputs, at::ScalarType type) {
  std::vector<at::Tensor> tensors = {inputs.query.to(type), inputs.key.to(type), inputs.value.to(type)};
  std::vector<Argument> arguments = {value("query", 0),     value("key", 1),      value("value", 2),
                                     {"scale", scale},      {"causal", c.causal}, {"window", c.window},
                                     {"softcap", c.softcap}};
  if (inputs.mask.defined()) {
    arguments.push_back(value("mask", static_cast<int>(tensors.size())));
    tensors.push_back(c.floatMask ? inputs.mask.to(type) : inputs.mask);
  }
  if (inputs.keyMask.defined()) {
    arguments.push_back(value("key_mask", static_cast<int>(tensors.size())));
    tensors.push_back(inputs.keyMask);
  }
  if (c.dropout != 0) {
    int next = static_cast<int>(tensors.size());
    arguments.insert(
        arguments.end(),
        {{"dropout", c.dropout}, {"number", attentionNumber}, value("seed", next), value("step", next + 1)});
    tensors.insert(tensors.end(), {inputs.seed, inputs.step});
  }
  return callOperator("meshplan.attention", tensors, arguments, 2);
}

class AttentionTest : public testing::TestWithParam<Case> {};

} // namespace

TEST_P(AttentionTest, AgreesWithTheDefinition) {
  const Case &c = GetParam();
  Inputs inputs = makeInputs(c);
  auto [out, logsumexp, weights] = attentionByDefinition(c, inputs);
  for (auto [type, tolerance] : {std::pair(at::kDouble, 1e-12), std::pair(at::kFloat, 2e-5),
                                 std::pair(at::kBFloat16, 0.06), std::pair(at::kHalf, 0.01)}) {
    auto results = callAttention(c, inputs, type);
    EXPECT_EQ(results[0].scalar_type(), type);
    EXPECT_EQ(results[1].scalar_type(), type == at::kDouble ? at::kDouble : at::kFloat);
    EXPECT_LT(difference(results[0], out), tolerance) << at::toString(type);
    EXPECT_LT(difference(results[1], logsumexp), tolerance) << at::toString(type);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, AttentionTest,
    testing::Values(
        Case{.name = "plain"}, Case{.name = "causal", .causal = true},
        Case{.name = "grouped", .heads = 6, .keyHeads = 2, .causal = true},
        Case{.name = "groupedMasked", .heads = 6, .keyHeads = 2, .keyMask = true},
        Case{.name = "oneKeyHead", .heads = 3, .keyHeads = 1, .causal = true},
        Case{.name = "moreKeys", .queries = 5, .keys = 12, .causal = true},
        Case{.name = "moreQueries", .queries = 12, .keys = 5, .causal = true},
        Case{.name = "window", .causal = true, .window = 3}, Case{.name = "windowBothSides", .window = 3},
        Case{.name = "windowBeyondKeys", .queries = 14, .keys = 4, .causal = true, .window = 2},
        Case{.name = "keyMask", .causal = true, .keyMask = true}, Case{.name = "boolMask", .maskShape = {2, 4, 9, 9}},
        Case{.name = "boolMaskOfHeads", .causal = true, .maskShape = {1, 4, 9, 9}},
        Case{.name = "boolMaskOfKeys", .maskShape = {2, 1, 1, 9}},
        Case{.name = "floatMask", .maskShape = {1, 4, 9, 9}, .floatMask = true},
        Case{.name = "floatMaskOfQueries", .maskShape = {2, 1, 9, 1}, .floatMask = true},
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
        inBlocks({.name = "blocks", .keyMask = true}), Case{.name = "softcap", .causal = true, .softcap = 0.5},
        Case{.name = "softcapWithBias",
             .heads = 6,
             .keyHeads = 2,
             .causal = true,
             .window = 4,
             .maskShape = {1, 6, 1, 9},
             .floatMask = true,
             .softcap = 1.5},
        Case{.name = "biasOfKeys", .causal = true, .maskShape = {2, 4, 1, 9}, .floatMask = true},
        inBlocks({.name = "softcapInBlocks", .softcap = 0.7}), Case{.name = "noQueries", .queries = 0, .causal = true},
        Case{.name = "dropout", .causal = true, .dropout = 0.4},
        Case{.name = "dropoutGrouped",
             .heads = 6,
             .keyHeads = 2,
             .valueDim = 5,
             .maskShape = {2, 6, 9, 9},
             .floatMask = true,
             .dropout = 0.1},
        Case{.name = "everythingDropped", .dropout = 1}, inBlocks({.name = "dropoutInBlocks", .dropout = 0.3}),
        Case{.name = "noKeys", .keys = 0}, Case{.name = "noBatch", .batch = 0, .keyMask = true}),
    [](const auto &info) { return info.param.name; });

TEST(AttentionTest, RowsWithoutKeysAreAsInPyTorch) {
  Case c{.name = ""};
  Inputs inputs = makeInputs(c);
  inputs.mask = at::ones({1, 1, 9, 9}, at::kBool);
  inputs.mask.select(2, 4).fill_(false);
  at::Tensor expected =
      at::scaled_dot_product_attention(inputs.query, inputs.key, inputs.value, inputs.mask, 0, false, scale);
  EXPECT_LT(difference(callAttention(c, inputs, at::kDouble)[0], expected), 1e-13);
}

/// The lowest value is finite: a row of nothing else has a uniform distribution over all keys.
TEST(AttentionTest, RowsOfTheLowestNumberAreAsInPyTorch) {
  for (const Case &c : {Case{.name = "", .floatMask = true}, Case{.name = "", .valueDim = 5, .floatMask = true}}) {
    Inputs inputs = makeInputs(c);
    inputs.mask = at::zeros({1, 1, 9, 9}, at::kDouble);
    inputs.mask.select(2, 4).fill_(std::numeric_limits<float>::lowest());
    at::Tensor expected =
        at::scaled_dot_product_attention(inputs.query, inputs.key, inputs.value, inputs.mask, 0, false, scale);
    EXPECT_LT(difference(callAttention(c, inputs, at::kDouble)[0], expected), 1e-13);
    EXPECT_LT(difference(callAttention(c, inputs, at::kFloat)[0], expected), 2e-6);
  }
}

/// A mask may have a wider type than the query: its lowest value exceeds the query's range, but must stay finite.
TEST(AttentionTest, TheLowestNumberOfAWiderMaskIsFinite) {
  Case c{.name = "", .floatMask = true};
  Inputs inputs = makeInputs(c);
  inputs.mask = at::zeros({1, 1, 9, 9}, at::kFloat);
  inputs.mask.select(2, 4).fill_(std::numeric_limits<float>::lowest());
  inputs.mask.select(2, 5).slice(1, 3).fill_(-std::numeric_limits<float>::infinity());
  at::Tensor expected = at::scaled_dot_product_attention(inputs.query, inputs.key, inputs.value,
                                                         inputs.mask.to(at::kDouble), 0, false, scale);
  for (at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    at::Tensor out = callOperator(
        "meshplan.attention", {inputs.query.to(type), inputs.key.to(type), inputs.value.to(type), inputs.mask},
        {value("query", 0), value("key", 1), value("value", 2), value("mask", 3), {"scale", scale}}, 2)[0];
    EXPECT_LT(difference(out, expected), 0.06) << at::toString(type);
  }
}

TEST(AttentionTest, StridedHeads) {
  Case c{.name = "", .causal = true};
  Inputs inputs = makeInputs(c);
  auto [out, logsumexp, weights] = attentionByDefinition(c, inputs);
  inputs.query = inputs.query.transpose(1, 2).contiguous().transpose(1, 2);
  inputs.key = inputs.key.transpose(2, 3).contiguous().transpose(2, 3);
  EXPECT_LT(difference(callAttention(c, inputs, at::kDouble)[0], out), 1e-13);
}

/// Each rank has some of the query heads, and the key heads that they read: neighbours may share a key head.
TEST(AttentionTest, HeadsSplitToRanksReadTheirKeyHeads) {
  for (auto [heads, keyHeads] : {std::pair<int64_t, int64_t>(6, 2), {6, 3}, {9, 3}, {4, 4}, {5, 1}}) {
    Case c{.name = "", .heads = heads, .keyHeads = keyHeads, .causal = true, .dropout = 0.4};
    Inputs inputs = makeInputs(c);
    auto [out, logsumexp, weights] = attentionByDefinition(c, inputs);
    for (int64_t ranks = 1; ranks <= heads; ++ranks)
      for (int64_t rank = 0; rank < ranks; ++rank) {
        Range own = shardRange(heads, 1, ranks, rank), read = shardRange(keyHeads, 1, ranks, rank, heads / keyHeads);
        auto results =
            callOperator("meshplan.attention",
                         {inputs.query.narrow(1, own.offset, own.size), inputs.key.narrow(1, read.offset, read.size),
                          inputs.value.narrow(1, read.offset, read.size), inputs.seed, inputs.step},
                         {value("query", 0),
                          value("key", 1),
                          value("value", 2),
                          {"scale", scale},
                          {"causal", true},
                          {"heads_per_key", heads / keyHeads},
                          {"first_head", own.offset},
                          {"first_key_head", read.offset},
                          {"dropout", c.dropout},
                          {"number", attentionNumber},
                          value("seed", 3),
                          value("step", 4),
                          {"all_heads", heads}},
                         2);
        EXPECT_LT(difference(results[0], out.narrow(1, own.offset, own.size)), 1e-13) << heads << " over " << ranks;
        EXPECT_LT(difference(results[1], logsumexp.narrow(1, own.offset, own.size)), 1e-13);
      }
  }
}

TEST(AttentionTest, SamplesSplitToRanksDropAsTheWhole) {
  Case c{.name = "", .batch = 5, .dropout = 0.4};
  Inputs inputs = makeInputs(c);
  at::Tensor out = attentionByDefinition(c, inputs).out;
  auto part = [&](const at::Tensor &tensor) { return tensor.narrow(0, 2, 2).narrow(1, 1, 2); };
  auto results = callNamed("meshplan.attention",
                           {{"query", part(inputs.query)},
                            {"key", part(inputs.key)},
                            {"value", part(inputs.value)},
                            {"seed", inputs.seed},
                            {"step", inputs.step}},
                           {{"scale", scale},
                            {"dropout", c.dropout},
                            {"number", attentionNumber},
                            {"first_sample", int64_t(2)},
                            {"first_head", int64_t(1)},
                            {"all_heads", int64_t(4)}},
                           2);
  EXPECT_LT(difference(results[0], part(out)), 1e-13);
}

static std::string attentionFailure(std::vector<at::Tensor> tensors, std::vector<Argument> more) {
  std::vector<Argument> arguments = {value("query", 0), value("key", 1), value("value", 2), {"scale", 1.0}};
  arguments.insert(arguments.end(), more.begin(), more.end());
  auto call = prepareCall("meshplan.attention", arguments, {0, -1});
  EXPECT_TRUE(call.ok()) << call.status().message();
  std::vector<Tensor> values;
  for (at::Tensor &tensor : tensors)
    values.push_back(wrap(tensor));
  return (*call)->run(values).message();
}

TEST(AttentionTest, Refusals) {
  at::Tensor x = at::zeros({1, 4, 3, 2}), three = at::zeros({1, 3, 3, 2}), one = at::zeros({1, 1});
  EXPECT_THAT(attentionFailure({x, three, three}, {}),
              testing::HasSubstr("query [1, 4, 3, 2], key [1, 3, 3, 2] and value [1, 3, 3, 2] do not match"));
  EXPECT_THAT(attentionFailure({x, x, x}, {{"window", int64_t(-1)}}),
              testing::HasSubstr("window must not be negative, it is -1"));
  EXPECT_THAT(attentionFailure({x, x.narrow(2, 0, 2), x}, {}), testing::HasSubstr("do not match"));
  EXPECT_THAT(attentionFailure({one, x, x}, {}), testing::HasSubstr("must have 4 dims"));
  EXPECT_THAT(attentionFailure({x, x, x}, {{"dropout", 0.1}}),
              testing::HasSubstr("attention with dropout needs a seed and a step"));
  EXPECT_THAT(attentionFailure({x, x, x}, {{"dropout", 2.0}}),
              testing::HasSubstr("a probability of 2 is not between 0 and 1"));
  EXPECT_THAT(attentionFailure({x, x, x, at::ones({1, 1, 2, 3}, at::kBool)}, {value("mask", 3)}),
              testing::HasSubstr("mask [1, 1, 2, 3] does not fit query [1, 4, 3, 2]"));
  EXPECT_THAT(attentionFailure({x, x, x, at::ones({3}, at::kBool)}, {value("mask", 3)}),
              testing::HasSubstr("does not fit"));
  EXPECT_THAT(attentionFailure({x, x, x, at::ones({1, 2}, at::kBool)}, {value("key_mask", 3)}),
              testing::HasSubstr("key_mask [1, 2] does not fit key [1, 4, 3, 2]"));
}
