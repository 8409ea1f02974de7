//===- logic_test.cpp - boolean expressions against truth tables ----------===//

#include "evaluate.h"
#include <gtest/gtest.h>

using namespace meshplan::indexing;

namespace {

using Truth = std::vector<bool>;

/// Formulas over three flags, and comparisons of a coordinate.
class LogicTest : public ::testing::Test {
protected:
  ExprBuilder builder;
  Expr at = builder.coordinate(0, 5);

  Expr flag(int64_t tensor) { return builder.element(tensor, {}, {ExprType::Boolean}); }

  /// The values of a formula for all values of the flags and the coordinate.
  static Truth truth(Expr formula) {
    Truth values;
    for (int64_t flags = 0; flags < 8; ++flags)
      for (int64_t index = 0; index < 5; ++index)
        values.push_back(evaluate(formula, {index}, [&](int64_t tensor, auto &) { return flags >> tensor & 1; }));
    return values;
  }

  static Truth combine(const Truth &left, const Truth &right, bool isAnd) {
    Truth values;
    for (size_t index = 0; index < left.size(); ++index)
      values.push_back(isAnd ? left[index] && right[index] : left[index] || right[index]);
    return values;
  }

  /// Atoms and all formulas of at most `depth` connectives on them.
  std::vector<Expr> formulas(int depth) {
    std::vector<Expr> all = {flag(0),
                             flag(1),
                             flag(2),
                             builder.boolean(true),
                             builder.boolean(false),
                             builder.atMost(at, builder.integer(2)),
                             builder.equal(at, builder.integer(3))};
    for (; depth > 0; --depth) {
      std::vector<Expr> more = all;
      for (Expr left : all)
        for (Expr right : {all[0], all[1], all[5], all[6], all.back()}) {
          more.push_back(builder.logicalAnd({left, builder.logicalNot(right)}));
          more.push_back(builder.logicalOr({right, left}));
        }
      all = more;
    }
    return all;
  }
};

TEST_F(LogicTest, ConnectivesHaveTheirTruthTables) {
  std::vector<Expr> all = formulas(1);
  for (Expr left : all) {
    Truth negated = truth(left);
    negated.flip();
    EXPECT_EQ(truth(builder.logicalNot(left)), negated) << text(left);
    for (Expr right : all) {
      EXPECT_EQ(truth(builder.logicalAnd({left, right})), combine(truth(left), truth(right), true));
      EXPECT_EQ(truth(builder.logicalOr({left, right})), combine(truth(left), truth(right), false));
    }
  }
}

TEST_F(LogicTest, ANegationIsItsOwnInverse) {
  for (Expr formula : formulas(2))
    EXPECT_EQ(builder.logicalNot(builder.logicalNot(formula)), formula) << text(formula);
}

TEST_F(LogicTest, NegationsStandBeforeWhatCannotBeNegatedOnly) {
  for (Expr formula : formulas(2))
    for (Expr either : {formula, builder.logicalNot(formula)})
      visitNodes(either, [&](Expr node) {
        bool isJunction = node->kind == ExprKind::And || node->kind == ExprKind::Or;
        for (size_t index = 0; index < node->operands.size(); ++index) {
          Expr operand = node->operands[index];
          EXPECT_TRUE(node->kind != ExprKind::Not || operand->kind == ExprKind::Element ||
                      operand->kind == ExprKind::IsZero)
              << text(either);
          EXPECT_FALSE(isJunction && operand->kind == node->kind) << "not flat: " << text(either);
          EXPECT_FALSE(isJunction && operand->isConstant()) << text(either);
          EXPECT_FALSE(isJunction && index > 0 && operand->id <= node->operands[index - 1]->id) << text(either);
        }
      });
}

TEST_F(LogicTest, JunctionsOfNoneAndOfWhatIsNotBoolean) {
  EXPECT_TRUE(builder.logicalAnd({})->isTrue());
  EXPECT_TRUE(builder.logicalOr({})->isFalse());
  for (Expr wrong : {at, builder.number(1), Expr(nullptr)}) {
    EXPECT_FALSE(builder.logicalNot(wrong));
    EXPECT_FALSE(builder.logicalAnd({flag(0), wrong}));
    EXPECT_FALSE(builder.logicalOr({wrong}));
    EXPECT_FALSE(builder.select(wrong, at, at));
  }
}

TEST_F(LogicTest, ChoicesOfBooleansAreFormulas) {
  for (Expr condition : formulas(1))
    for (Expr then : {flag(0), flag(1), builder.boolean(false)}) {
      Truth expected = combine(combine(truth(condition), truth(then), true),
                               combine(truth(builder.logicalNot(condition)), truth(flag(2)), true), false);
      EXPECT_EQ(truth(builder.select(condition, then, flag(2))), expected) << text(condition);
    }
}

TEST_F(LogicTest, ChoicesOfIntegersAgreeEverywhere) {
  // All conditions on the coordinate and all pairs of small linear forms: merging branches must not change a value.
  for (int64_t pin = -1; pin <= 5; ++pin)
    for (Expr condition :
         {builder.equal(at, builder.integer(pin)), builder.atMost(at, builder.integer(pin)),
          builder.lessThan(builder.integer(pin), at), builder.logicalNot(builder.equal(builder.integer(pin), at))})
      for (int64_t factor = -1; factor <= 2; ++factor)
        for (int64_t constant = -2; constant <= 2; ++constant)
          for (Expr other : {at, builder.integer(pin), builder.multiply(at, 2)}) {
            Expr then = builder.add(builder.multiply(at, factor), builder.integer(constant));
            for (auto [yes, no] : {std::pair(then, other), {other, then}}) {
              Expr choice = builder.select(condition, yes, no);
              for (int64_t index = 0; index < 5; ++index)
                ASSERT_EQ(evaluate(choice, {index}), evaluate(evaluate(condition, {index}) ? yes : no, {index}))
                    << text(condition) << " ? " << text(yes) << " : " << text(no) << " became " << text(choice);
            }
          }
}

TEST_F(LogicTest, AChoiceThatAgreesWhereItMattersIsNone) {
  auto isNone = [&](Expr condition, Expr then, Expr otherwise, Expr merged) {
    EXPECT_EQ(builder.select(condition, then, otherwise), merged) << text(condition);
    EXPECT_EQ(builder.select(builder.logicalNot(condition), otherwise, then), merged) << text(condition);
  };
  Expr four = builder.integer(4), twice = builder.multiply(at, 2);
  isNone(builder.equal(at, four), builder.integer(8), twice, twice);
  isNone(builder.atMost(four, at), builder.integer(8), twice, twice);
  isNone(builder.atMost(at, builder.integer(0)), builder.integer(0), twice, twice);
  isNone(flag(0), twice, twice, twice);
  EXPECT_EQ(builder.select(builder.equal(at, four), builder.integer(7), twice)->kind, ExprKind::Select);
}

TEST_F(LogicTest, BoundsOfAChoiceCoverBoth) {
  Expr choice = builder.select(flag(0), builder.add(at, builder.integer(10)), builder.integer(-3));
  EXPECT_EQ(choice->low, -3);
  EXPECT_EQ(choice->high, 14);
  EXPECT_EQ(builder.select(builder.boolean(true), at, builder.integer(-3)), at);
  EXPECT_EQ(builder.select(builder.boolean(false), at, builder.integer(-3)), builder.integer(-3));
}

TEST_F(LogicTest, BranchesHaveOneType) {
  EXPECT_FALSE(builder.select(flag(0), at, builder.number(1)));
  EXPECT_FALSE(builder.select(flag(0), at, flag(1)));
  EXPECT_FALSE(builder.select(flag(0), nullptr, at));
  EXPECT_EQ(builder.select(flag(0), builder.number(0), builder.number(-1))->type, ExprType::Real);
}

TEST_F(LogicTest, TruthOfANumberIsThatItIsNotZero) {
  EXPECT_EQ(builder.asBoolean(flag(0)), flag(0));
  EXPECT_TRUE(builder.asBoolean(builder.integer(-2))->isTrue());
  EXPECT_TRUE(builder.asBoolean(builder.integer(0))->isFalse());
  EXPECT_EQ(builder.asBoolean(at), builder.logicalNot(builder.equal(at, builder.integer(0))));
  EXPECT_FALSE(builder.asBoolean(builder.number(1)));
  EXPECT_FALSE(builder.asBoolean(nullptr));
}

} // namespace
