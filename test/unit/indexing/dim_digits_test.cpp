//===- dim_digits_test.cpp - dims through views and permutations ----------===//

#include "compiler/indexing/dim_digits.h"
#include <gmock/gmock.h>
#include <numeric>
#include <random>

namespace meshplan::indexing {
namespace {

using testing::ElementsAre;

using Shape = std::vector<int64_t>;

/// A tensor whose elements are their original row-major indices, moved as PyTorch moves them.
struct Moved {
  Shape shape, elements;

  explicit Moved(const Shape &first) : shape(first), elements(product(first)) {
    std::iota(elements.begin(), elements.end(), 0);
  }
  static int64_t product(const Shape &shape) {
    return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
  }
  void permute(const Shape &order) {
    Shape strides(shape.size(), 1), made, madeStrides, moved;
    for (size_t dim = shape.size(); dim-- > 1;)
      strides[dim - 1] = strides[dim] * shape[dim];
    for (int64_t from : order) {
      made.push_back(shape[from]);
      madeStrides.push_back(strides[from]);
    }
    for (size_t place = 0; place < elements.size(); ++place) {
      int64_t rest = static_cast<int64_t>(place), from = 0;
      for (size_t dim = made.size(); dim-- > 0; rest /= made[dim])
        from += rest % made[dim] * madeStrides[dim];
      moved.push_back(elements[from]);
    }
    shape = made;
    elements = moved;
  }
};

/// The whole chain as a single split, permutation and view.
Shape movedAtOnce(const DimDigits &digits) {
  auto split = digits.splitShape(), order = digits.order();
  Moved moved(Shape(split.begin(), split.end()));
  moved.permute(Shape(order.begin(), order.end()));
  return moved.elements;
}

TEST(DimDigits, HeadsOfASequenceFirstModel) {
  DimDigits digits({7, 4, 24});
  ASSERT_TRUE(digits.view({7, 24, 4}));
  EXPECT_EQ(digits.dim(1).size(), 2u) << "batch and heads";
  EXPECT_EQ(digits.size(digits.dim(1)[0]), 4);
  EXPECT_EQ(digits.size(digits.dim(1)[1]), 6);
  EXPECT_FALSE(digits.mergesOnTheWay()) << "the last tensor has them merged";
  digits.permute({1, 0, 2});
  ASSERT_TRUE(digits.view({4, 6, 7, 4}));
  EXPECT_TRUE(digits.mergesOnTheWay());
  EXPECT_THAT(digits.splitShape(), ElementsAre(7, 4, 6, 4));
  EXPECT_THAT(digits.order(), ElementsAre(1, 2, 0, 3));
}

TEST(DimDigits, WhatIsMergedBeforeOrBehindIsNotMergedOnTheWay) {
  DimDigits before({24, 5});
  ASSERT_TRUE(before.view({4, 6, 5}));
  before.permute({1, 0, 2});
  EXPECT_FALSE(before.mergesOnTheWay());
  DimDigits behind({4, 6, 5});
  ASSERT_TRUE(behind.view({24, 5}));
  behind.permute({1, 0});
  EXPECT_FALSE(behind.mergesOnTheWay());
}

TEST(DimDigits, RowsInAnotherOrderThanTheyLieIn) {
  DimDigits digits({4, 6, 7, 5}); // batch, heads, sequence, features
  digits.permute({2, 0, 1, 3});
  ASSERT_TRUE(digits.view({28, 30}));
  EXPECT_TRUE(digits.isReordered(0));
  EXPECT_TRUE(digits.isReordered(1)) << "heads and features had the sequence between them";
  DimDigits rows({4, 7, 5});
  ASSERT_TRUE(rows.view({28, 5}));
  EXPECT_FALSE(rows.isReordered(0));
  EXPECT_FALSE(rows.isReordered(1));
}

TEST(DimDigits, DimsThatBeginInsideOfADigit) {
  DimDigits digits({4, 6});
  EXPECT_FALSE(digits.view({6, 4})) << "a row of the view begins in the middle of a row";
  EXPECT_TRUE(digits.view({2, 12}));
  EXPECT_EQ(digits.dim(1).size(), 2u);
}

TEST(DimDigits, DimsOfOneElementDoNotCount) {
  DimDigits digits({1, 6, 1});
  ASSERT_TRUE(digits.view({6}));
  digits.permute({0});
  ASSERT_TRUE(digits.view({1, 1, 2, 3, 1}));
  EXPECT_THAT(digits.splitShape(), ElementsAre(2, 3));
  EXPECT_TRUE(digits.dim(0).empty());
  DimDigits scalar({});
  ASSERT_TRUE(scalar.view({1, 1}));
  EXPECT_TRUE(scalar.order().empty());
}

TEST(DimDigits, RandomChainsMoveWhatTheirStepsMove) {
  std::mt19937 random(1);
  auto draw = [&](int64_t below) { return static_cast<int64_t>(random() % below); };
  for (int round = 0; round < 500; ++round) {
    Shape shape;
    for (int64_t rank = 1 + draw(4); rank > 0; --rank)
      shape.push_back(std::array<int64_t, 5>{1, 2, 3, 4, 6}[draw(5)]);
    Moved moved(shape);
    DimDigits digits(shape);
    for (int step = 0; step < 5; ++step) {
      if (draw(2)) {
        Shape order(moved.shape.size());
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        moved.permute(order);
        digits.permute(llvm::ArrayRef(order.data(), order.size()));
        continue;
      }
      Shape viewed;
      int64_t rest = Moved::product(moved.shape);
      for (int64_t factor : {2, 3, 2, 4})
        if (rest % factor == 0 && draw(2)) {
          viewed.push_back(factor);
          rest /= factor;
        }
      viewed.push_back(rest);
      std::shuffle(viewed.begin(), viewed.end(), random);
      if (digits.view(llvm::ArrayRef(viewed.data(), viewed.size())))
        moved.shape = viewed;
    }
    EXPECT_EQ(movedAtOnce(digits), moved.elements) << "round " << round;
  }
}

} // namespace
} // namespace meshplan::indexing
