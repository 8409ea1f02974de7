//===- build_arguments_test.cpp - types and literals of the archive -------===//

#include "compiler/transforms/import/build_arguments.h"
#include "program_text.h"
#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::archive;
using testing::ElementsAre;

namespace {

class BuildArguments : public ProgramText {
protected:
  BuildArguments() { read("x: 4xf32; y: 5xf32; z: 6xf32", {}); }

  /// The dictionary for a node with these arguments; "null" if there is none.
  std::string build(std::vector<NamedArgument> arguments) {
    Node node;
    node.arguments = std::move(arguments);
    llvm::SmallVector<mlir::Value> values(function().getArguments());
    ArgumentBuilder builder(values, &context);
    mlir::DictionaryAttr made = builder.build(node);
    operands.assign(builder.operands().begin(), builder.operands().end());
    return made ? print(mlir::Attribute(made)) : "null";
  }

  mlir::ElementsAttr constant(llvm::StringRef typeText, std::vector<uint8_t> bytes) {
    return constantValue({ScalarType::Float32, {}, std::move(bytes)}, type<mlir::RankedTensorType>(typeText));
  }

  std::vector<mlir::Value> operands;
};

TEST_F(BuildArguments, ElementTypes) {
  std::pair<ScalarType, const char *> cases[] = {{ScalarType::Float64, "f64"}, {ScalarType::Float32, "f32"},
                                                 {ScalarType::Float16, "f16"}, {ScalarType::BFloat16, "bf16"},
                                                 {ScalarType::Int64, "i64"},   {ScalarType::Int32, "i32"},
                                                 {ScalarType::Int16, "i16"},   {ScalarType::Int8, "i8"},
                                                 {ScalarType::UInt8, "ui8"},   {ScalarType::Bool, "i1"}};
  for (auto [scalar, name] : cases) {
    EXPECT_EQ(elementType(scalar, &context), type<mlir::Type>(name)) << name;
    // An element has the same size in the archive and in the IR.
    EXPECT_EQ(plan::elementBytes(type<mlir::Type>(name)), scalarTypeSize(scalar)) << name;
  }
  for (ScalarType unknown : {ScalarType::Complex64, ScalarType::Float8E4M3FN, ScalarType::UInt16})
    EXPECT_FALSE(elementType(unknown, &context));
}

TEST_F(BuildArguments, TensorTypes) {
  Value value;
  value.type = ScalarType::BFloat16;
  value.dims = {4, 1, 0};
  EXPECT_EQ(print(mlir::Type(tensorType(value, &context))), "tensor<4x1x0xbf16>");
  value.dims.clear();
  EXPECT_EQ(print(mlir::Type(tensorType(value, &context))), "tensor<bf16>");
  value.type = ScalarType::Complex32;
  EXPECT_FALSE(tensorType(value, &context));
}

TEST_F(BuildArguments, ConstantsKeepTheirBytes) {
  EXPECT_EQ(print(mlir::Attribute(constant("tensor<3xi1>", {1, 0, 1}))), "dense<[true, false, true]> : tensor<3xi1>");
  EXPECT_EQ(print(mlir::Attribute(constant("tensor<2xi16>", {1, 0, 0xff, 0xff}))), "dense<[1, -1]> : tensor<2xi16>");
  EXPECT_EQ(print(mlir::Attribute(constant("tensor<f32>", {0, 0, 0x80, 0x3f}))), "dense<1.000000e+00> : tensor<f32>");
  EXPECT_EQ(print(mlir::Attribute(constant("tensor<2x1xui8>", {7, 200}))), "dense<[[7], [200]]> : tensor<2x1xui8>");
  EXPECT_EQ(print(mlir::Attribute(constant("tensor<0x3xf32>", {}))), "dense<> : tensor<0x3xf32>");
  EXPECT_EQ(print(mlir::Attribute(constant("tensor<0xi1>", {}))), "dense<> : tensor<0xi1>");
}

TEST_F(BuildArguments, LiteralsOfEveryKind) {
  EXPECT_EQ(build({{"a", SymbolicInt(-3)},
                   {"b", std::vector<SymbolicInt>{1, 2}},
                   {"c", 0.5},
                   {"d", std::vector<double>{1, -2}},
                   {"e", true},
                   {"f", std::vector<bool>{true, false}},
                   {"g", std::string("floor")},
                   {"h", std::vector<std::string>{"x"}},
                   {"i", ScalarType::BFloat16}}),
            "{a = -3 : i64, b = [1, 2], c = 5.000000e-01 : f64, d = [1.000000e+00, -2.000000e+00], e = true, "
            "f = [true, false], g = \"floor\", h = [\"x\"], i = bf16}");
  EXPECT_EQ(build({}), "{}");
  EXPECT_EQ(build({{"b", std::vector<SymbolicInt>{}}}), "{b = []}");
}

TEST_F(BuildArguments, TensorsAreNumberedWhereTheyFirstStand) {
  EXPECT_EQ(build({{"self", ValueId(2)}, {"list", std::vector<ValueId>{0, noValue, 2}}, {"other", ValueId(0)}}),
            "{list = [#base.operand<1>, unit, #base.operand<0>], other = #base.operand<1>, self = #base.operand<0>}");
  EXPECT_THAT(operands, ElementsAre(argument(2), argument(0)));
}

TEST_F(BuildArguments, WhatSaysNothingIsLeftOut) {
  EXPECT_EQ(build({{"a", std::monostate()}, {"memory_format", MemoryFormat::ChannelsLast}, {"b", SymbolicInt(1)}}),
            "{b = 1 : i64}");
}

TEST_F(BuildArguments, ADtypeThatTheIrLacksIsRefused) {
  EXPECT_EQ(build({{"dtype", ScalarType::Complex64}}), "null");
  EXPECT_EQ(build({{"b", SymbolicInt(1)}, {"dtype", ScalarType::Float8E5M2}}), "null");
}

} // namespace
