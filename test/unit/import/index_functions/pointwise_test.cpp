//===- pointwise_test.cpp - operators, element by element -----------------===//

#include "compiler/transforms/import/index_functions/index_functions.h"
#include "test/unit/import/program_text.h"
#include "test/unit/indexing/evaluate.h"
#include "llvm/Support/MathExtras.h"

using namespace meshplan;
using namespace meshplan::indexing;

namespace {

/// `n` has the values 0 to 6, `s` is n - 3, both int64; `p` is n < 4 and `q` is n > 1.
class Pointwise : public ProgramText {
protected:
  void readLines(std::vector<std::string> lines, llvm::StringRef arguments = "") {
    std::vector<std::string> all = {"n = aten.arange.default() {end = 7} : 7xi64",
                                    "s = aten.sub.Tensor(n: 7xi64) {self = #base.operand<0>, other = 3} : 7xi64",
                                    "p = aten.lt.Scalar(n: 7xi64) {self = #base.operand<0>, other = 4} : 7xi1",
                                    "q = aten.gt.Scalar(n: 7xi64) {self = #base.operand<0>, other = 1} : 7xi1"};
    llvm::append_range(all, lines);
    read(arguments, all);
  }

  /// The seven elements of the last value; empty if it is not recognized.
  std::vector<int64_t> elements(const std::string &line, llvm::StringRef arguments = "") {
    readLines({line}, arguments);
    IndexFunctions functions;
    Expr expr = functions.of(last());
    std::vector<int64_t> result;
    if (expr->kind != ExprKind::Element)
      for (int64_t at = 0; at < 7; ++at)
        result.push_back(evaluate(expr, {at}));
    return result;
  }

  template <typename Function> static std::vector<int64_t> computed(Function function) {
    std::vector<int64_t> result;
    for (int64_t n = 0; n < 7; ++n)
      result.push_back(function(n));
    return result;
  }

