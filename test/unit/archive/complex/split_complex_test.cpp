//===- split_complex_test.cpp - complex tensors as pairs --------*- C++ -*-===//

#include "test/unit/archive/test_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan::archive;
using namespace meshplan::archive::testing;
using ::testing::ElementsAre;

namespace {

constexpr ScalarType c64 = ScalarType::Complex64, f32 = ScalarType::Float32;

std::vector<std::string> shortTargets(const ExportedProgram &program) {
  std::vector<std::string> names;
  for (const Node &node : program.nodes)
    names.push_back(node.target.substr(node.target.find('.') + 1));
  return names;
}

void expectReal(const ExportedProgram &program) {
  for (const Value &value : program.values)
    EXPECT_FALSE(isComplex(value.type)) << value.name;
}

/// x [3, 2] read as complex numbers z [3].
TestModel pairModel() {
  TestModel model;
  model.input("x", {3, 2});
  model.graph.node("torch.ops.aten.view_as_complex.default", {tensor("self", "x")}, "z", {3}, c64);
  return model;
}

/// Returns the result of `target` on z, a tensor of type `type`: real numbers unchanged, complex ones as pairs.
TestModel modelOf(const std::string &target, const std::vector<Json> &arguments, const Dims &dims,
                  ScalarType type = c64) {
  TestModel model = pairModel();
  model.graph.node("torch.ops." + target, arguments, "y", dims, type);
  if (type == c64) {
    Dims pairs = dims;
    pairs.push_back(2);
    model.graph.node("torch.ops.aten.view_as_real.default", {tensor("self", "y")}, "r", pairs);
  }
  model.output(type == c64 ? "r" : "y");
  return model;
}

std::vector<std::string> targetsOf(const TestModel &model) {
  ExportedProgram program = readProgram(model);
  expectReal(program);
  std::vector<std::string> names = shortTargets(program);
  // The two parts of z, whose type autocast knows by name.
  EXPECT_GE(names.size(), 3u);
  if (names.size() >= 3)
    names.erase(names.begin(), names.begin() + 3);
  return names;
}

TEST(SplitComplex, ViewsSelectAndStack) {
  TestModel model = pairModel();
  model.graph.node("torch.ops.aten.view_as_real.default", {tensor("self", "z")}, "r", {3, 2});
  model.output("r");
  ExportedProgram program = readProgram(model);
  expectReal(program);
  EXPECT_THAT(shortTargets(program), ElementsAre("to.dtype", "select.int", "select.int", "stack.default"));
  EXPECT_TRUE(program.keepsType(program.nodes[0]));
  EXPECT_EQ(std::get<SymbolicInt>(*program.nodes[2].find("index")), SymbolicInt(1));
  EXPECT_EQ(std::get<SymbolicInt>(*program.nodes[3].find("dim")), SymbolicInt(1));
  EXPECT_EQ(program.nodes[1].autocastOff, everyDevice.str());
  EXPECT_EQ(program.value(program.outputs[0].value).producer, 3);
}

TEST(SplitComplex, ProductsAreFourRealOnes) {
  std::vector<Json> both = {tensor("self", "z"), tensor("other", "z")};
  EXPECT_THAT(
      targetsOf(modelOf("aten.mul.Tensor", both, {3})),
      ElementsAre("mul.Tensor", "mul.Tensor", "mul.Tensor", "mul.Tensor", "sub.Tensor", "add.Tensor", "stack.default"));
  EXPECT_THAT(targetsOf(modelOf("aten.outer.default", {tensor("self", "z"), tensor("vec2", "z")}, {3, 3})),
              ElementsAre("outer.default", "outer.default", "outer.default", "outer.default", "sub.Tensor",
                          "add.Tensor", "stack.default"));
}

TEST(SplitComplex, ProductsWithRealTensorsAreTwo) {
  TestModel model = pairModel();
  model.input("s", {3});
  model.graph.node("torch.ops.aten.mul.Tensor", {tensor("self", "z"), tensor("other", "s")}, "y", {3}, c64);
  model.graph.node("torch.ops.aten.view_as_real.default", {tensor("self", "y")}, "r", {3, 2});
  model.output("r");
  EXPECT_THAT(targetsOf(model), ElementsAre("mul.Tensor", "mul.Tensor", "stack.default"));
}

TEST(SplitComplex, ImaginaryNumbersMakeAngles) {
  TestModel model;
  model.input("t", {3});
  Json unit = argument("other", {{"as_complex", {{"real", 0.0}, {"imag", 1.0}}}});
  model.graph.node("torch.ops.aten.mul.Tensor", {tensor("self", "t"), unit}, "z", {3}, c64);
  model.graph.node("torch.ops.aten.exp.default", {tensor("self", "z")}, "e", {3}, c64);
  model.graph.node("torch.ops.aten.view_as_real.default", {tensor("self", "e")}, "r", {3, 2});
  model.output("r");
  EXPECT_THAT(shortTargets(readProgram(model)), ElementsAre("cos.default", "sin.default", "stack.default"));
}

TEST(SplitComplex, WhatMovesElementsMovesBothParts) {
  Json index = argument("dim", {{"as_int", 0}});
  EXPECT_THAT(targetsOf(modelOf("aten.unsqueeze.default", {tensor("self", "z"), index}, {1, 3})),
              ElementsAre("unsqueeze.default", "unsqueeze.default", "stack.default"));
  EXPECT_THAT(targetsOf(modelOf("aten.sum.default", {tensor("self", "z")}, {})),
              ElementsAre("sum.default", "sum.default", "stack.default"));
  EXPECT_THAT(targetsOf(modelOf("aten._conj.default", {tensor("self", "z")}, {3})),
              ElementsAre("neg.default", "stack.default"));
  EXPECT_THAT(targetsOf(modelOf("aten.resolve_conj.default", {tensor("self", "z")}, {3})),
              ElementsAre("stack.default"));
}

TEST(SplitComplex, RealResultsOfComplexTensors) {
  EXPECT_TRUE(targetsOf(modelOf("aten.real.default", {tensor("self", "z")}, {3}, f32)).empty());
  EXPECT_THAT(targetsOf(modelOf("aten.abs.default", {tensor("self", "z")}, {3}, f32)),
              ElementsAre("eq.Scalar", "eq.Scalar", "logical_and.default", "masked_fill.Scalar", "hypot.default",
                          "masked_fill.Scalar"));
}

TEST(SplitComplex, ConstantsAndBuffersAreReadAsPairs) {
  TestModel model;
  model.input("x", {2});
  std::string bytes = floats({1, 2, 3, 4});
  model.constant("table", {2}, bytes, c64);
  model.buffer("held", {2}, bytes);
  model.graph.json["tensor_values"]["b_held"]["dtype"] = int(c64);
  model.constants["held"]["tensor_meta"]["dtype"] = int(c64);
  model.graph.node("torch.ops.aten.mul.Tensor", {tensor("self", "c_table"), tensor("other", "b_held")}, "y", {2}, c64);
  model.graph.node("torch.ops.aten.imag.default", {tensor("self", "y")}, "i", {2});
  model.output("i");
  ExportedProgram program = readProgram(model);
  expectReal(program);
  ASSERT_EQ(program.constants.size(), 2u);
  EXPECT_EQ(program.constants[0].name, "table.real");
  EXPECT_THAT(floatsOf(program.constants[0].data), ElementsAre(1, 3));
  EXPECT_EQ(program.constants[1].name, "table.imag");
  EXPECT_THAT(floatsOf(program.constants[1].data), ElementsAre(2, 4));
  ASSERT_EQ(program.buffers.size(), 2u);
  EXPECT_EQ(program.buffers[1].name, "held.imag");
  EXPECT_THAT(floatsOf(*program.buffers[1].data), ElementsAre(2, 4));
}

TEST(SplitComplex, PersistentBuffersAreReal) {
  TestModel model;
  model.input("x", {2});
  model.storedBuffer("held", {2}, floats({1, 2, 3, 4}));
  model.graph.json["tensor_values"]["b_held"]["dtype"] = int(c64);
  model.weights["held"]["tensor_meta"]["dtype"] = int(c64);
  model.graph.node("torch.ops.aten.imag.default", {tensor("self", "b_held")}, "i", {2});
  model.output("i");
  ExportedProgram program = readWithBuffers(model);
  ASSERT_EQ(program.buffers.size(), 1u);
  EXPECT_EQ(program.buffers[0].name, "held");
  EXPECT_EQ(program.value(program.buffers[0].value).dims.size(), 2u);
  ASSERT_TRUE(program.buffers[0].data);
  EXPECT_THAT(floatsOf(*program.buffers[0].data), ElementsAre(1, 2, 3, 4));
}

TEST(SplitComplex, BordersOfTheGraphAreReal) {
  const std::string inside = "\nhelp: only inside of a graph tensors may be complex: ";
  TestModel model = pairModel();
  model.output("z");
  model.parameter("w", {2});
  model.graph.json["tensor_values"]["p_w"]["dtype"] = int(c64);
  EXPECT_THAT(errorsOf(model),
              ElementsAre("'FILE': parameter 'w' is complex (complex64)" + inside +
                              "store a real parameter with a last dim of 2, and read it through torch.view_as_complex",
                          "'FILE': output '0' is complex (complex64)" + inside + "return torch.view_as_real of it"));
  model = pairModel();
  model.graph.json["tensor_values"]["x"]["dtype"] = int(c64);
  model.output("x");
  EXPECT_THAT(errorsOf(model),
              ElementsAre("'FILE': input 'x' is complex (complex64)" + inside +
                              "take torch.view_as_real of it, and read that through torch.view_as_complex",
                          "'FILE': output '0' is complex (complex64)" + inside + "return torch.view_as_real of it"));
}

TEST(SplitComplex, OtherOperatorsAreRefusedWithTheirPlaces) {
  TestModel model = modelOf("aten.fft_fft.default", {tensor("self", "z")}, {3});
  model.graph.json["nodes"][1]["metadata"] = {{"nn_module_stack", "L__self__,,Net;L__self__mix,mix,net.Mix"}};
  EXPECT_THAT(errorsOf(model),
              ElementsAre("'FILE': operator 'aten.fft_fft.default' is not implemented for complex tensors\n"
                          "note: 'aten.fft_fft.default' in module 'mix'\n"
                          "help: write it with torch.view_as_real, or with sums, products, quotients and "
                          "exponentials, which are computed as pairs of real tensors"));
}

} // namespace
