//===- experts_test.cpp - derivatives of layers of experts ----------------===//

#include "test/unit/derivatives/derive.h"

using namespace meshplan;

namespace {

using ExpertDerivatives = DeriveTest;

TEST_F(ExpertDerivatives, TokensAndRows) {
  EXPECT_EQ(derive("meshplan.dispatch", "self = $0, table = $1, slots = 2", "2x4x8xf32, 6x2x4xi64 -> 6x2x4x8xf32"),
            "%0 = meshplan.combine(rows g, size [2, 4, 8], slots 2, table b): 2x4x8xf32\na: %0");
  EXPECT_EQ(derive("meshplan.combine", "rows = $0, table = $1, slots = 2, size = [2, 4, 8]",
                   "6x2x4x8xbf16, 6x2x4xi64 -> 2x4x8xbf16"),
            "%0 = meshplan.dispatch(self g, slots 2, table b): 6x2x4x8xbf16\na: %0");
}

/// The sum was rounded to another type than that of the rows.
TEST_F(ExpertDerivatives, RowsOfAnotherType) {
  EXPECT_EQ(derive("meshplan.combine", "rows = $0, table = $1, slots = 2, size = [4, 8], dtype = f32",
                   "6x4x8xbf16, 6x4xi64 -> 4x8xf32"),
            "%0 = meshplan.dispatch(self g, slots 2, table b): 6x4x8xf32\n"
            "%1 = aten.to.dtype(dtype bf16, self %0): 6x4x8xbf16\na: %1");
}

TEST_F(ExpertDerivatives, Gates) {
  EXPECT_EQ(derive("meshplan.dispatch_gates", "gates = $0, table = $1", "2x4x2xf32, 6x2x4xi64 -> 6x2x4xf32"),
            "%0 = meshplan.collect_gates(rows g, size [2, 4, 2], table b): 2x4x2xf32\na: %0");
  EXPECT_EQ(
      derive("meshplan.collect_gates", "rows = $0, table = $1, size = [2, 4, 2]", "6x2x4xf32, 6x2x4xi64 -> 2x4x2xf32"),
      "%0 = meshplan.dispatch_gates(gates g, table b): 6x2x4xf32\na: %0");
}

TEST_F(ExpertDerivatives, ProductsTurnTheWeight) {
  EXPECT_EQ(derive("meshplan.grouped_linear", "rows = $0, weight = $1, counts = $2",
                   "6x2x4x8xf32, 6x10x8xf32, 6x2x4xi64 -> 6x2x4x10xf32"),
            "%0 = meshplan.grouped_linear(counts c, rows g, transposed true, weight b): 6x2x4x8xf32\n"
            "%1 = meshplan.grouped_linear_weight_gradient(counts c, gradient g, rows a, transposed false): 6x10x8xf32\n"
            "a: %0\nb: %1");
  EXPECT_EQ(derive("meshplan.grouped_linear", "rows = $0, weight = $1, counts = $2, transposed = true",
                   "6x4x8xbf16, 6x8x10xbf16, 6x4xi64 -> 6x4x10xbf16"),
            "%0 = meshplan.grouped_linear(counts c, rows g, transposed false, weight b): 6x4x8xbf16\n"
            "%1 = meshplan.grouped_linear_weight_gradient(counts c, gradient g, rows a, transposed true): 6x8x10xbf16\n"
            "a: %0\nb: %1");
  EXPECT_EQ(deriveOnly({0}, "meshplan.grouped_linear", "rows = $0, weight = $1, counts = $2",
                       "6x4x8xf32, 6x10x8xf32, 6x4xi64 -> 6x4x10xf32"),
            "%0 = meshplan.grouped_linear(counts c, rows g, transposed true, weight b): 6x4x8xf32\na: %0")
      << "experts that are not trained have no call";
}

TEST_F(ExpertDerivatives, ABiasIsSummedByExpert) {
  EXPECT_EQ(
      derive("meshplan.grouped_bias", "rows = $0, bias = $1, counts = $2", "6x4x8xf32, 6x8xf32, 6x4xi64 -> 6x4x8xf32"),
      "%0 = meshplan.grouped_bias_gradient(counts c, gradient g): 6x8xf32\na: g\nb: %0");
}

} // namespace