  static std::string scalar(llvm::StringRef target, int64_t other, llvm::StringRef type = "7xi64",
                            llvm::StringRef more = "") {
    return ("r = aten." + target + "(s: 7xi64) {self = #base.operand<0>, other = " + llvm::Twine(other) + more +
            "} : " + type)
        .str();
  }
  static std::string tensors(llvm::StringRef target, llvm::StringRef left, llvm::StringRef right, llvm::StringRef type,
                             llvm::StringRef more = "") {
    return ("r = aten." + target + "(" + left + ", " + right + ") {self = #base.operand<0>, other = #base.operand<1>" +
            more + "} : " + type)
        .str();
  }
};

TEST_F(Pointwise, ArithmeticWithLiterals) {
  for (int64_t other : {-4, -1, 0, 1, 3}) {
    EXPECT_EQ(elements(scalar("add.Tensor", other)), computed([&](int64_t n) { return n - 3 + other; }));
    EXPECT_EQ(elements(scalar("add.Scalar", other, "7xi64", ", alpha = 2")),
              computed([&](int64_t n) { return n - 3 + 2 * other; }));
    EXPECT_EQ(elements(scalar("sub.Scalar", other, "7xi64", ", alpha = -3")),
              computed([&](int64_t n) { return n - 3 + 3 * other; }));
    EXPECT_EQ(elements(scalar("rsub.Scalar", other, "7xi64", ", alpha = 2")),
              computed([&](int64_t n) { return other - 2 * (n - 3); }));
    EXPECT_EQ(elements(scalar("mul.Tensor", other)), computed([&](int64_t n) { return (n - 3) * other; }));
  }
  EXPECT_EQ(elements("r = aten.neg.default(s: 7xi64) {self = #base.operand<0>} : 7xi64"),
            computed([](int64_t n) { return 3 - n; }));
}

TEST_F(Pointwise, DivisionsRoundDownAndDivisorsAreAboveZero) {
  for (int64_t other : {1, 2, 5}) {
    auto quotient = computed([&](int64_t n) { return llvm::divideFloorSigned(n - 3, other); });
    EXPECT_EQ(elements(scalar("floor_divide.default", other)), quotient);
    EXPECT_EQ(elements(scalar("div.Scalar_mode", other, "7xi64", ", rounding_mode = \"floor\"")), quotient);
    EXPECT_EQ(elements(scalar("remainder.Scalar", other)),
              computed([&](int64_t n) { return llvm::mod(n - 3, other); }));
  }
  using Unknown = std::vector<int64_t>;
  for (int64_t other : {0, -2})
    for (const char *target : {"floor_divide.default", "remainder.Scalar"})
      EXPECT_EQ(elements(scalar(target, other)), Unknown()) << target << " by " << other;
  EXPECT_EQ(elements(scalar("div.Tensor_mode", 2, "7xi64", ", rounding_mode = \"trunc\"")), Unknown());
  EXPECT_EQ(elements(scalar("div.Tensor_mode", 2, "7xf32")), Unknown());
}

TEST_F(Pointwise, ComparisonsWithLiteralsAndTensors) {
  std::pair<const char *, bool (*)(int64_t, int64_t)> comparisons[] = {
      {"eq", [](int64_t a, int64_t b) { return a == b; }}, {"ne", [](int64_t a, int64_t b) { return a != b; }},
      {"lt", [](int64_t a, int64_t b) { return a < b; }},  {"le", [](int64_t a, int64_t b) { return a <= b; }},
      {"gt", [](int64_t a, int64_t b) { return a > b; }},  {"ge", [](int64_t a, int64_t b) { return a >= b; }}};
  for (auto [name, compare] : comparisons) {
    for (int64_t other : {-9, -3, 0, 2, 3, 9})
      EXPECT_EQ(elements(scalar(std::string(name) + ".Scalar", other, "7xi1")),
                computed([compare = compare, other](int64_t n) -> int64_t { return compare(n - 3, other); }))
          << name << ' ' << other;
    EXPECT_EQ(elements(tensors(std::string(name) + ".Tensor", "n: 7xi64", "s: 7xi64", "7xi1")),
              computed([compare = compare](int64_t n) -> int64_t { return compare(n, n - 3); }))
        << name;
  }
}

TEST_F(Pointwise, LogicOfBooleans) {
  auto p = [](int64_t n) { return n < 4; };
  auto q = [](int64_t n) { return n > 1; };
  for (const char *target : {"__and__.Tensor", "bitwise_and.Tensor", "logical_and.default", "mul.Tensor"})
    EXPECT_EQ(elements(tensors(target, "p: 7xi1", "q: 7xi1", "7xi1")),
              computed([&](int64_t n) { return p(n) && q(n); }))
        << target;
  for (const char *target : {"__or__.Tensor", "bitwise_or.Tensor", "logical_or.default", "add.Tensor"})
    EXPECT_EQ(elements(tensors(target, "p: 7xi1", "q: 7xi1", "7xi1")),
              computed([&](int64_t n) { return p(n) || q(n); }))
        << target;
  for (const char *target : {"__xor__.Tensor", "bitwise_xor.Tensor", "logical_xor.default"})
    EXPECT_EQ(elements(tensors(target, "p: 7xi1", "q: 7xi1", "7xi1")),
              computed([&](int64_t n) { return p(n) != q(n); }))
        << target;
  for (const char *target : {"logical_not.default", "bitwise_not.default"})
    EXPECT_EQ(elements(std::string("r = aten.") + target + "(p: 7xi1) {self = #base.operand<0>} : 7xi1"),
              computed([&](int64_t n) { return !p(n); }));
}

TEST_F(Pointwise, LogicOfIntegersIsThatTheyAreNotZero) {
  EXPECT_EQ(elements(tensors("logical_and.default", "s: 7xi64", "n: 7xi64", "7xi1")),
            computed([](int64_t n) { return n != 3 && n != 0; }));
  EXPECT_EQ(elements("r = aten.logical_not.default(s: 7xi64) {self = #base.operand<0>} : 7xi1"),
            computed([](int64_t n) { return n == 3; }));
  // Bitwise operators on integers are not logical ones.
  EXPECT_EQ(elements(tensors("bitwise_and.Tensor", "s: 7xi64", "n: 7xi64", "7xi64")), std::vector<int64_t>());
  EXPECT_EQ(elements("r = aten.bitwise_not.default(s: 7xi64) {self = #base.operand<0>} : 7xi64"),
            std::vector<int64_t>());
}

TEST_F(Pointwise, Choices) {
  EXPECT_EQ(elements("r = aten.where.self(p: 7xi1, n: 7xi64, s: 7xi64) {condition = #base.operand<0>, self = "
                     "#base.operand<1>, other = #base.operand<2>} : 7xi64"),
            computed([](int64_t n) { return n < 4 ? n : n - 3; }));
  EXPECT_EQ(elements("r = aten.where.ScalarOther(p: 7xi1, n: 7xi64) {condition = #base.operand<0>, self = "
                     "#base.operand<1>, other = -1} : 7xi64"),
            computed([](int64_t n) { return n < 4 ? n : -1; }));
  EXPECT_EQ(
      elements("r = aten.masked_fill.Scalar(n: 7xi64, p: 7xi1) {self = #base.operand<0>, mask = #base.operand<1>, "
               "value = 9} : 7xi64"),
      computed([](int64_t n) { return n < 4 ? 9 : n; }));
}

TEST_F(Pointwise, TrianglesOfAMatrix) {
  for (int64_t diagonal = -3; diagonal <= 4; ++diagonal)
    for (bool upper : {true, false}) {
      readLines({"o = aten.full.default() {size = [3, 4], fill_value = true, dtype = i1} : 3x4xi1",
                 std::string("r = aten.") + (upper ? "triu" : "tril") +
                     ".default(o: 3x4xi1) {self = #base.operand<0>, diagonal = " + std::to_string(diagonal) +
                     "} : 3x4xi1"});
      IndexFunctions functions;
      Expr expr = functions.of(last());
      forEachElement({3, 4}, [&](const Coordinates &at) {
        bool kept = upper ? at[1] - at[0] >= diagonal : at[1] - at[0] <= diagonal;
        EXPECT_EQ(evaluate(expr, at), kept) << text(expr) << " with " << diagonal;
      });
    }
}

TEST_F(Pointwise, WhatMayWrapOrIsNotKnownIsNotUnderstood) {
  using Unknown = std::vector<int64_t>;
  EXPECT_EQ(elements(tensors("mul.Tensor", "n: 7xi64", "s: 7xi64", "7xi64")), Unknown()) << "a square of positions";
  EXPECT_EQ(elements("r = aten.add.Tensor(x: 7xi8) {self = #base.operand<0>, other = 1} : 7xi8", "x: 7xi8"), Unknown());
  EXPECT_EQ(elements(tensors("floor_divide.default", "n: 7xi64", "x: 7xi64", "7xi64"), "x: 7xi64"), Unknown());
  EXPECT_EQ(elements("r = aten.lt.Scalar(n: 7xi64) {self = #base.operand<0>, other = 0.5} : 7xi1"), Unknown());
}

} // namespace
