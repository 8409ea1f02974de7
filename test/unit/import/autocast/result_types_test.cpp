//===- result_types_test.cpp - result types of operators ------------------===//
//
// The cases are PyTorch's: torch.result_type, and results of operators that read only the first operand.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/import/autocast/result_types.h"
#include "mlir/IR/BuiltinTypes.h"
#include "test/unit/sharding/parsed_call.h"

using namespace meshplan;

namespace {

constexpr char both[] = "{self = #base.operand<0>, other = #base.operand<1>}";

class ResultTypes : public CallTest {
protected:
  /// The type of a result; `types` has the result types of the archive, and new types of operands.
  std::string type(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types, unsigned result = 0) {
    return print(mlir::TypeAttr::get(resultTypeOf(parse(target, args, types), result)));
  }
  std::string sum(llvm::StringRef left, llvm::StringRef right) {
    return type("aten.add.Tensor", both, ("(tensor<" + left + ">, tensor<" + right + ">) -> tensor<4xf32>").str());
  }
};

TEST_F(ResultTypes, TheWidestCounts) {
  EXPECT_EQ(sum("4xbf16", "4xf32"), "f32");
  EXPECT_EQ(sum("4xf32", "4xbf16"), "f32");
  EXPECT_EQ(sum("4xbf16", "4xbf16"), "bf16");
  EXPECT_EQ(sum("4xbf16", "4xf16"), "f32") << "each has numbers that the other lacks";
  EXPECT_EQ(sum("4xbf16", "4xf64"), "f64");
  EXPECT_EQ(sum("4xbf16", "4xi64"), "bf16");
}

TEST_F(ResultTypes, TensorsWithDimsCountFirst) {
  EXPECT_EQ(sum("4xbf16", "f32"), "bf16");
  EXPECT_EQ(sum("f64", "4xf16"), "f16");
  EXPECT_EQ(sum("bf16", "f32"), "f32");
  EXPECT_EQ(sum("4xi64", "bf16"), "bf16") << "a float counts before integers";
}

TEST_F(ResultTypes, NumbersDoNotCount) {
  EXPECT_EQ(type("aten.mul.Tensor", "{self = #base.operand<0>, other = 2.0}", "(tensor<4xbf16>) -> tensor<4xf32>"),
            "bf16");
  EXPECT_EQ(type("aten.mul.Tensor", "{self = #base.operand<0>, other = 2.0}", "(tensor<4xi64>) -> tensor<4xf32>"),
            "f32");
}

TEST_F(ResultTypes, WhatIsNoFloatStays) {
  EXPECT_EQ(type("aten.lt.Tensor", both, "(tensor<4xbf16>, tensor<4xf32>) -> tensor<4xi1>"), "i1");
  const char topk[] = "(tensor<4xbf16>) -> (tensor<2xf32>, tensor<2xi64>)";
  EXPECT_EQ(type("aten.topk.default", "{self = #base.operand<0>, k = 2}", topk), "bf16");
  EXPECT_EQ(type("aten.topk.default", "{self = #base.operand<0>, k = 2}", topk, 1), "i64");
}

TEST_F(ResultTypes, StatedTypesStay) {
  EXPECT_EQ(type("aten.to.dtype", "{self = #base.operand<0>, dtype = f32}", "(tensor<4xbf16>) -> tensor<4xf32>"),
            "f32");
  EXPECT_EQ(
      type("aten.softmax.int", "{self = #base.operand<0>, dim = 0, dtype = f32}", "(tensor<4xbf16>) -> tensor<4xf32>"),
      "f32");
  EXPECT_EQ(type("aten.softmax.int", "{self = #base.operand<0>, dim = 0, dtype}", "(tensor<4xbf16>) -> tensor<4xf32>"),
            "bf16")
      << "None";
}

TEST_F(ResultTypes, FillsAndCopiesAreOfTheFirst) {
  EXPECT_EQ(type("aten.masked_fill.Tensor",
                 "{self = #base.operand<0>, mask = #base.operand<1>, value = #base.operand<2>}",
                 "(tensor<4xbf16>, tensor<4xi1>, tensor<f32>) -> tensor<4xf32>"),
            "bf16");
  EXPECT_EQ(type("aten.slice_scatter.default", "{self = #base.operand<0>, src = #base.operand<1>}",
                 "(tensor<4xbf16>, tensor<4xf32>) -> tensor<4xf32>"),
            "bf16");
}

TEST_F(ResultTypes, TensorsThatAreBroadcastKeepTheirTypes) {
  const char types[] = "(tensor<4x1xbf16>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)";
  const char args[] = "{tensors = [#base.operand<0>, #base.operand<1>]}";
  EXPECT_EQ(type("aten.broadcast_tensors.default", args, types), "bf16");
  EXPECT_EQ(type("aten.broadcast_tensors.default", args, types, 1), "f32");
}

TEST_F(ResultTypes, StatisticsStay) {
  const char norm[] = "(tensor<4x6xbf16>) -> (tensor<4x6xf32>, tensor<4x1xf32>, tensor<4x1xf32>)";
  EXPECT_EQ(type("aten.native_layer_norm.default", "{input = #base.operand<0>}", norm), "bf16");
  EXPECT_EQ(type("aten.native_layer_norm.default", "{input = #base.operand<0>}", norm, 1), "f32");
}

} // namespace
