//===- arithmetic_test.cpp - small linear forms against int64 -------------===//

#include "evaluate.h"
#include "llvm/Support/MathExtras.h"
#include <gtest/gtest.h>

using namespace meshplan::indexing;

namespace {

const std::vector<int64_t> matrix = {3, 4};

/// Calls `visit` with a * d0 + b * d1 + c as an expression and as a function, for all small a, b and c.
void forEachLinear(ExprBuilder &builder,
                   const std::function<void(Expr, const std::function<int64_t(const Coordinates &)> &)> &visit) {
  Expr x = builder.coordinate(0, matrix[0]), y = builder.coordinate(1, matrix[1]);
  for (int64_t a = -4; a <= 4; ++a)
    for (int64_t b = -4; b <= 4; ++b)
      for (int64_t c = -3; c <= 3; ++c)
        visit(builder.add(builder.add(builder.multiply(x, a), builder.multiply(y, b)), builder.integer(c)),
              [=](const Coordinates &at) { return a * at[0] + b * at[1] + c; });
}

/// Both have the same value at every coordinate, and the bounds hold.
void expectSame(Expr expr, const std::function<int64_t(const Coordinates &)> &value) {
  ASSERT_TRUE(expr);
  forEachElement(matrix, [&](const Coordinates &at) {
    ASSERT_EQ(evaluate(expr, at), value(at)) << text(expr);
    ASSERT_LE(expr->low, value(at)) << text(expr);
    ASSERT_GE(expr->high, value(at)) << text(expr);
  });
}

TEST(Arithmetic, QuotientsAndRemaindersOfLinearForms) {
  ExprBuilder builder;
  forEachLinear(builder, [&](Expr linear, const auto &value) {
    for (int64_t divisor = 1; divisor <= 8; ++divisor) {
      expectSame(builder.floorDivide(linear, divisor),
                 [&](auto &at) { return llvm::divideFloorSigned(value(at), divisor); });
      expectSame(builder.modulo(linear, divisor), [&](auto &at) { return llvm::mod(value(at), divisor); });
    }
  });
}

TEST(Arithmetic, QuotientsOfQuotientsAndRemainders) {
  ExprBuilder builder;
  forEachLinear(builder, [&](Expr linear, const auto &value) {
    for (int64_t first : {2, 3, 4})
      for (int64_t second : {2, 3, 6}) {
        auto quotient = [&](auto &at) { return llvm::divideFloorSigned(value(at), first); };
        auto remainder = [&](auto &at) { return llvm::mod(value(at), first); };
        expectSame(builder.floorDivide(builder.floorDivide(linear, first), second),
                   [&](auto &at) { return llvm::divideFloorSigned(quotient(at), second); });
        expectSame(builder.modulo(builder.floorDivide(linear, first), second),
                   [&](auto &at) { return llvm::mod(quotient(at), second); });
        expectSame(builder.floorDivide(builder.modulo(linear, first), second),
                   [&](auto &at) { return llvm::divideFloorSigned(remainder(at), second); });
        expectSame(builder.modulo(builder.modulo(linear, first), second),
                   [&](auto &at) { return llvm::mod(remainder(at), second); });
      }
  });
}

TEST(Arithmetic, ComparisonsOfLinearForms) {
  ExprBuilder builder;
  forEachLinear(builder, [&](Expr linear, const auto &value) {
    Expr zero = builder.integer(0);
    expectSame(builder.atMost(linear, zero), [&](auto &at) { return value(at) <= 0; });
    expectSame(builder.lessThan(zero, linear), [&](auto &at) { return 0 < value(at); });
    expectSame(builder.equal(linear, zero), [&](auto &at) { return value(at) == 0; });
    expectSame(builder.asBoolean(linear), [&](auto &at) { return value(at) != 0; });
    EXPECT_EQ(builder.logicalNot(builder.atMost(linear, zero)), builder.lessThan(zero, linear)) << text(linear);
  });
}

TEST(Arithmetic, BoundsOfLinearFormsAreReached) {
  ExprBuilder builder;
  forEachLinear(builder, [&](Expr linear, const auto &value) {
    int64_t low = INT64_MAX, high = INT64_MIN;
    forEachElement(matrix, [&](const Coordinates &at) {
      low = std::min(low, value(at));
      high = std::max(high, value(at));
    });
    EXPECT_EQ(linear->low, low) << text(linear);
    EXPECT_EQ(linear->high, high) << text(linear);
  });
}

TEST(Arithmetic, ALinearFormHasOneNormalForm) {
  // Equal functions of the coordinates are the same pointer, in whatever order they were built.
  ExprBuilder builder;
  Expr x = builder.coordinate(0, matrix[0]), y = builder.coordinate(1, matrix[1]);
  forEachLinear(builder, [&](Expr linear, const auto &value) {
    int64_t c = value({0, 0}), a = value({1, 0}) - c, b = value({0, 1}) - c;
    Expr other = builder.subtract(builder.integer(c), builder.multiply(y, -b));
    EXPECT_EQ(builder.add(other, builder.multiply(x, a)), linear);
    EXPECT_EQ(builder.subtract(builder.multiply(linear, 3), builder.add(linear, linear)), linear);
    EXPECT_TRUE(builder.subtract(linear, linear)->isConstant(0));
  });
}

TEST(Arithmetic, PositionsOfAReshapeComeApart) {
  // (x * 4 + y) is the row-major position: its quotient and remainder by 4 are x and y, by 2 they split y.
  ExprBuilder builder;
  Expr x = builder.coordinate(0, 3), y = builder.coordinate(1, 4), position = builder.add(builder.multiply(x, 4), y);
  EXPECT_EQ(builder.floorDivide(position, 4), x);
  EXPECT_EQ(builder.modulo(position, 4), y);
  EXPECT_EQ(builder.modulo(position, 2), builder.modulo(y, 2));
  EXPECT_EQ(builder.floorDivide(position, 2), builder.add(builder.multiply(x, 2), builder.floorDivide(y, 2)));
  EXPECT_TRUE(builder.floorDivide(position, 12)->isConstant(0));
  EXPECT_EQ(builder.modulo(position, 12), position);
}

TEST(Arithmetic, WhatDoesNotFitIsNotKnown) {
  ExprBuilder builder;
  Expr large = builder.element(0, {}, {ExprType::Integer, 0, INT64_MAX});
  Expr least = builder.element(1, {}, {ExprType::Integer, INT64_MIN, 0});
  EXPECT_FALSE(builder.add(large, builder.integer(1)));
  EXPECT_FALSE(builder.add(large, large));
  EXPECT_FALSE(builder.multiply(large, 2));
  EXPECT_FALSE(builder.multiply(least, -1));
  EXPECT_FALSE(builder.subtract(builder.integer(0), least));
  EXPECT_FALSE(builder.multiply(builder.integer(INT64_MAX), INT64_MAX));
  EXPECT_TRUE(builder.subtract(large, builder.integer(INT64_MAX))) << "down to -INT64_MAX fits";
  EXPECT_EQ(builder.multiply(large, 1), large);
  EXPECT_TRUE(builder.multiply(large, 0)->isConstant(0));
}

TEST(Arithmetic, OnlyIntegersAndBooleansCount) {
  ExprBuilder builder;
  Expr x = builder.coordinate(0, 3), real = builder.number(2), flag = builder.lessThan(x, builder.integer(2));
  for (Expr wrong : {real, Expr(nullptr)}) {
    EXPECT_FALSE(builder.add(x, wrong));
    EXPECT_FALSE(builder.subtract(wrong, x));
    EXPECT_FALSE(builder.multiply(wrong, 2));
    EXPECT_FALSE(builder.floorDivide(wrong, 2));
    EXPECT_FALSE(builder.modulo(wrong, 2));
    EXPECT_FALSE(builder.atMost(x, wrong));
    EXPECT_FALSE(builder.equal(wrong, x));
  }
  EXPECT_FALSE(builder.modulo(x, 0));
  EXPECT_FALSE(builder.floorDivide(x, -2));
  auto value = [](auto &at) { return at[0] < 2; };
  expectSame(builder.asInteger(flag), value);
  EXPECT_EQ(builder.asInteger(flag)->type, ExprType::Integer);
  expectSame(builder.floorDivide(flag, 1), value);
  expectSame(builder.modulo(builder.add(flag, builder.integer(1)), 2), [](auto &at) { return at[0] < 2 ? 0 : 1; });
}

} // namespace
