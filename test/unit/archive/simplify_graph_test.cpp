//===- simplify_graph_test.cpp - exact rewrites -----------------*- C++ -*-===//

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
    return simplified("aten.dropout.default", arguments, ScalarType::Float32, "input").inactiveDropouts;
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

} // namespace
