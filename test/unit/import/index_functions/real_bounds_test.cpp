//===- real_bounds_test.cpp - intervals against hand-computed bounds ------===//

#include "compiler/transforms/import/index_functions/real_bounds.h"
#include "test/unit/import/program_text.h"
#include "llvm/Support/Format.h"

using namespace meshplan;

namespace {

/// Programs end with the value whose bounds are computed. `n` has the values 0 to 7 as f32.
class RealBounds : public ProgramText {
protected:
  void readLines(std::vector<std::string> lines, llvm::StringRef arguments = "") {
    std::vector<std::string> all = {"i = aten.arange.default() {end = 8} : 8xi64",
                                    "n = aten.to.dtype(i: 8xi64) {self = #base.operand<0>, dtype = f32} : 8xf32"};
    llvm::append_range(all, lines);
    read(arguments, all);
  }

  /// "low high", or "none".
  std::string bounds(std::vector<std::string> lines, llvm::StringRef arguments = "") {
    readLines(lines, arguments);
    IndexFunctions functions;
    std::optional<RealInterval> found = boundsOf(last(), functions);
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (found)
      stream << llvm::format("%g %g", found->low, found->high);
    return found ? text : "none";
  }

  bool moderate(std::vector<std::string> lines, llvm::StringRef arguments = "") {
    readLines(lines, arguments);
    IndexFunctions functions;
    return isModerate(last(), functions);
  }

