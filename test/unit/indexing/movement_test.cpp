//===- movement_test.cpp - operators that only move elements --------------===//

#include "compiler/indexing/movement.h"
#include "evaluate.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace meshplan::indexing;
using llvm::ArrayRef;

namespace {

using Shape = std::vector<int64_t>;

int64_t positionOf(ArrayRef<int64_t> shape, const Coordinates &at) {
  int64_t position = 0;
  for (auto [extent, index] : llvm::zip(shape, at))
    position = position * extent + index;
  return position;
}

Coordinates evaluateAll(ArrayRef<Expr> indices, const Coordinates &at) {
  Coordinates values;
  for (Expr index : indices)
    values.push_back(evaluate(index, at));
  return values;
}

std::string textOf(ArrayRef<Expr> indices) {
  std::string result;
  for (Expr index : indices)
    result += (result.empty() ? "" : ", ") + text(index);
  return result;
}

class MovementTest : public ::testing::Test {
protected:
  ExprBuilder builder;
  Indices coordinates(ArrayRef<int64_t> shape) { return coordinatesOf(builder, shape); }
};

TEST_F(MovementTest, ReshapeKeepsTheOrderOfElements) {
  std::vector<Shape> shapes = {{24}, {2, 12}, {4, 6}, {2, 3, 4}, {4, 3, 2}, {1, 8, 3}, {2, 1, 2, 6}};
  for (const Shape &operand : shapes)
    for (const Shape &result : shapes) {
      Indices read = readReshaped(builder, operand, result, coordinates(result));
      ASSERT_EQ(read.size(), operand.size());
      forEachElement(result, [&](const Coordinates &at) {
        ASSERT_EQ(positionOf(operand, evaluateAll(read, at)), positionOf(result, at)) << textOf(read);
      });
    }
}

TEST_F(MovementTest, ReshapeIsAsSimpleAsItCanBe) {
  EXPECT_EQ(textOf(readReshaped(builder, {2, 8}, {2, 1, 1, 8}, coordinates({2, 1, 1, 8}))), "d0, d3");
  EXPECT_EQ(textOf(readReshaped(builder, {2, 3, 4, 5, 6}, {2, 12, 5, 6}, coordinates({2, 12, 5, 6}))),
            "d0, (d1 floordiv 4), (d1 mod 4), d2, d3");
  EXPECT_EQ(textOf(readReshaped(builder, {2, 12, 5}, {2, 3, 4, 5}, coordinates({2, 3, 4, 5}))),
            "d0, (4 * d1 + d2), d3");
  EXPECT_EQ(textOf(readReshaped(builder, {}, {1}, coordinates({1}))), "");
}

TEST_F(MovementTest, ReshapeOfNothingOrTooMuchIsNotKnown) {
  EXPECT_EQ(textOf(readReshaped(builder, {0, 4}, {4, 0}, coordinates({4, 0}))), "null, null");
  int64_t huge = int64_t(1) << 40;
  EXPECT_EQ(textOf(readReshaped(builder, {huge, huge}, {huge, huge}, coordinates({huge, huge}))), "null, null");
}

TEST_F(MovementTest, RepeatedHeadsReadTheirGroup) {
  // [2, 3, 5, 6] -> unsqueeze(2) -> expand [2, 3, 4, 5, 6] -> reshape [2, 12, 5, 6].
  Indices heads = coordinates({2, 12, 5, 6});
  Indices expanded = readReshaped(builder, {2, 3, 4, 5, 6}, {2, 12, 5, 6}, heads);
  Indices single = readExpanded(builder, {2, 3, 1, 5, 6}, expanded);
  Indices groups = readReshaped(builder, {2, 3, 5, 6}, {2, 3, 1, 5, 6}, single);
  EXPECT_EQ(textOf(groups), "d0, (d1 floordiv 4), d2, d3");
  EXPECT_EQ(textOf(readInterleaved(builder, 1, 4, heads)), "d0, (d1 floordiv 4), d2, d3");
}

TEST_F(MovementTest, Others) {
  EXPECT_EQ(textOf(readExpanded(builder, {1, 4}, coordinates({3, 2, 4}))), "0, d2");
  EXPECT_EQ(textOf(readPermuted({2, 0, 1}, coordinates({4, 2, 3}))), "d1, d2, d0");
  EXPECT_EQ(textOf(readSliced(builder, 1, 3, 2, coordinates({4, 5}))), "d0, (2 * d1 + 3)");
  EXPECT_EQ(textOf(readSelected(builder, 1, 6, coordinates({4, 5}))), "d0, 6, d1");
  EXPECT_EQ(textOf(readTiled(builder, {2, 3}, coordinates({5, 4, 3}))), "(d1 mod 2), d2");
}

} // namespace
