//===- mask_test.cpp - properties of attention masks ----------------------===//

#include "compiler/indexing/mask.h"
#include "evaluate.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>
#include <limits>

using namespace meshplan::indexing;

namespace {

class MaskTest : public ::testing::Test {
protected:
  ExprBuilder builder;
  Expr batch = builder.coordinate(batchDim, 2), head = builder.coordinate(headDim, 4);
  Expr query = builder.coordinate(queryDim, 8), key = builder.coordinate(keyDim, 8);
  Expr causal = builder.atMost(key, query);
  Expr padding = builder.element(0, {batch, key}, {ExprType::Boolean});

  Expr window(int64_t size) { return builder.lessThan(builder.subtract(query, key), builder.integer(size)); }
};

TEST_F(MaskTest, True) {
  MaskForm form = classifyMask(builder.boolean(true));
  EXPECT_FALSE(form.causal);
  EXPECT_EQ(form.window, 0);
  EXPECT_TRUE(form.keys.empty() && form.other.empty());
}

TEST_F(MaskTest, False) { EXPECT_EQ(classifyMask(builder.boolean(false)).other.size(), 1u); }

TEST_F(MaskTest, Causal) {
  MaskForm form = classifyMask(causal);
  EXPECT_TRUE(form.causal && form.seesItself());
  EXPECT_EQ(form.window, 0);
}

TEST_F(MaskTest, WindowWithCausal) {
  MaskForm form = classifyMask(builder.logicalAnd({causal, window(4)}));
  EXPECT_TRUE(form.causal && form.seesItself());
  EXPECT_EQ(form.window, 4);
}

TEST_F(MaskTest, TheSmallerWindowCounts) {
  EXPECT_EQ(classifyMask(builder.logicalAnd({window(5), window(3)})).window, 3);
  EXPECT_EQ(classifyMask(builder.lessThan(builder.subtract(query, builder.integer(4)), key)).window, 4);
  EXPECT_EQ(classifyMask(window(1)).window, 1);
}

TEST_F(MaskTest, WindowOfTheWholeSequenceIsNone) { EXPECT_TRUE(window(8)->isTrue()); }

TEST_F(MaskTest, ShiftedBandsAreLeftOver) {
  for (Expr band :
       {builder.lessThan(key, query), builder.atMost(key, builder.add(query, builder.integer(1))), window(0),
        window(-1), builder.atMost(builder.multiply(key, 2), query), builder.equal(key, query)}) {
    MaskForm form = classifyMask(band);
    EXPECT_FALSE(form.causal) << text(band);
    EXPECT_EQ(form.window, 0) << text(band);
    EXPECT_EQ(form.other.size(), 1u) << text(band);
  }
}

TEST_F(MaskTest, KeyMask) {
  MaskForm form = classifyMask(builder.logicalAnd({causal, padding}));
  EXPECT_TRUE(form.causal);
  EXPECT_FALSE(form.seesItself());
  ASSERT_EQ(form.keys.size(), 1u);
  EXPECT_EQ(form.keys[0], padding);
  EXPECT_TRUE(form.other.empty());
}

TEST_F(MaskTest, OtherCoordinatesAreLeftOver) {
  Expr byQuery = builder.element(0, {batch, query}, {ExprType::Boolean});
  Expr byHead = builder.element(0, {head, key}, {ExprType::Boolean});
  Expr withoutTensor = builder.lessThan(key, builder.integer(3));
  for (Expr part : {byQuery, byHead, withoutTensor})
    EXPECT_EQ(classifyMask(builder.logicalAnd({causal, part})).other.size(), 1u) << text(part);
}

TEST_F(MaskTest, TheFormSaysTheSameAsTheCondition) {
  // Every conjunction of up to three of these, at every coordinate and for two contents of the tensor.
  std::vector<Expr> parts = {causal,
                             window(3),
                             window(5),
                             padding,
                             builder.element(0, {batch, query}, {ExprType::Boolean}),
                             builder.lessThan(query, key),
                             builder.equal(builder.modulo(key, 2), builder.integer(0)),
                             builder.boolean(true)};
  for (Expr first : parts)
    for (Expr second : parts)
      for (Expr third : parts) {
        Expr condition = builder.logicalAnd({first, second, third});
        MaskForm form = classifyMask(condition);
        forEachElement({2, 1, 8, 8}, [&](const Coordinates &at) {
          auto tensor = [&](int64_t, const Coordinates &indices) { return (indices[0] + indices[1]) % 3 != 0; };
          bool seen = (!form.causal || at[keyDim] <= at[queryDim]) &&
                      (form.window == 0 || at[queryDim] - at[keyDim] < form.window);
          for (Expr part : llvm::concat<Expr>(form.keys, form.other))
            seen &= evaluate(part, at, tensor) != 0;
          ASSERT_EQ(seen, evaluate(condition, at, tensor) != 0) << text(condition);
        });
        for (Expr part : form.keys)
          EXPECT_FALSE(dependsOn(part, queryDim) || dependsOn(part, headDim)) << text(part);
      }
}

TEST_F(MaskTest, AddedMask) {
  double least = std::numeric_limits<float>::lowest();
  std::optional<AddedMask> added =
      asAddedMask(builder, builder.select(causal, builder.number(0), builder.number(least)));
  ASSERT_TRUE(added);
  EXPECT_EQ(added->condition, causal);
  EXPECT_EQ(added->otherwise, least);
  added = asAddedMask(builder, builder.select(builder.lessThan(query, key), builder.number(least), builder.number(0)));
  ASSERT_TRUE(added);
  EXPECT_EQ(added->condition, causal);
  EXPECT_TRUE(asAddedMask(builder, builder.number(0))->condition->isTrue());
}

TEST_F(MaskTest, OtherAddedMasksAreNotUnderstood) {
  EXPECT_FALSE(asAddedMask(builder, builder.number(1)));
  EXPECT_FALSE(asAddedMask(builder, builder.element(0, {query}, {ExprType::Real})));
  EXPECT_FALSE(asAddedMask(builder, builder.select(causal, builder.number(1), builder.number(2))));
  Expr slope = builder.element(0, {query}, {ExprType::Real});
  EXPECT_FALSE(asAddedMask(builder, builder.select(causal, slope, builder.number(-1))));
}

} // namespace
