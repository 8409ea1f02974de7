//===- conversion_test.cpp - derivatives of conversions and copies --------===//

#include "../derive.h"

using namespace meshplan;

namespace {

using ConversionDerivatives = DeriveTest;

TEST_F(ConversionDerivatives, TheGradientGetsTheOperandsType) {
  EXPECT_EQ(derive("aten.to.dtype", "self = $0, dtype = f32", "4xbf16 -> 4xf32"),
            "%0 = aten.to.dtype(dtype bf16, self g): 4xbf16\na: %0");
  EXPECT_EQ(derive("aten._to_copy.default", "self = $0, dtype = bf16", "4xf32 -> 4xbf16"),
            "%0 = aten.to.dtype(dtype f32, self g): 4xf32\na: %0");
  EXPECT_EQ(derive("aten.clone.default", "self = $0", "4xf32 -> 4xf32"), "a: g");
}

/// The other tensor only provides its type.
TEST_F(ConversionDerivatives, AModelOfTheTypeHasNone) {
  EXPECT_EQ(derive("aten.type_as.default", "self = $0, other = $1", "4xf32, 2xf32 -> 4xf32"), "a: g");
}

TEST_F(ConversionDerivatives, WhatIsCopiedOverHasNone) {
  EXPECT_EQ(derive("aten.copy.default", "self = $0, src = $1", "4x6xf32, 6xbf16 -> 4x6xf32"),
            "%0 = aten.sum.dim_IntList(dim [0], keepdim false, self g): 6xf32\n"
            "%1 = aten.to.dtype(dtype bf16, self %0): 6xbf16\nb: %1");
}

TEST_F(ConversionDerivatives, WhatIsDetachedHasNone) {
  for (const char *target : {"aten.detach.default", "aten.zeros_like.default", "aten.ones_like.default"})
    EXPECT_EQ(derive(target, "self = $0", "4xf32 -> 4xf32"), "nothing") << target;
  EXPECT_EQ(derive("aten.new_zeros.default", "self = $0, size = [2]", "4xf32 -> 2xf32"), "nothing");
}

} // namespace
