//===- memory_test.cpp - copies that kernels make of strided operands -----===//

#include "compiler/sharding/record_support/memory.h"
#include "test/unit/sharding/parsed_call.h"

using namespace meshplan;

namespace {

class MemoryTest : public CallTest {
protected:
  /// `strides` of the operands; row-major by default. The first two operands are the arguments `a` and `b`.
  CallView call(llvm::StringRef types, llvm::ArrayRef<Strides> strides = {}) {
    bool hasTwo = types.split("->").first.count("tensor<") > 1;
    CallView result =
        parse("x", hasTwo ? "{a = #base.operand<0>, b = #base.operand<1>}" : "{a = #base.operand<0>}", types);
    result.strides.assign(strides.begin(), strides.end());
    return result;
  }
};

TEST_F(MemoryTest, RowMajorOperandsAreContiguous) {
  CallView two = call("(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>", {{3, 1}, {1, 2}});
  EXPECT_TRUE(isContiguous(two, 0));
  EXPECT_FALSE(isContiguous(two, 1));
  EXPECT_TRUE(isContiguous(call("(tensor<2x3xf32>) -> ()"), 0)) << "nothing else is known";
  EXPECT_TRUE(isContiguous(call("(tensor<2x1xf32>) -> ()", {{1, 77}}), 0)) << "a dim of one has no neighbour";
  EXPECT_TRUE(isContiguous(call("(tensor<f32>) -> ()", {{}}), 0));
  EXPECT_FALSE(isContiguous(call("(tensor<2x3xf32>) -> ()", {{6, 1}}), 0)) << "with gaps";
}

TEST_F(MemoryTest, CopiesOfAllOperands) {
  constexpr char types[] = "(tensor<2x3xf32>, tensor<4x5xbf16>) -> tensor<f32>";
  EXPECT_EQ(contiguousBytes(call(types)), 0);
  EXPECT_EQ(contiguousBytes(call(types, {{1, 2}, {5, 1}})), 24);
  EXPECT_EQ(contiguousBytes(call(types, {{3, 1}, {1, 4}})), 40);
  EXPECT_EQ(contiguousBytes(call(types, {{0, 1}, {1, 4}})), 24 + 40) << "a broadcast row becomes a whole tensor";
}

TEST_F(MemoryTest, CopiesOfOneArgument) {
  CallView two = call("(tensor<2x3xf32>, tensor<4x5xbf16>) -> tensor<f32>", {{1, 2}, {1, 4}});
  EXPECT_EQ(contiguousBytes(two, "a"), 24);
  EXPECT_EQ(contiguousBytes(two, "b"), 40);
  EXPECT_EQ(contiguousBytes(two, "c"), 0) << "it is not given";
  EXPECT_EQ(contiguousBytes(call("(tensor<2x3xf32>) -> tensor<f32>"), "a"), 0);
}

TEST_F(MemoryTest, ImagesMayHaveTheirFeaturesInnermost) {
  constexpr char image[] = "(tensor<2x3x4x5xf32>) -> tensor<f32>";
  EXPECT_EQ(imageBytes(call(image), "a"), 0);
  EXPECT_EQ(imageBytes(call(image, {{60, 1, 15, 3}}), "a"), 0);
  EXPECT_EQ(imageBytes(call(image, {{60, 1, 3, 12}}), "a"), 480) << "columns before rows are neither";
  EXPECT_EQ(imageBytes(call(image, {{60, 1, 15, 3}}), "b"), 0) << "it is not given";
  EXPECT_EQ(imageBytes(call("(tensor<2x3x4xf32>) -> tensor<f32>", {{12, 1, 3}}), "a"), 96)
      << "three dims are not an image";
  EXPECT_EQ(imageBytes(call("(tensor<1x2x2x2x3xf32>) -> tensor<f32>", {{24, 1, 12, 6, 2}}), "a"), 0)
      << "a volume is one";
}

TEST_F(MemoryTest, ACopyReadsRowMajorTensors) {
  constexpr char types[] = "(tensor<2x3xf32>) -> tensor<2x3xf32>";
  EXPECT_EQ(rowMajorCopyCost(call(types)).workspaceBytes, 0);
  OpCost turned = rowMajorCopyCost(call(types, {{1, 2}}));
  EXPECT_EQ(turned.workspaceBytes, 24);
  EXPECT_EQ(turned.bytes, 48) << "what is read and written is the same";
  EXPECT_EQ(turned.flops, 0);
}

TEST_F(MemoryTest, ProductsReadMatricesWithAdjacentRowsOrColumns) {
  constexpr char matrix[] = "(tensor<4x3xf32>) -> tensor<f32>";
  for (const Strides &read : {Strides{3, 1}, {5, 1}, {1, 4}, {1, 9}})
    EXPECT_EQ(matrixBytes(call(matrix, {read}), "a"), 0) << read[0] << ", " << read[1];
  EXPECT_EQ(matrixBytes(call(matrix, {{6, 2}}), "a"), 48) << "neither is adjacent";
  EXPECT_EQ(matrixBytes(call(matrix, {{0, 1}}), "a"), 48) << "one row for all";
  EXPECT_EQ(matrixBytes(call("(tensor<4x1xf32>) -> tensor<f32>", {{7, 7}}), "a"), 0) << "one column";
  EXPECT_EQ(matrixBytes(call("(tensor<2x4x3xf32>) -> tensor<f32>", {{1, 2, 8}}), "a"), 0) << "no matrix";
  EXPECT_EQ(matrixBytes(call(matrix, {{6, 2}}), "b"), 0) << "it is not given";
}

TEST_F(MemoryTest, AReshapeIsAViewOrACopyOfTheExpandedTensor) {
  CallView plain = call("(tensor<2x3xf32>) -> tensor<6xf32>");
  EXPECT_EQ(reshapeBytes(plain, 0, {2, 3}, {6}), 0);
  EXPECT_EQ(reshapeBytes(plain, 0, {2, 3}, {3, 2}), 0);
  CallView turned = call("(tensor<2x3xf32>) -> tensor<6xf32>", {{1, 2}});
  EXPECT_EQ(reshapeBytes(turned, 0, {2, 3}, {6}), 24);
  EXPECT_EQ(reshapeBytes(turned, 0, {2, 3}, {2, 1, 3}), 0) << "a dim of one divides nothing";
  // Expanded to four matrices first.
  EXPECT_EQ(reshapeBytes(plain, 0, {4, 2, 3}, {4, 2, 3}), 0);
  EXPECT_EQ(reshapeBytes(plain, 0, {4, 2, 3}, {8, 3}), 4 * 24) << "the copy holds them all";
  EXPECT_EQ(reshapeBytes(plain, 0, {2, 2, 2, 3}, {4, 2, 3}), 0) << "two broadcast dims are one";
  EXPECT_EQ(reshapeBytes(call("(tensor<1x3xbf16>) -> tensor<6xf32>"), 0, {2, 3}, {6}), 12) << "in the operand's type";
}

TEST_F(MemoryTest, ElementwiseResultsLieAsTheirOperands) {
  constexpr char same[] = "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>";
  EXPECT_EQ(likeOperands(call(same), 0), Strides({3, 1}));
  EXPECT_EQ(likeOperands(call(same, {{1, 2}, {1, 2}}), 0), Strides({1, 2}));
  EXPECT_EQ(likeOperands(call(same, {{1, 2}, {3, 1}}), 0), Strides({1, 2})) << "the first decides";
  EXPECT_EQ(likeOperands(call("(tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>", {{1}, {1, 2}}), 0),
            Strides({1, 2}))
      << "one that broadcasts does not";
  EXPECT_EQ(likeOperands(call("(tensor<2x3xf32>, tensor<3xf32>) -> tensor<3xf32>", {{1, 2}, {1}}), 0), Strides({1}))
      << "nor does one of more dims than the result";
}

TEST_F(MemoryTest, CopiesKeepTheOrderOfADenseTensor) {
  EXPECT_EQ(likeCopy(call("(tensor<2x3xf32>) -> tensor<2x3xf32>", {{1, 2}}), 0), Strides({1, 2}));
  EXPECT_EQ(likeCopy(call("(tensor<2x3xf32>) -> tensor<2x3xf32>", {{6, 1}}), 0), Strides({3, 1})) << "gaps are closed";
  EXPECT_EQ(likeCopy(call("(tensor<2x3xf32>) -> tensor<2x3xf32>", {{0, 1}}), 0), Strides({3, 1}));
}

TEST_F(MemoryTest, AnAliasLiesAsItsOperand) {
  EXPECT_EQ(likeFirst(call("(tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>", {{6, 2}, {1}}), 0), Strides({6, 2}));
}

TEST_F(MemoryTest, ImagesStayImages) {
  constexpr char pooled[] = "(tensor<2x3x4x4xf32>) -> tensor<2x3x2x2xf32>";
  EXPECT_EQ(likeImage(call(pooled), 0), Strides({12, 4, 2, 1}));
  EXPECT_EQ(likeImage(call(pooled, {{48, 1, 12, 3}}), 0), Strides({12, 1, 6, 3}));
  EXPECT_EQ(likeImage(call(pooled, {{48, 1, 3, 12}}), 0), Strides({12, 4, 2, 1}));
  EXPECT_EQ(likeImage(call("(tensor<2x3x4x4xf32>) -> tensor<2x3x4xf32>", {{48, 1, 12, 3}}), 0), Strides({12, 4, 1}))
      << "a result of other dims is row-major";
}

TEST_F(MemoryTest, DimsInAnotherOrderKeepTheirStrides) {
  CallView operand = call("(tensor<2x3x4xf32>) -> tensor<4x2x3xf32>", {{24, 8, 2}});
  EXPECT_EQ(permutedStrides(operand, {2, 0, 1}), Strides({2, 24, 8}));
  EXPECT_EQ(permutedStrides(operand, {}), Strides());
  EXPECT_EQ(permutedStrides(operand, {3, -1, 1}), Strides({0, 0, 8})) << "a dim that is not there";
}

TEST_F(MemoryTest, AReshapeLiesAsItsViewOrIsNew) {
  EXPECT_EQ(reshapedStrides(call("(tensor<4x6xf32>) -> tensor<4x2x3xf32>", {{12, 2}}), 0), Strides({12, 6, 2}));
  EXPECT_EQ(reshapedStrides(call("(tensor<4x6xf32>) -> tensor<24xf32>", {{1, 4}}), 0), Strides({1}));
  EXPECT_EQ(reshapedStrides(call("(tensor<4x6xf32>) -> tensor<2x2x6xf32>", {{1, 4}}), 0), Strides({2, 1, 4}));
}

} // namespace
