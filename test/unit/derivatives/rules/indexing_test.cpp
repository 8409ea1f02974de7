//===- indexing_test.cpp - derivatives of indexing ------------------------===//

#include "../derive.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

using IndexingDerivatives = DeriveTest;

TEST_F(IndexingDerivatives, RowsOfATableAreAddedUp) {
  EXPECT_EQ(derive("aten.embedding.default", "weight = $0, indices = $1", "10x8xf32, 2x4xi64 -> 2x4x8xf32"),
            "%0 = meshplan.embedding_gradient(gradient g, indices b, padding_idx -1, weight a): 10x8xf32\na: %0");
  EXPECT_EQ(derive("aten.embedding.default", "weight = $0, indices = $1, padding_idx = 3, scale_grad_by_freq = true",
                   "10x8xbf16, 4xi64 -> 4x8xbf16"),
            "%0 = meshplan.embedding_gradient(gradient g, indices b, padding_idx 3, scale_grad_by_freq true, "
            "weight a): 10x8xbf16\na: %0");
  EXPECT_EQ(derive("aten.embedding.default", "weight = $0, indices = $1, padding_idx = -2", "10x8xf32, i64 -> 8xf32"),
            "%0 = meshplan.embedding_gradient(gradient g, indices b, padding_idx 8, weight a): 10x8xf32\na: %0")
      << "counted from the end; -1 is none";
}

TEST_F(IndexingDerivatives, WhatIsReadTwiceIsAdded) {
  EXPECT_EQ(derive("aten.gather.default", "self = $0, dim = -1, index = $1", "4x6xf32, 4x3xi64 -> 4x3xf32"),
            "%0 = meshplan.scatter_sum(dim -1, index b, like a, size [4, 6], source g): 4x6xf32\na: %0");
  EXPECT_EQ(derive("aten.index_select.default", "self = $0, dim = 1, index = $1", "4x6xf32, 3xi64 -> 4x3xf32"),
            "%0 = meshplan.index_sum(indices [None, b], like a, size [4, 6], source g): 4x6xf32\na: %0");
  EXPECT_EQ(derive("aten.index.Tensor", "self = $0, indices = [unit, $1]", "4x6xf32, 3xi64 -> 4x3xf32"),
            "%0 = meshplan.index_sum(indices [None, b], like a, size [4, 6], source g): 4x6xf32\na: %0");
  EXPECT_EQ(derive("aten.take_along_dim.default", "self = $0, indices = $1, dim = 1", "1x6xf32, 4x3xi64 -> 4x3xf32"),
            "%0 = aten.lt.Scalar(other 0, self b): 4x3xi1\n"
            "%1 = aten.to.dtype(dtype i64, self %0): 4x3xi64\n"
            "%2 = aten.mul.Scalar(other 6, self %1): 4x3xi64\n"
            "%3 = aten.add.Tensor(other %2, self b): 4x3xi64\n"
            "%4 = meshplan.scatter_sum(dim 1, index %3, like a, size [4, 6], source g): 4x6xf32\n"
            "%5 = aten.sum.dim_IntList(dim [0], keepdim true, self %4): 1x6xf32\na: %5")
      << "which may count from the end";
}

/// Row indices may be negative; each element of the index has a row.
TEST_F(IndexingDerivatives, RowsOfATable) {
  EXPECT_EQ(derive("aten.index.Tensor", "self = $0, indices = [$1]", "4x6xf32, 2x3xi64 -> 2x3x6xf32"),
            "%0 = aten.remainder.Scalar(other 4, self b): 2x3xi64\n"
            "%1 = meshplan.embedding_gradient(gradient g, indices %0, rows 4): 4x6xf32\na: %1");
  EXPECT_EQ(derive("aten.index.Tensor", "self = $0, indices = [$1]", "4x6x2xf32, 3xi64 -> 3x6x2xf32"),
            "%0 = aten.reshape.default(self g, shape [3, 12]): 3x12xf32\n"
            "%1 = aten.remainder.Scalar(other 4, self b): 3xi64\n"
            "%2 = meshplan.embedding_gradient(gradient %0, indices %1, rows 4): 4x12xf32\n"
            "%3 = aten.reshape.default(self %2, shape [4, 6, 2]): 4x6x2xf32\na: %3");
  EXPECT_THAT(derive("aten.index.Tensor", "self = $0, indices = [$1]", "4x6xf32, 4xi1 -> 2x6xf32"),
              testing::HasSubstr("meshplan.index_sum"));
}