  static std::string unary(llvm::StringRef to, llvm::StringRef target, llvm::StringRef from, llvm::StringRef args = "",
                           llvm::StringRef type = "8xf32", llvm::StringRef fromType = "8xf32") {
    return (to + " = " + target + "(" + from + ": " + fromType + ") {self = #base.operand<0>" + args + "} : " + type)
        .str();
  }
  static std::string binary(llvm::StringRef to, llvm::StringRef target, llvm::StringRef left, llvm::StringRef right,
                            llvm::StringRef args = "") {
    return (to + " = " + target + "(" + left + ": 8xf32, " + right +
            ": 8xf32) {self = #base.operand<0>, other = #base.operand<1>" + args + "} : 8xf32")
        .str();
  }
};

TEST_F(RealBounds, PositionsAndLiterals) {
  EXPECT_EQ(bounds({}), "0 7");
  EXPECT_EQ(bounds({"a = aten.full.default() {size = [2], fill_value = -2.5, dtype = f32} : 2xf32"}), "-2.5 -2.5");
  EXPECT_EQ(bounds({"a = aten.arange.start_step() {start = 1.5, end = -3.0, step = -0.5, dtype = f32} : 9xf32"}),
            "-3 1.5");
}

TEST_F(RealBounds, ArithmeticOfIntervals) {
  EXPECT_EQ(bounds({unary("a", "aten.neg.default", "n")}), "-7 -0");
  EXPECT_EQ(bounds({unary("a", "aten.add.Tensor", "n", ", other = -3.0")}), "-3 4");
  EXPECT_EQ(bounds({unary("a", "aten.add.Scalar", "n", ", other = 2.0, alpha = 3")}), "6 13");
  EXPECT_EQ(bounds({unary("a", "aten.sub.Tensor", "n", ", other = 2.0, alpha = 3")}), "-6 1");
  EXPECT_EQ(bounds({unary("a", "aten.mul.Tensor", "n", ", other = -2.0")}), "-14 -0");
  EXPECT_EQ(bounds({unary("a", "aten.div.Scalar", "n", ", other = -2.0")}), "-3.5 -0");
  // For the product of two intervals all corners count: [-3, 4] times [-3, 4].
  EXPECT_EQ(bounds({unary("a", "aten.add.Tensor", "n", ", other = -3.0"), binary("b", "aten.mul.Tensor", "a", "a")}),
            "-12 16");
  EXPECT_EQ(bounds({unary("a", "aten.add.Tensor", "n", ", other = -3.0"), binary("b", "aten.sub.Tensor", "n", "a")}),
            "-4 10");
}

TEST_F(RealBounds, QuotientsOfIntervalsWithZeroAreUnknown) {
  EXPECT_EQ(bounds({unary("a", "aten.reciprocal.default", "n")}), "none");
  EXPECT_EQ(bounds({unary("a", "aten.add.Tensor", "n", ", other = 1.0"), unary("b", "aten.reciprocal.default", "a")}),
            "0.125 1");
  EXPECT_EQ(bounds({unary("a", "aten.sub.Tensor", "n", ", other = 8.0"), binary("b", "aten.div.Tensor", "n", "a")}),
            "-7 -0");
  EXPECT_EQ(bounds({unary("a", "aten.div.Tensor", "n", ", other = 0.0")}), "none");
}

TEST_F(RealBounds, PowersOfPositiveNumbers) {
  auto power = [&](llvm::StringRef base) {
    return bounds(
        {unary("a", "aten.add.Tensor", "n", base), unary("b", "aten.pow.Tensor_Scalar", "a", ", exponent = -2.0")});
  };
  EXPECT_EQ(power(", other = 1.0"), "0.015625 1");
  EXPECT_EQ(power(", other = 0.0"), "none");
  EXPECT_EQ(power(", other = -1.0"), "none");
  EXPECT_EQ(bounds({"b = aten.pow.Scalar(n: 8xf32) {self = 0.5, exponent = #base.operand<0>} : 8xf32"}), "0.0078125 1");
}

TEST_F(RealBounds, WhatMovesKeepsItsBounds) {
  EXPECT_EQ(bounds({unary("a", "aten.add.Tensor", "n", ", other = 0.5"),
                    unary("b", "aten.view.default", "a", ", size = [2, 4]", "2x4xf32")}),
            "0.5 7.5");
}

TEST_F(RealBounds, WhatIsNotFollowedIsUnknown) {
  EXPECT_EQ(bounds({unary("a", "aten.exp.default", "n")}), "none");
  EXPECT_EQ(bounds({binary("a", "aten.add.Tensor", "n", "x")}, "x: 8xf32"), "none");
  EXPECT_EQ(bounds({unary("a", "aten.mul.Tensor", "n", ", other = \"x\"")}), "none");
}

TEST_F(RealBounds, IntegersAreCutOff) {
  // 0.5 to 7.5 as integers are 0 to 7; -0.5 to 6.5 are 0 to 6.
  for (auto [args, expected] : {std::pair("aten.add.Tensor", "0 7"), {"aten.sub.Tensor", "-0 6"}})
    EXPECT_EQ(
        bounds({unary("a", args, "n", ", other = 0.5"), unary("b", "aten.to.dtype", "a", ", dtype = i64", "8xi64")}),
        expected);
}

TEST_F(RealBounds, NumbersBeyondTheTypeAreNotFinite) {
  std::string large = unary("a", "aten.mul.Tensor", "n", ", other = 10000.5");
  EXPECT_EQ(bounds({large, unary("b", "aten.to.dtype", "a", ", dtype = bf16", "8xbf16")}), "0 70003.5");
  EXPECT_EQ(bounds({large, unary("b", "aten.to.dtype", "a", ", dtype = f16", "8xf16")}), "none") << "infinite in f16";
  EXPECT_EQ(bounds({large, unary("b", "aten.to.dtype", "a", ", dtype = i16", "8xi16")}), "-32768 32767")
      << "wraps: any number of the type";
  EXPECT_EQ(bounds({unary("a", "aten.mul.Tensor", "n", ", other = 1.0e38"),
                    unary("b", "aten.mul.Tensor", "a", ", other = 9.5")}),
            "none");
}

TEST_F(RealBounds, AreReachedOnAGrid) {
  // (n - 3) * (n + 1) / 4 is inside the interval at each n; the interval is at most that of the corners.
  std::vector<std::string> lines = {
      unary("a", "aten.sub.Tensor", "n", ", other = 3.0"), unary("b", "aten.add.Tensor", "n", ", other = 1.0"),
      binary("c", "aten.mul.Tensor", "a", "b"), unary("d", "aten.div.Tensor", "c", ", other = 4.0")};
  readLines(lines);
  IndexFunctions functions;
  std::optional<RealInterval> found = boundsOf(last(), functions);
  ASSERT_TRUE(found);
  for (int n = 0; n < 8; ++n) {
    EXPECT_LE(found->low, (n - 3) * (n + 1) / 4.0);
    EXPECT_GE(found->high, (n - 3) * (n + 1) / 4.0);
  }
}

TEST_F(RealBounds, AnEndlessChainIsGivenUp) {
  std::vector<std::string> lines = {unary("v0", "aten.add.Tensor", "n", ", other = 0.5")};
  for (int index = 1; index < 100; ++index)
    lines.push_back(
        unary("v" + std::to_string(index), "aten.add.Tensor", "v" + std::to_string(index - 1), ", other = 0.5"));
  EXPECT_EQ(bounds(lines), "none");
}

TEST_F(RealBounds, ModerateNumbersAreFarFromTheLowest) {
  EXPECT_TRUE(moderate({unary("a", "aten.mul.Tensor", "n", ", other = -1.0e9")}));
  EXPECT_FALSE(moderate({unary("a", "aten.mul.Tensor", "n", ", other = -1.0e35")}));
}

TEST_F(RealBounds, WhatAModelLearnsIsModerate) {
  constexpr char learned[] = "w: 8xf32 {plan.kind = #plan.kind<parameter>}",
                 fed[] = "w: 8xf32 {plan.kind = #plan.kind<input>}";
  std::vector<std::string> sum = {unary("e", "aten.exp.default", "w"), binary("a", "aten.mul.Tensor", "n", "e")};
  EXPECT_TRUE(moderate(sum, learned));
  EXPECT_FALSE(moderate(sum, fed));
  EXPECT_FALSE(moderate(sum, "w: 8xf32")) << "of no kind";
  sum.push_back(unary("b", "aten.sub.Tensor", "a", ", other = 1.0e35"));
  EXPECT_FALSE(moderate(sum, learned)) << "beside a literal that is not";
}

TEST_F(RealBounds, WhatALayerComputesIsModerate) {
  constexpr char fed[] = "x: 8x8xf32 {plan.kind = #plan.kind<input>}";
  std::string product = "p = aten.matmul.default(x: 8x8xf32, x: 8x8xf32) {self = #base.operand<0>, other = "
                        "#base.operand<1>} : 8x8xf32",
              total = "t = aten.sum.dim_IntList(x: 8x8xf32) {self = #base.operand<0>, dim = [1]} : 8xf32",
              half = unary("h", "aten.mul.Tensor", "p", ", other = 0.5", "8x8xf32", "8x8xf32");
  EXPECT_TRUE(moderate({product, half}, fed));
  EXPECT_TRUE(moderate({total}, fed));
  EXPECT_FALSE(moderate({product, unary("l", "aten.mul.Tensor", "p", ", other = -3.0e38", "8x8xf32", "8x8xf32")}, fed))
      << "after the product";
  EXPECT_FALSE(moderate({"e = aten.exp.default(x: 8x8xf32) {self = #base.operand<0>} : 8x8xf32"}, fed));
  EXPECT_FALSE(moderate({"p = aten.embedding.default(x: 8x8xf32, i: 8xi64) {weight = #base.operand<0>, indices = "
                         "#base.operand<1>} : 8x8xf32"},
                        fed))
      << "a row that is looked up is one of the input's";
}

TEST_F(RealBounds, IntegersThatAreGivenAreModerate) {
  constexpr char fed[] = "k: 8xi64 {plan.kind = #plan.kind<input>}";
  std::string real = unary("r", "aten.to.dtype", "k", ", dtype = f32", "8xf32", "8xi64");
  EXPECT_TRUE(moderate({real, binary("a", "aten.mul.Tensor", "n", "r")}, fed));
  EXPECT_FALSE(moderate({real, unary("a", "aten.mul.Tensor", "r", ", other = -3.0e38")}, fed));
}

} // namespace
