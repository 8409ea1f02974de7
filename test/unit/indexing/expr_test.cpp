//===- expr_test.cpp - the normal form of expressions ---------------------===//

#include "evaluate.h"
#include <gtest/gtest.h>

using namespace meshplan::indexing;

namespace {

class ExprTest : public ::testing::Test {
protected:
  ExprBuilder builder;
  Expr row = builder.coordinate(0, 8);
  Expr column = builder.coordinate(1, 8);
  Expr integer(int64_t value) { return builder.integer(value); }
  Expr element(ExprType type) { return builder.element(7, {row}, {type}); }
};

TEST_F(ExprTest, EqualExpressionsAreTheSamePointer) {
  EXPECT_EQ(builder.add(row, column), builder.add(column, row));
  EXPECT_EQ(builder.subtract(builder.add(row, column), row), column);
  EXPECT_EQ(builder.subtract(row, row), integer(0));
  EXPECT_EQ(builder.multiply(builder.add(row, integer(2)), 3), builder.add(builder.multiply(row, 3), integer(6)));
}

TEST_F(ExprTest, FormsOfOneComparisonAreTheSame) {
  Expr atMost = builder.atMost(column, row);
  EXPECT_EQ(atMost, builder.lessThan(column, builder.add(row, integer(1))));
  EXPECT_EQ(atMost, builder.logicalNot(builder.lessThan(row, column)));
  EXPECT_EQ(atMost, builder.atMost(builder.subtract(column, row), integer(0)));
  EXPECT_EQ(atMost, builder.atMost(builder.multiply(column, 3), builder.add(builder.multiply(row, 3), integer(2))));
  EXPECT_EQ(text(atMost), "(-1 * d0 + d1) <= 0");
}

TEST_F(ExprTest, BoundsDecideComparisons) {
  EXPECT_TRUE(builder.atMost(row, integer(7))->isTrue());
  EXPECT_TRUE(builder.lessThan(row, integer(0))->isFalse());
  EXPECT_TRUE(builder.equal(row, integer(8))->isFalse());
  EXPECT_TRUE(builder.equal(builder.multiply(row, 2), integer(3))->isFalse());
  EXPECT_TRUE(builder.equal(builder.add(row, column), builder.add(column, row))->isTrue());
}

TEST_F(ExprTest, QuotientAndRemainderJoin) {
  Expr joined = builder.add(builder.multiply(builder.floorDivide(row, 3), 3), builder.modulo(row, 3));
  EXPECT_EQ(joined, row);
  Expr position = builder.add(builder.multiply(row, 8), column);
  EXPECT_EQ(builder.floorDivide(position, 8), row);
  EXPECT_EQ(builder.modulo(position, 8), column);
  EXPECT_EQ(text(builder.floorDivide(position, 16)), "(d0 floordiv 2)");
  EXPECT_EQ(builder.floorDivide(builder.floorDivide(row, 2), 2), builder.floorDivide(row, 4));
}

TEST_F(ExprTest, DigitsOfAQuotientJoin) {
  // The three digits of a pair in [4, 8, 2] and in [32, 2]: views between them give the same positions.
  Expr pair = builder.coordinate(0, 64), half = builder.floorDivide(pair, 2);
  Expr digits = builder.add(builder.multiply(builder.floorDivide(pair, 16), 8), builder.modulo(half, 8));
  EXPECT_EQ(digits, half);
  EXPECT_EQ(builder.add(builder.multiply(digits, 2), builder.modulo(pair, 2)), pair);
  // Not the digits of one number.
  EXPECT_EQ(text(builder.add(builder.multiply(builder.floorDivide(pair, 12), 8), builder.modulo(half, 8))),
            "(((d0 floordiv 2) mod 8) + 8 * (d0 floordiv 12))");
}

TEST_F(ExprTest, BooleansCountAsZeroAndOne) {
  Expr flag = element(ExprType::Boolean);
  EXPECT_EQ(builder.asBoolean(builder.asInteger(flag)), flag);
  EXPECT_EQ(builder.equal(builder.asInteger(flag), integer(1)), flag);
  EXPECT_EQ(builder.equal(builder.asInteger(flag), integer(0)), builder.logicalNot(flag));
  EXPECT_EQ(builder.lessThan(integer(0), builder.asInteger(flag)), flag);
  EXPECT_EQ(builder.lessThan(builder.asInteger(flag), integer(1)), builder.logicalNot(flag));
  EXPECT_EQ(text(builder.asBoolean(element(ExprType::Integer))), "not (%7[d0] == 0)");
}

TEST_F(ExprTest, JunctionsAreFlatAndNegationsInside) {
  Expr left = builder.lessThan(row, column), right = element(ExprType::Boolean);
  EXPECT_EQ(builder.logicalAnd({left, right, left}), builder.logicalAnd({right, left}));
  EXPECT_EQ(builder.logicalAnd({left, builder.boolean(true)}), left);
  EXPECT_TRUE(builder.logicalAnd({left, builder.boolean(false)})->isFalse());
  EXPECT_TRUE(builder.logicalOr({left, builder.boolean(true)})->isTrue());
  EXPECT_TRUE(builder.logicalOr({})->isFalse());
  EXPECT_EQ(builder.logicalNot(builder.logicalOr({left, right})),
            builder.logicalAnd({builder.logicalNot(right), builder.atMost(column, row)}));
}

TEST_F(ExprTest, BranchesThatAgreeMerge) {
  Expr first = builder.lessThan(row, integer(1)), previous = builder.subtract(row, integer(1));
  EXPECT_EQ(builder.select(first, integer(-1), previous), previous);
  EXPECT_EQ(builder.select(builder.logicalNot(first), previous, integer(-1)), previous);
  EXPECT_EQ(builder.select(builder.equal(row, integer(3)), integer(3), row), row);
  EXPECT_EQ(builder.select(builder.atMost(integer(7), row), integer(14), builder.multiply(row, 2)),
            builder.multiply(row, 2));
  EXPECT_EQ(builder.select(first, integer(0), previous)->kind, ExprKind::Select);
  EXPECT_EQ(builder.select(builder.lessThan(row, integer(2)), integer(-1), previous)->kind, ExprKind::Select);
}

TEST_F(ExprTest, WhatIsNotKnownStaysNotKnown) {
  Expr wide = element(ExprType::Integer);
  EXPECT_EQ(builder.add(wide, integer(1)), nullptr);
  EXPECT_EQ(builder.multiply(wide, -1), nullptr);
  EXPECT_EQ(builder.multiply(integer(INT64_MAX), 2), nullptr);
  EXPECT_EQ(builder.add(nullptr, row), nullptr);
  EXPECT_EQ(builder.logicalAnd({nullptr, builder.boolean(true)}), nullptr);
  EXPECT_EQ(builder.select(nullptr, row, row), nullptr);
  EXPECT_EQ(builder.add(builder.number(1), row), nullptr);
  EXPECT_EQ(builder.equal(builder.number(1), builder.number(1)), nullptr);
  EXPECT_EQ(builder.logicalNot(row), nullptr);
  EXPECT_EQ(builder.floorDivide(row, 0), nullptr);
}

TEST_F(ExprTest, NumbersAtTheLimits) {
  Expr flag = element(ExprType::Boolean);
  EXPECT_EQ(builder.multiply(flag, INT64_MIN), nullptr);
  EXPECT_EQ(builder.add(builder.integer(INT64_MIN), flag), nullptr);
  Expr half = builder.floorDivide(builder.element(7, {row}, {ExprType::Integer, 0, INT64_MAX}), INT64_MAX / 2);
  EXPECT_EQ(text(builder.floorDivide(half, 2)), "(%7[d0] floordiv 9223372036854775806)");
  EXPECT_EQ(text(builder.floorDivide(half, 3)), "0");
}

TEST_F(ExprTest, NestingIsLimited) {
  Expr deep = row;
  int64_t tensor = 0;
  while (deep && tensor < 100000)
    deep = builder.element(tensor++, {deep}, {ExprType::Integer, 0, 7});
  EXPECT_LT(tensor, 1000);
}

TEST_F(ExprTest, SubstitutionSimplifies) {
  Expr causal = builder.atMost(column, row);
  EXPECT_TRUE(builder.substitute(causal, {row, row})->isTrue());
  EXPECT_TRUE(builder.substitute(causal, {integer(7), column})->isTrue());
  EXPECT_EQ(builder.substitute(causal, {row}), nullptr);
  EXPECT_EQ(text(builder.substitute(element(ExprType::Boolean), {column})), "%7[d1]");
}

TEST_F(ExprTest, Text) {
  Expr number = builder.select(builder.lessThan(row, integer(2)), builder.number(0), builder.number(-1.5));
  EXPECT_EQ(text(number), "((d0 + -1) <= 0 ? 0.000000e+00 : -1.500000e+00)");
  Expr flag = element(ExprType::Boolean);
  EXPECT_EQ(text(builder.logicalOr({flag, builder.logicalNot(builder.equal(builder.modulo(row, 3), integer(0)))})),
            "(%7[d0] or not ((d0 mod 3) == 0))");
  EXPECT_EQ(text(builder.boolean(true)), "true");
}

} // namespace
