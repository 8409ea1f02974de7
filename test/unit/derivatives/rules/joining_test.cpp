//===- joining_test.cpp - derivatives of joins and splits -----------------===//

#include "../derive.h"

using namespace meshplan;

namespace {

using JoiningDerivatives = DeriveTest;

TEST_F(JoiningDerivatives, WhatIsJoinedGetsItsPiece) {
  EXPECT_EQ(
      derive("aten.cat.default", "tensors = [$0, $1], dim = -1", "4x6xf32, 4x2xf32 -> 4x8xf32"),
      "%0, %1 = aten.split_with_sizes.default(dim 1, self g, split_sizes [6, 2]): 4x6xf32, 4x2xf32\na: %0\nb: %1");
  EXPECT_EQ(derive("aten.stack.default", "tensors = [$0, $1], dim = -1", "4x6xf32, 4x6xf32 -> 4x6x2xf32"),
            "%0, %1 = aten.unbind.int(dim 2, self g): 4x6xf32, 4x6xf32\na: %0\nb: %1");
}

TEST_F(JoiningDerivatives, WhatIsJoinedTwiceGetsBothPieces) {
  EXPECT_EQ(derive("aten.cat.default", "tensors = [$0, $1, $0]", "4xf32, 2xf32 -> 10xf32"),
            "%0, %1, %2 = aten.split_with_sizes.default(dim 0, self g, split_sizes [4, 2, 4]): 4xf32, 2xf32, 4xf32\n"
            "%3 = aten.add.Tensor(other %2, self %0): 4xf32\na: %3\nb: %1");
  EXPECT_EQ(derive("aten.stack.default", "tensors = [$0, $0]", "4xf32 -> 2x4xf32"),
            "%0, %1 = aten.unbind.int(dim 0, self g): 4xf32, 4xf32\n"
            "%2 = aten.add.Tensor(other %1, self %0): 4xf32\na: %2");
}

TEST_F(JoiningDerivatives, PiecesOfAnotherTypeKeepIt) {
  EXPECT_EQ(deriveOnly({1}, "aten.cat.default", "tensors = [$0, $1]", "4xf32, 2xbf16 -> 6xf32"),
            "%0, %1 = aten.split_with_sizes.default(dim 0, self g, split_sizes [4, 2]): 4xf32, 2xf32\n"
            "%2 = aten.to.dtype(dtype bf16, self %1): 2xbf16\nb: %2");
}

/// Any concatenation accepts an empty vector.
TEST_F(JoiningDerivatives, AnEmptyVectorHasNoPiece) {
  EXPECT_EQ(derive("aten.cat.default", "tensors = [$0, $1], dim = 1", "0xf32, 4x2xf32 -> 4x2xf32"),
            "%0 = aten.split_with_sizes.default(dim 1, self g, split_sizes [2]): 4x2xf32\nb: %0");
}

TEST_F(JoiningDerivatives, PiecesAreJoined) {
  EXPECT_EQ(derive("aten.split_with_sizes.default", "self = $0, split_sizes = [6, 2], dim = -1",
                   "4x8xf32 -> 4x6xf32, 4x2xf32"),
            "%0 = aten.cat.default(dim 1, tensors [g0, g1]): 4x8xf32\na: %0");
  EXPECT_EQ(derive("aten.unbind.int", "self = $0", "2x4xf32 -> 4xf32, 4xf32"),
            "%0 = aten.stack.default(dim 0, tensors [g0, g1]): 2x4xf32\na: %0");
}

TEST_F(JoiningDerivatives, APieceThatNothingReadsIsZero) {
  EXPECT_EQ(derive("aten.chunk.default", "self = $0, chunks = 3", "5xf32 -> 2xf32, 2xf32!, 1xf32"),
            "%0 = aten.zeros_like.default(self r1): 2xf32\n"
            "%1 = aten.cat.default(dim 0, tensors [g0, %0, g2]): 5xf32\na: %1");
}

} // namespace
