//===- random_expr_test.cpp - the normal form keeps the value -------------===//
//
// Draws expressions and builds each twice: with ExprBuilder, and as a function that evaluates it directly. Both must
// have the same value at every coordinate.
//
//===----------------------------------------------------------------------===//

#include "evaluate.h"
#include "llvm/Support/MathExtras.h"
#include <gtest/gtest.h>
#include <random>

using namespace meshplan::indexing;

namespace {

using Function = std::function<int64_t(const Coordinates &)>;

struct Drawn {
  Expr expr;
  Function value;
};

const std::vector<int64_t> shape = {3, 4, 5};

int64_t tensorValue(int64_t tensor, const Coordinates &indices) {
  int64_t hash = tensor;
  for (int64_t index : indices)
    hash = (hash * 31 + index * 7 + 3) % 11;
  return hash - 5;
}

class Drawer {
public:
  explicit Drawer(unsigned seed) : random(seed) {}

  ExprBuilder builder;

  Drawn integer(int depth) {
    if (depth == 0)
      return leaf();
    Drawn left = integer(depth - 1), right = integer(depth - 1);
    int64_t number = draw(1, 6);
    auto a = left.value, b = right.value;
    switch (draw(0, 6)) {
    case 0:
      return {builder.add(left.expr, right.expr), [=](auto &at) { return a(at) + b(at); }};
    case 1:
      return {builder.subtract(left.expr, right.expr), [=](auto &at) { return a(at) - b(at); }};
    case 2:
      return {builder.multiply(left.expr, number - 3), [=](auto &at) { return a(at) * (number - 3); }};
    case 3:
      return {builder.floorDivide(left.expr, number), [=](auto &at) { return llvm::divideFloorSigned(a(at), number); }};
    case 4:
      return {builder.modulo(left.expr, number), [=](auto &at) { return llvm::mod(a(at), number); }};
    case 5: {
      Drawn condition = boolean(depth - 1);
      return {builder.select(condition.expr, left.expr, right.expr),
              [=, c = condition.value](auto &at) { return c(at) ? a(at) : b(at); }};
    }
    default: {
      Drawn condition = boolean(depth - 1);
      return {builder.asInteger(condition.expr), condition.value};
    }
    }
  }

  Drawn boolean(int depth) {
    if (draw(0, 1) == 0 || depth == 0) {
      Drawn left = integer(depth), right = integer(depth);
      auto a = left.value, b = right.value;
      switch (draw(0, 3)) {
      case 0:
        return {builder.atMost(left.expr, right.expr), [=](auto &at) { return a(at) <= b(at); }};
      case 1:
        return {builder.lessThan(left.expr, right.expr), [=](auto &at) { return a(at) < b(at); }};
      case 2:
        return {builder.asBoolean(left.expr), [=](auto &at) { return a(at) != 0; }};
      default:
        return {builder.equal(left.expr, right.expr), [=](auto &at) { return a(at) == b(at); }};
      }
    }
    Drawn left = boolean(depth - 1), right = boolean(depth - 1);
    auto a = left.value, b = right.value;
    switch (draw(0, 3)) {
    case 0:
      return {builder.logicalNot(left.expr), [=](auto &at) { return !a(at); }};
    case 1:
      return {builder.logicalAnd({left.expr, right.expr}), [=](auto &at) { return a(at) && b(at); }};
    case 2:
      return {builder.logicalOr({left.expr, right.expr}), [=](auto &at) { return a(at) || b(at); }};
    default: {
      Drawn condition = boolean(depth - 1);
      return {builder.select(condition.expr, left.expr, right.expr),
              [=, c = condition.value](auto &at) { return c(at) ? a(at) : b(at); }};
    }
    }
  }

private:
  int64_t draw(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }

  Drawn leaf() {
    unsigned dim = draw(0, 2);
    switch (draw(0, 3)) {
    case 0: {
      int64_t value = draw(-4, 4);
      return {builder.integer(value), [=](auto &) { return value; }};
    }
    case 1:
      return {builder.element(1, {builder.coordinate(dim, shape[dim])}, {ExprType::Integer, -5, 5}),
              [=](auto &at) { return tensorValue(1, {at[dim]}); }};
    default:
      return {builder.coordinate(dim, shape[dim]), [=](auto &at) { return at[dim]; }};
    }
  }

  std::mt19937 random;
};

class RandomExpr : public ::testing::TestWithParam<unsigned> {};

TEST_P(RandomExpr, HasTheSameValue) {
  Drawer drawer(GetParam());
  for (int i = 0; i < 300; ++i) {
    Drawn drawn = i % 2 ? drawer.integer(4) : drawer.boolean(4);
    ASSERT_NE(drawn.expr, nullptr);
    forEachElement(shape, [&](const Coordinates &at) {
      int64_t value = drawn.value(at);
      ASSERT_EQ(evaluate(drawn.expr, at, tensorValue), value) << text(drawn.expr);
      ASSERT_LE(drawn.expr->low, value) << text(drawn.expr);
      ASSERT_GE(drawn.expr->high, value) << text(drawn.expr);
    });
  }
}

TEST_P(RandomExpr, SubstitutionIsComposition) {
  Drawer drawer(GetParam() + 1000);
  for (int i = 0; i < 100; ++i) {
    Drawn outer = drawer.boolean(3);
    std::vector<Expr> inner;
    for (int dim = 0; dim < 3; ++dim)
      inner.push_back(drawer.builder.modulo(drawer.integer(2).expr, shape[dim]));
    Expr composed = drawer.builder.substitute(outer.expr, inner);
    ASSERT_NE(composed, nullptr);
    forEachElement(shape, [&](const Coordinates &at) {
      Coordinates moved;
      for (Expr index : inner)
        moved.push_back(evaluate(index, at, tensorValue));
      ASSERT_EQ(evaluate(composed, at, tensorValue), outer.value(moved)) << text(composed);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomExpr, ::testing::Range(0u, 8u));

} // namespace
