#include "runtime/tensor/torch/binding.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <gmock/gmock.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>

using namespace meshplan;
using testing::ElementsAre;

namespace {

Expected<BoundArguments> bind(const char *schema, std::vector<Argument> arguments) {
  return bindArguments("op", torch::jit::parseSchema(schema), arguments);
}

BoundArguments must(const char *schema, std::vector<Argument> arguments) {
  auto bound = bind(schema, std::move(arguments));
  EXPECT_TRUE(bound.ok()) << bound.status().message();
  return bound ? *bound : BoundArguments();
}

std::string refusal(const char *schema, std::vector<Argument> arguments) {
  auto bound = bind(schema, std::move(arguments));
  EXPECT_EQ(bound.status().code(), StatusCode::invalid);
  return bound.status().message();
}

const char *const mixed =
    "t::op(Tensor self, Tensor[] others, int dim=-1, *, float? scale=None, bool causal=False) -> Tensor";

} // namespace

TEST(BindingTest, PositionsAreThoseOfTheSchema) {
  BoundArguments bound = must(mixed, {{"causal", true},
                                      {"others", ValueListArgument{{4, 2}}},
                                      {"scale", 0.5},
                                      {"self", ValueArgument{7}},
                                      {"dim", int64_t(3)}});
  ASSERT_EQ(bound.fixed.size(), 5u);
  ASSERT_EQ(bound.values.size(), 1u);
  EXPECT_EQ(bound.values[0].position, 0u);
  EXPECT_EQ(bound.values[0].value, 7);
  ASSERT_EQ(bound.lists.size(), 1u);
  EXPECT_EQ(bound.lists[0].position, 1u);
  EXPECT_THAT(bound.lists[0].values, ElementsAre(4, 2));
  EXPECT_FALSE(bound.lists[0].elementsAreOptional);
  EXPECT_TRUE(bound.fixed[0].isNone()) << "known when the call runs";
  EXPECT_TRUE(bound.fixed[1].isNone());
  EXPECT_EQ(bound.fixed[2].toInt(), 3);
  EXPECT_EQ(bound.fixed[3].toDouble(), 0.5);
  EXPECT_TRUE(bound.fixed[4].toBool());
}

TEST(BindingTest, WhatIsNotGivenHasTheDefault) {
  BoundArguments bound = must(mixed, {{"self", ValueArgument{0}}, {"others", ValueListArgument{}}});
  EXPECT_EQ(bound.fixed[2].toInt(), -1);
  EXPECT_TRUE(bound.fixed[3].isNone());
  EXPECT_FALSE(bound.fixed[4].toBool());
}

TEST(BindingTest, NoArguments) {
  EXPECT_TRUE(must("t::op() -> Tensor", {}).fixed.empty());
  EXPECT_EQ(refusal("t::op() -> Tensor", {{"self", ValueArgument{0}}}), "op has no argument 'self'; it has none");
}

TEST(BindingTest, TensorsThatMayBeNone) {
  const char *schema = "t::op(Tensor? bias, Tensor?[] indices, Tensor[]? more=None) -> Tensor";
  BoundArguments bound = must(schema, {{"bias", std::monostate()}, {"indices", ValueListArgument{{-1, 3}}}});
  EXPECT_TRUE(bound.values.empty());
  ASSERT_EQ(bound.lists.size(), 1u);
  EXPECT_TRUE(bound.lists[0].elementsAreOptional);
  bound =
      must(schema, {{"bias", ValueArgument{1}}, {"indices", ValueListArgument{}}, {"more", ValueListArgument{{2}}}});
  EXPECT_EQ(bound.values[0].value, 1);
  ASSERT_EQ(bound.lists.size(), 2u);
  EXPECT_EQ(bound.lists[1].position, 2u);
  EXPECT_FALSE(bound.lists[1].elementsAreOptional);
}

TEST(BindingTest, NamesThatAreWrong) {
  EXPECT_EQ(refusal(mixed, {{"self", ValueArgument{0}}, {"slef", ValueArgument{0}}}),
            "op has no argument 'slef'; its arguments are self, others, dim, scale, causal");
  EXPECT_EQ(refusal(mixed, {{"", ValueArgument{0}}}),
            "op has no argument ''; its arguments are self, others, dim, scale, causal");
  EXPECT_EQ(refusal(mixed, {{"dim", int64_t(1)}, {"self", ValueArgument{0}}, {"dim", int64_t(1)}}),
            "op: argument 'dim' is given twice");
  EXPECT_EQ(refusal(mixed, {{"self", ValueArgument{0}}}), "op: argument 'others' is missing");
  EXPECT_EQ(refusal(mixed, {}), "op: argument 'self' is missing");
}

TEST(BindingTest, ContentsThatAreWrong) {
  auto others = [](ArgumentContent content) {
    return refusal(mixed, {{"self", ValueArgument{0}}, {"others", std::move(content)}});
  };
  EXPECT_EQ(others(ValueArgument{0}), "op: argument 'others' is a tensor, the operator takes Tensor[]");
  EXPECT_EQ(others(std::vector<int64_t>{1}),
            "op: argument 'others' is a list of integers, the operator takes Tensor[]");
  EXPECT_EQ(others(std::monostate()), "op: argument 'others' is None, the operator takes Tensor[]");
  auto self = [](ArgumentContent content) { return refusal(mixed, {{"self", std::move(content)}}); };
  EXPECT_EQ(self(ValueListArgument{{0}}), "op: argument 'self' is a list of tensors, the operator takes Tensor");
  EXPECT_EQ(self(std::monostate()), "op: argument 'self' is None, the operator takes Tensor");
  EXPECT_EQ(self(std::string("x")), "op: argument 'self' is a string, the operator takes Tensor");
  auto scale = [](ArgumentContent content) {
    return refusal(mixed, {{"self", ValueArgument{0}}, {"others", ValueListArgument{}}, {"scale", std::move(content)}});
  };
  EXPECT_EQ(scale(true), "op: argument 'scale' is a bool, the operator takes float?");
  EXPECT_EQ(scale(ValueArgument{0}), "op: argument 'scale' is a tensor, the operator takes float?");
}
