//===- simplify_graph_test.cpp - exact rewrites ------------------*- C++ -*-===//

#include "test/unit/archive/test_model.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan::archive;
using namespace meshplan::archive::testing;
using ::testing::ElementsAre;

namespace {

/// x -> target(x, arguments) of element type `type` -> relu.
ExportedProgram simplified(const std::string &target, const std::vector<Json> &extra, ScalarType type,
                           const std::string &operand = "self") {
  TestModel model;
  model.input("x", {2});
  std::vector<Json> arguments = {tensor(operand, "x")};
  arguments.insert(arguments.end(), extra.begin(), extra.end());
  model.graph.node("torch.ops." + target, arguments, "y", {2}, type);
  model.graph.node("torch.ops.aten.relu.default", {tensor("self", "y")}, "z", {2}, type);
  model.output("z");
  model.output("y");
  return readProgram(model);
}

void expectGone(const ExportedProgram &program) {
  ASSERT_EQ(program.nodes.size(), 1u);
  EXPECT_EQ(program.values.size(), 2u);
  ValueId x = program.inputs[0].value;
  EXPECT_EQ(std::get<ValueId>(*program.nodes[0].find("self")), x);
  EXPECT_EQ(program.outputs[1].value, x);
  EXPECT_EQ(program.value(program.outputs[0].value).producer, 0);
}

const Json cuda = argument("device", {{"as_device", {{"type", "cuda"}, {"index", 0}}}});
const Json halfType = argument("dtype", {{"as_scalar_type", int(ScalarType::BFloat16)}});

TEST(SimplifyGraph, ConversionsThatKeepTheTypeGoAway) {
  for (const char *target : {"aten.to.dtype", "aten.to.device", "aten.to.dtype_layout", "aten.to.other",
                             "aten._to_copy.default", "aten.type_as.default"})
    expectGone(simplified(target, {cuda}, ScalarType::Float32));
}

TEST(SimplifyGraph, ConversionsToANamedTypeOfFloatsStay) {
  Json floatType = argument("dtype", {{"as_scalar_type", int(ScalarType::Float32)}});
  for (const char *target : {"aten.to.dtype", "aten.to.dtype_layout", "aten._to_copy.default"}) {
    ExportedProgram program = simplified(target, {cuda, floatType}, ScalarType::Float32);
    ASSERT_EQ(program.nodes.size(), 2u) << target;
    EXPECT_EQ(program.nodes[0].target, "aten.to.dtype");
    EXPECT_TRUE(program.keepsType(program.nodes[0]));
    EXPECT_FALSE(program.keepsType(program.nodes[1]));
  }
}

TEST(SimplifyGraph, OtherConversionsBecomeOne) {
  for (const char *target : {"aten.to.dtype", "aten.to.device", "aten.to.dtype_layout", "aten._to_copy.default"}) {
    ExportedProgram program = simplified(target, {cuda, halfType}, ScalarType::BFloat16);
    ASSERT_EQ(program.nodes.size(), 2u);
    const Node &node = program.nodes[0];
    EXPECT_EQ(node.target, "aten.to.dtype");
    ASSERT_EQ(node.arguments.size(), 2u);
    EXPECT_EQ(std::get<ValueId>(*node.find("self")), program.inputs[0].value);
    EXPECT_EQ(std::get<ScalarType>(*node.find("dtype")), ScalarType::BFloat16);
    EXPECT_FALSE(program.keepsType(node));
  }
}

TEST(SimplifyGraph, AliasesGoAway) {
  for (const char *target : {"aten.alias.default", "aten.lift.default", "aten.lift_fresh_copy.default"})
    expectGone(simplified(target, {}, ScalarType::Float32));
}

TEST(SimplifyGraph, DropoutThatDropsNothingGoesAway) {
  Json half = argument("p", {{"as_float", 0.5}}), zero = argument("p", {{"as_float", 0.0}});
  Json on = argument("train", {{"as_bool", true}}), off = argument("train", {{"as_bool", false}});
  expectGone(simplified("aten.dropout.default", {half, off}, ScalarType::Float32, "input"));
  expectGone(simplified("aten.dropout.default", {zero, on}, ScalarType::Float32, "input"));
  EXPECT_EQ(simplified("aten.dropout.default", {half, on}, ScalarType::Float32, "input").nodes.size(), 2u);
  for (const char *target :
       {"aten.feature_dropout.default", "aten.alpha_dropout.default", "aten.feature_alpha_dropout.default"})
    expectGone(simplified(target, {half, off}, ScalarType::Float32, "input"));
}

TEST(SimplifyGraph, DropoutThatIsSwitchedOffIsNoted) {
  Json half = argument("p", {{"as_float", 0.5}}), zero = argument("p", {{"as_float", 0.0}});
  Json on = argument("train", {{"as_bool", true}}), off = argument("train", {{"as_bool", false}});
  auto noted = [](const std::vector<Json> &arguments) {
    return simplified("aten.dropout.default", arguments, ScalarType::Float32, "input").idleDropouts;
  };
  ASSERT_EQ(noted({half, off}).size(), 1u);
  EXPECT_EQ(noted({half, off})[0].probability, 0.5);
  EXPECT_TRUE(noted({zero, off}).empty());
  EXPECT_TRUE(noted({half, on}).empty());
}

TEST(SimplifyGraph, OperatorsWithMeaningStay) {
  for (const char *target : {"aten.clone.default", "aten.contiguous.default", "aten.detach.default"})
    EXPECT_EQ(simplified(target, {}, ScalarType::Float32).nodes.size(), 2u) << target;
}

TEST(SimplifyGraph, ANoGradRegionStillStopsTheGradient) {
  TestModel model = linearModel();
  TestGraph inner;
  inner.input("a", {2, 4});
  inner.node("torch.ops.aten.alias.default", {tensor("self", "a")}, "first", {2, 4});
  inner.node("torch.ops.aten.alias.default", {tensor("self", "first")}, "second", {2, 4});
  inner.output("second");
  model.graph.node("torch.ops.higher_order.wrap_with_set_grad_enabled",
                   {argument("", {{"as_bool", false}}),
                    argument("", {{"as_graph", {{"name", "submod"}, {"graph", inner.json}}}}), tensor("", "linear")},
                   "stopped", {2, 4});
  model.output("stopped");
  ExportedProgram program = readProgram(model);
  ASSERT_EQ(program.nodes.size(), 2u);
  EXPECT_EQ(program.nodes[1].target, "aten.detach.default");
  EXPECT_EQ(std::get<ValueId>(*program.nodes[1].find("self")), program.nodes[0].results[0]);
  EXPECT_EQ(program.outputs[1].value, program.nodes[1].results[0]);
}

/// What an alias in a region without gradients becomes; `outer` makes its operand "x" in the model around it.
std::string withoutGradient(const std::function<void(TestModel &)> &outer, ScalarType type = ScalarType::Float32,
                            const std::string &operand = "x") {
  TestModel model;
  outer(model);
  TestGraph inner;
  inner.input("a", {2}, type);
  inner.node("torch.ops.aten.alias.default", {tensor("self", "a")}, "same", {2}, type);
  inner.output("same");
  model.graph.node("torch.ops.higher_order.wrap_with_set_grad_enabled",
                   {argument("", {{"as_bool", false}}),
                    argument("", {{"as_graph", {{"name", "submod"}, {"graph", inner.json}}}}), tensor("", operand)},
                   "stopped", {2}, type);
  model.graph.node("torch.ops.aten.relu.default", {tensor("self", "stopped")}, "y", {2}, type);
  model.output("y");
  ExportedProgram program = readProgram(model);
  std::string targets;
  for (const Node &node : program.nodes)
    targets += node.target + " ";
  return targets;
}

TEST(SimplifyGraph, WhatHasNoGradientNeedsNoStop) {
  const std::string relu = "aten.relu.default ", stop = "aten.detach.default ";
  const std::string bytes(8, 'x');
  EXPECT_EQ(withoutGradient([](TestModel &model) { model.parameter("w", {2}); }, ScalarType::Float32, "p_w"),
            stop + relu);
  EXPECT_EQ(withoutGradient([&](TestModel &model) { model.buffer("b", {2}, bytes); }, ScalarType::Float32, "b_b"),
            relu);
  EXPECT_EQ(withoutGradient([&](TestModel &model) { model.constant("c", {2}, bytes, ScalarType::Float32); },
                            ScalarType::Float32, "c_c"),
            relu);
  EXPECT_EQ(withoutGradient([](TestModel &model) { model.input("x", {2}); }), relu);
}

TEST(SimplifyGraph, WhatWasStoppedOnceStaysSo) {
  auto computed = [](const char *target) {
    return [target](TestModel &model) {
      model.parameter("w", {2});
      model.graph.node(std::string("torch.ops.") + target, {tensor("self", "p_w")}, "x", {2});
    };
  };
  EXPECT_EQ(withoutGradient(computed("aten.detach.default")), "aten.detach.default aten.relu.default ");
  EXPECT_EQ(withoutGradient(computed("aten.neg.default")), "aten.neg.default aten.detach.default aten.relu.default ");
}

TEST(SimplifyGraph, IntegersHaveNoGradient) {
  auto computed = [](ScalarType type) {
    return [type](TestModel &model) {
      model.parameter("w", {2});
      model.graph.node("torch.ops.aten.sign.default", {tensor("self", "p_w")}, "x", {2}, type);
    };
  };
  for (ScalarType type : {ScalarType::Int64, ScalarType::Bool, ScalarType::UInt8})
    EXPECT_EQ(withoutGradient(computed(type), type), "aten.sign.default aten.relu.default ");
  for (ScalarType type : {ScalarType::BFloat16, ScalarType::Float64})
    EXPECT_EQ(withoutGradient(computed(type), type), "aten.sign.default aten.detach.default aten.relu.default ");
}

} // namespace
