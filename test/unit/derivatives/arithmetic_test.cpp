//===- arithmetic_test.cpp - arithmetic of derivatives --------------------===//

#include "compiler/derivatives/arithmetic.h"
#include "derive.h"

using namespace meshplan;

namespace {

/// Values a and b of given types; the function's result is given as the gradient of a.
class ArithmeticTest : public DeriveTest {
protected:
  using Make = llvm::function_ref<mlir::Value(const Arithmetic &, mlir::Value, mlir::Value)>;

  /// The calls of the function; the gradient of a has the type of the result.
  std::string make(llvm::StringRef types, llvm::StringRef result, Make function) {
    auto derivation = begin("aten.add.Tensor", "self = $0, other = $1", (types + " -> " + result).str());
    Arithmetic math(*derivation);
    mlir::Value made = function(math, argument(0), argument(1));
    derivation->give(call(0).getResult(0), made);
    std::string text = describe(*derivation);
    return text;
  }
};

TEST_F(ArithmeticTest, DimsOfSizeOneBroadcast) {
  auto add = [](const Arithmetic &math, mlir::Value a, mlir::Value b) { return math.add(a, b); };
  EXPECT_EQ(make("4x1xf32, 6xf32", "4x6xf32", add), "%0 = aten.add.Tensor(other b, self a): 4x6xf32\nr: %0");
  EXPECT_EQ(make("f32, 2x1x3xf32", "2x1x3xf32", add), "%0 = aten.add.Tensor(other b, self a): 2x1x3xf32\nr: %0");
  EXPECT_EQ(make("1xf32, 0xf32", "0xf32", add), "%0 = aten.add.Tensor(other b, self a): 0xf32\nr: %0");
}

TEST_F(ArithmeticTest, TypesArePromotedAsPyTorchDoes) {
  auto mul = [](const Arithmetic &math, mlir::Value a, mlir::Value b) { return math.mul(a, b); };
  auto product = [&](const char *types, const char *result) { return make(types, result, mul); };
  auto expected = [](const char *type) {
    return "%0 = aten.mul.Tensor(other b, self a): " + std::string(type) + "\nr: %0";
  };
  EXPECT_EQ(product("4xbf16, 4xf32", "4xf32"), expected("4xf32"));
  EXPECT_EQ(product("4xbf16, 4xf16", "4xf32"), expected("4xf32")) << "neither holds the other";
  EXPECT_EQ(product("4xi64, 4xbf16", "4xbf16"), expected("4xbf16")) << "a float wins, however short";
  EXPECT_EQ(product("4xi1, 4xf16", "4xf16"), expected("4xf16"));
  EXPECT_EQ(product("4xi32, 4xi64", "4xi64"), expected("4xi64"));
  EXPECT_EQ(product("4xbf16, f32", "4xbf16"), expected("4xbf16")) << "a tensor without dims is a number";
  EXPECT_EQ(product("f64, 4xf32", "4xf32"), expected("4xf32"));
  EXPECT_EQ(product("f32, 4xi64", "4xf32"), expected("4xf32")) << "a number of a higher category decides";
  EXPECT_EQ(product("bf16, f32", "f32"), expected("f32"));
}

TEST_F(ArithmeticTest, WhatChangesNothingIsNotMade) {
  auto same = [&](Make function) { EXPECT_EQ(make("4x6xf32, 4x6xf32", "4x6xf32", function), "r: a"); };
  using mlir::Value;
  same([](const Arithmetic &math, Value a, Value) { return math.mul(a, 1.0); });
  same([](const Arithmetic &math, Value a, Value) { return math.pow(a, 1); });
  same([](const Arithmetic &math, Value a, Value) { return math.reshape(a, {4, 6}); });
  same([](const Arithmetic &math, Value a, Value) { return math.permute(a, {0, 1}); });
  same([](const Arithmetic &math, Value a, Value) { return math.expand(a, {4, 6}); });
  same([](const Arithmetic &math, Value a, Value) { return math.convert(a, elementOf(a)); });
  same([](const Arithmetic &math, Value a, Value) { return math.sum(a, {}, false); });
  same([](const Arithmetic &math, Value a, Value) { return math.sumTo(a, {4, 6}); });
}

TEST_F(ArithmeticTest, AMinusIsNoProduct) {
  EXPECT_EQ(make("4xf32, 4xf32", "4xf32",
                 [](const Arithmetic &math, mlir::Value a, mlir::Value) { return math.mul(a, -1.0); }),
            "%0 = aten.neg.default(self a): 4xf32\nr: %0");
}

TEST_F(ArithmeticTest, ConditionsChooseByBroadcasting) {
  EXPECT_EQ(make("4x1xi1, 6xf32", "4x6xf32",
                 [](const Arithmetic &math, mlir::Value a, mlir::Value b) { return math.dropWhere(a, b); }),
            "%0 = aten.expand.default(self b, size [4, 6]): 4x6xf32\n"
            "%1 = aten.masked_fill.Scalar(mask a, self %0, value 0): 4x6xf32\nr: %1");
  EXPECT_EQ(make("6xi1, 4x6xbf16", "4x6xbf16",
                 [](const Arithmetic &math, mlir::Value a, mlir::Value b) { return math.keepWhere(a, b); }),
            "%0 = aten.logical_not.default(self a): 6xi1\n"
            "%1 = aten.masked_fill.Scalar(mask %0, self b, value 0): 4x6xbf16\nr: %1");
}

TEST_F(ArithmeticTest, ComparisonsAreBools) {
  EXPECT_EQ(
      make("4x1xf32, 6xf32", "4x6xi1",
           [](const Arithmetic &math, mlir::Value a, mlir::Value b) { return math.compare("aten.lt.Tensor", a, b); }),
      "%0 = aten.lt.Tensor(other b, self a): 4x6xi1\nr: %0");
  EXPECT_EQ(
      make("4xf32, 4xf32", "4xi1",
           [](const Arithmetic &math, mlir::Value a, mlir::Value) { return math.compare("aten.eq.Scalar", a, 2); }),
      "%0 = aten.eq.Scalar(other 2, self a): 4xi1\nr: %0");
}

TEST_F(ArithmeticTest, SumsTakeBroadcastingBack) {
  auto sumTo = [&](const char *result, llvm::ArrayRef<int64_t> shape) {
    return make("2x4x6xf32, f32", result,
                [&](const Arithmetic &math, mlir::Value a, mlir::Value) { return math.sumTo(a, shape); });
  };
  EXPECT_EQ(sumTo("6xf32", {6}), "%0 = aten.sum.dim_IntList(dim [0, 1], keepdim false, self a): 6xf32\nr: %0");
  EXPECT_EQ(sumTo("2x1x6xf32", {2, 1, 6}),
            "%0 = aten.sum.dim_IntList(dim [1], keepdim true, self a): 2x1x6xf32\nr: %0");
  EXPECT_EQ(sumTo("4x1xf32", {4, 1}), "%0 = aten.sum.dim_IntList(dim [0], keepdim false, self a): 4x6xf32\n"
                                      "%1 = aten.sum.dim_IntList(dim [1], keepdim true, self %0): 4x1xf32\nr: %1");
  EXPECT_EQ(sumTo("f32", {}), "%0 = aten.sum.dim_IntList(dim [0, 1, 2], keepdim false, self a): f32\nr: %0");
}

TEST_F(ArithmeticTest, DimsAreOrdered) {
  EXPECT_EQ(make("2x4x6xf32, f32", "2x6x4xf32",
                 [](const Arithmetic &math, mlir::Value a, mlir::Value) { return math.transpose(a); }),
            "%0 = aten.permute.default(dims [0, 2, 1], self a): 2x6x4xf32\nr: %0");
}

} // namespace
