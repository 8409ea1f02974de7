//===- wide_products_test.cpp - memory of products in 16 bits -------------===//

#include "compiler/sharding/record_support/wide_products.h"
#include <gtest/gtest.h>

using namespace meshplan;

TEST(WideProducts, ASmallOperandIsConvertedWhole) {
  EXPECT_EQ(wideProductBytes(6, 12, 3), 4 * (6 + 12));
  EXPECT_EQ(wideProductBytes(6, 1 << 18, 3), 4 * (6 + (1 << 18)));
  EXPECT_EQ(wideProductBytes(0, 0, 0), 0);
}

TEST(WideProducts, ALargeOneInBlocksThatStayInACache) {
  EXPECT_EQ(wideProductBytes(6, 1 << 24, 1 << 10), 4 * (6 + (1 << 18)));
}

TEST(WideProducts, ABlockHasAFewColumnsHoweverLongTheyAre) {
  EXPECT_EQ(wideProductBytes(0, int64_t(1) << 30, 1 << 20), 4 * (int64_t(16) << 20));
}

// Values counted with PyTorch 2.11, with one thread on a processor with AVX-512 BF16.
TEST(WideProducts, HalfTypesAreMultipliedInBlocks) {
  EXPECT_EQ(bf16ProductBytes({96, 64, 96}), 33792);
  EXPECT_EQ(bf16ProductBytes({17, 200, 40}), 32416) << "fewer columns than a block has";
  EXPECT_EQ(bf16ProductBytes({1000, 64, 192}), 73216) << "rows in four blocks";
  EXPECT_EQ(bf16ProductBytes({64, 11008, 4096}), 148480) << "a part of the contraction at a time";
  EXPECT_EQ(bf16ProductBytes({300, 200, 1}), 29952) << "a vector is the left side";
  EXPECT_EQ(bf16ProductBytes({16, 16, 16}), 0) << "too small";
  EXPECT_EQ(bf16ProductBytes({64, 64, 0}), 0);
}

TEST(WideProducts, ATransposedSideIsCopiedToo) {
  EXPECT_EQ(bf16ProductBytes({96, 384, 64, true}), 148608);
  EXPECT_EQ(bf16ProductBytes({384, 64, 192, true}), 83072) << "a block of rows at a time";
  EXPECT_EQ(bf16ProductBytes({256, 4096, 256, true}), 607360) << "all sums are there";
  EXPECT_NEAR(bf16ProductBytes({1000, 768, 1000, true}), 1362688, 512);
}