TEST_F(IndexingDerivatives, WhatIsOverwrittenHasNone) {
  EXPECT_EQ(
      derive("aten.scatter.src", "self = $0, dim = 1, index = $1, src = $2", "4x6xf32, 4x3xi64, 4x3xf32 -> 4x6xf32"),
      "%0 = aten.scatter.value(dim 1, index b, self g, value 0): 4x6xf32\n"
      "%1 = aten.gather.default(dim 1, index b, self g): 4x3xf32\na: %0\nc: %1");
  EXPECT_EQ(derive("aten.scatter.value", "self = $0, dim = 1, index = $1, value = 1.0", "4x6xf32, 4x3xi64 -> 4x6xf32"),
            "%0 = aten.scatter.value(dim 1, index b, self g, value 0): 4x6xf32\na: %0");
}

/// Indices may cover only the first elements of the source.
TEST_F(IndexingDerivatives, WhatIsNotReadOfASourceHasZeros) {
  constexpr char args[] = "self = $0, dim = 1, index = $1, src = $2";
  constexpr char types[] = "4x6xf32, 2x2xi64, 4x3xf32 -> 4x6xf32";
  constexpr char source[] = " = aten.constant_pad_nd.default(pad [0, 1, 0, 2], self %";
  EXPECT_EQ(derive("aten.scatter.src", args, types),
            "%0 = aten.scatter.value(dim 1, index b, self g, value 0): 4x6xf32\n"
            "%1 = aten.gather.default(dim 1, index b, self g): 2x2xf32\n"
            "%2" +
                std::string(source) + "1, value 0): 4x3xf32\na: %0\nc: %2");
  EXPECT_EQ(derive("aten.scatter_add.default", args, types),
            "%0 = aten.gather.default(dim 1, index b, self g): 2x2xf32\n"
            "%1" +
                std::string(source) + "0, value 0): 4x3xf32\na: g\nc: %1");
}

TEST_F(IndexingDerivatives, AddendsAreReadWhereTheyWent) {
  EXPECT_EQ(derive("aten.scatter_add.default", "self = $0, dim = 1, index = $1, src = $2",
                   "4x6xf32, 4x3xi64, 4x3xf32 -> 4x6xf32"),
            "%0 = aten.gather.default(dim 1, index b, self g): 4x3xf32\na: g\nc: %0");
  EXPECT_EQ(derive("aten.index_add.default", "self = $0, dim = 1, index = $1, source = $2, alpha = 2",
                   "4x6xf32, 3xi64, 4x3xf32 -> 4x6xf32"),
            "%0 = aten.index_select.default(dim 1, index b, self g): 4x3xf32\n"
            "%1 = aten.mul.Scalar(other 2, self %0): 4x3xf32\na: g\nc: %1");
}

TEST_F(IndexingDerivatives, OrderedValuesGoBack) {
  EXPECT_EQ(derive("aten.topk.default", "self = $0, k = 2", "4x6xf32 -> 4x2xf32, 4x2xi64"),
            "%0 = meshplan.scatter_sum(dim 1, index r1, like a, size [4, 6], source g0): 4x6xf32\na: %0");
  EXPECT_EQ(derive("aten.sort.stable", "self = $0, stable = true, dim = -2", "4x6xf32 -> 4x6xf32, 4x6xi64"),
            "%0 = meshplan.scatter_sum(dim 0, index r1, like a, size [4, 6], source g0): 4x6xf32\na: %0");
  EXPECT_EQ(derive("aten.max.dim", "self = $0, dim = 0", "4x6xf32 -> 6xf32, 6xi64"),
            "%0 = aten.reshape.default(self g0, shape [1, 6]): 1x6xf32\n"
            "%1 = aten.reshape.default(self r1, shape [1, 6]): 1x6xi64\n"
            "%2 = meshplan.scatter_sum(dim 0, index %1, like a, size [4, 6], source %0): 4x6xf32\na: %2");
  EXPECT_EQ(derive("aten.min.dim", "self = $0, dim = 0, keepdim = true", "4x6xf32 -> 1x6xf32, 1x6xi64"),
            "%0 = meshplan.scatter_sum(dim 0, index r1, like a, size [4, 6], source g0): 4x6xf32\na: %0");
}

TEST_F(IndexingDerivatives, AnOrderOfOneNumberIsLeftToTheRuntime) {
  EXPECT_EQ(derive("aten.sort.default", "self = $0", "f32 -> f32, i64"),
            "%0 = aten.zeros.default(dtype i64, size []): i64\n"
            "%1 = vjp.aten.sort.default(gradients [g0, %0], of 'self', self a): f32\na: %1");
}

TEST_F(IndexingDerivatives, PlacesHaveNone) {
  EXPECT_EQ(derive("aten.argsort.default", "self = $0", "4xf32 -> 4xi64"), "nothing");
}

} // namespace
