//===- attention_memory_test.cpp - memory of the attention kernel ---------===//
//
// Bytes counted by hand, following runtime/tensor/torch/kernels/attention.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/attention_memory.h"
#include "test/unit/sharding/parsed_call.h"

using namespace meshplan;

namespace {

class AttentionMemoryTest : public CallTest {
protected:
  /// A call with more literal arguments, and a mask or key mask as operand 3 if those name one.
  CallView call(const std::string &arguments, const std::string &types, llvm::ArrayRef<Strides> strides = {}) {
    std::string all = "{query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>";
    CallView result =
        parse("meshplan.attention", all + (arguments.empty() ? "" : ", ") + arguments + "}", "(" + types + ") -> ()");
    result.strides.assign(strides.begin(), strides.end());
    return result;
  }
  int64_t workspace(const std::string &arguments, const std::string &types, llvm::ArrayRef<Strides> strides = {}) {
    CallView attention = call(arguments, types, strides);
    return attentionWorkspace(attention, AttentionSizes::of(attention).value());
  }
  /// The workspace of its gradients, without copies of the gradient of its result.
  int64_t gradientWorkspace(const std::string &arguments, const std::string &types) {
    CallView attention = call(arguments, types);
    return attentionGradientWorkspace(attention, AttentionSizes::of(attention).value());
  }
  bool isOnePiece(const std::string &arguments, const std::string &types) {
    CallView attention = call(arguments, types);
    return isOneFlashCall(attention, AttentionSizes::of(attention).value());
  }
};

/// `tensor<BxHxRxDxTYPE>` of query, key and value.
std::string qkv(const std::string &query, const std::string &key, const std::string &type = "f32") {
  return "tensor<" + query + "x" + type + ">, tensor<" + key + "x" + type + ">, tensor<" + key + "x" + type + ">";
}

TEST_F(AttentionMemoryTest, SizesOfACall) {
  std::optional<AttentionSizes> sizes =
      AttentionSizes::of(call("", "tensor<2x6x5x8xbf16>, tensor<2x3x7x8xbf16>, tensor<2x3x7x4xbf16>"));
  ASSERT_TRUE(sizes);
  EXPECT_EQ(sizes->batch, 2);
  EXPECT_EQ(sizes->heads, 6);
  EXPECT_EQ(sizes->groups, 3);
  EXPECT_EQ(sizes->rows, 5);
  EXPECT_EQ(sizes->keys, 7);
  EXPECT_EQ(sizes->size, 8);
  EXPECT_EQ(sizes->valueSize, 4);
  EXPECT_EQ(sizes->elementBytes, 2);
}

TEST_F(AttentionMemoryTest, CallsWithoutSizes) {
  EXPECT_FALSE(AttentionSizes::of(call("", "tensor<2x6x5x8xf32>, tensor<2x3x7x8xf32>, tensor<3x7x8xf32>")));
  EXPECT_FALSE(AttentionSizes::of(call("", "tensor<2x6x40xf32>, tensor<2x3x7x8xf32>, tensor<2x3x7x8xf32>")));
  EXPECT_FALSE(AttentionSizes::of(call("", "tensor<2x6x5x8xf32>, tensor<2x0x7x8xf32>, tensor<2x0x7x8xf32>")))
      << "no head to read";
  EXPECT_FALSE(AttentionSizes::of(parse("meshplan.attention", "{query = #base.operand<0>, key = #base.operand<1>}",
                                        "(tensor<2x6x5x8xf32>, tensor<2x3x7x8xf32>) -> ()")));
}

TEST_F(AttentionMemoryTest, OneFlashCallNeedsNoBlocksOfRows) {
  const std::string most = qkv("1x2x512x8", "1x2x600x8"), more = qkv("1x2x513x8", "1x2x600x8");
  struct {
    const char *arguments, *mask;
    bool most, more;
  } cases[] = {
      {"", "", true, true},
      {"causal = true", "", true, true},
      {"window = 0, softcap = 0.0", "", true, true},
      {"window = 4", "", true, false},
      {"mask = #base.operand<3>", ", tensor<1x1x1x600xi1>", true, false},
      {"key_mask = #base.operand<3>", ", tensor<1x600xi1>", true, false},
      {"softcap = 2.0", "", false, false},
      {"softcap = 2.0, window = 4", "", false, false},
      {"dropout = 0.5", "", false, false},
  };
  for (auto [arguments, mask, ofMost, ofMore] : cases) {
    EXPECT_EQ(isOnePiece(arguments, most + mask), ofMost) << arguments;
    EXPECT_EQ(isOnePiece(arguments, more + mask), ofMore) << arguments;
  }
  EXPECT_FALSE(isOnePiece("", "tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x4xf32>"))
      << "values of another size";
}

TEST_F(AttentionMemoryTest, AFlashTileIsAsManyRowsAsThereAre) {
  // Scores, and per row a maximum, a sum and the product with values, in float.
  auto tile = [](int64_t rows, int64_t keys) { return 4 * (rows * keys + rows * (2 + 8)); };
  EXPECT_EQ(workspace("", qkv("1x2x5x8", "1x2x3x8")), 4 * (15 + 5 * 10));
  const std::pair<int64_t, int64_t> rowsAndTiles[] = {{31, 31}, {32, 32}, {191, 32}, {192, 64}, {767, 64}, {768, 256}};
  for (auto [rows, tileRows] : rowsAndTiles)
    EXPECT_EQ(workspace("", qkv("1x2x" + std::to_string(rows) + "x8", "1x2x100x8")), tile(tileRows, 100)) << rows;
  for (auto [keys, tileKeys] : {std::pair<int64_t, int64_t>{511, 511}, {512, 512}, {4096, 512}})
    EXPECT_EQ(workspace("causal = true", qkv("1x2x32x8", "1x2x" + std::to_string(keys) + "x8")), tile(32, tileKeys));
  EXPECT_EQ(workspace("", qkv("4x8x32x8", "4x2x32x8")), tile(32, 32)) << "one thread, whatever batch and heads";
}

TEST_F(AttentionMemoryTest, HalfTypesHaveTheirScoresTwice) {
  EXPECT_EQ(workspace("", qkv("1x2x5x8", "1x2x3x8", "bf16")), 4 * (15 + 5 * 10) + 2 * 15);
  EXPECT_EQ(workspace("", qkv("1x2x5x8", "1x2x3x8", "f16")), 4 * (15 + 5 * 10) + 2 * 15);
}

TEST_F(AttentionMemoryTest, TheFlashKernelReadsAdjacentElements) {
  const int64_t tile = 4 * (15 + 5 * 10);
  const std::string types = qkv("1x2x5x8", "1x2x3x8");
  const Strides query = {80, 40, 8, 1}, key = {48, 24, 8, 1};
  EXPECT_EQ(workspace("", types, {query, key, key}), tile);
  EXPECT_EQ(workspace("", types, {{80, 8, 16, 1}, {48, 8, 16, 1}, key}), tile) << "heads and rows may be swapped";
  EXPECT_EQ(workspace("", types, {{80, 40, 1, 5}, key, key}), tile + 4 * 80);
  EXPECT_EQ(workspace("", types, {query, {48, 24, 1, 3}, key}), tile + 4 * 48);
  EXPECT_EQ(workspace("", types, {{80, 40, 1, 5}, {48, 24, 1, 3}, {48, 24, 1, 3}}), tile + 4 * (80 + 48 + 48));
}

TEST_F(AttentionMemoryTest, SharedKeyHeadsAreCopiedToTheHeadsThatReadThem) {
  // Keys and values are copied to 6 heads of 3 rows of 8.
  const int64_t tile = 4 * (15 + 5 * 10), copies = 2 * 4 * (6 * 3 * 8);
  EXPECT_EQ(workspace("heads_per_key = 2", qkv("1x6x5x8", "1x3x3x8")), tile + copies);
  EXPECT_EQ(
      workspace("heads_per_key = 2", qkv("1x6x5x8", "1x3x3x8"), {{240, 40, 8, 1}, {72, 24, 1, 3}, {72, 24, 1, 3}}),
      tile + copies)
      << "the copies are row-major";
}

/// One block of 64 rows and 32 keys: 2048 pairs. The results, which are counted elsewhere, have 4608 bytes.
TEST_F(AttentionMemoryTest, AMaskIsAddedToTheScores) {
  const std::string types = qkv("1x2x64x8", "1x2x32x8");
  const int64_t places = 64 * 32, tile = 4 * (32 * 32 + 32 * 10), result = 2 * 64 * (8 * 4 + 4);
  ASSERT_EQ(result, 4608);
  auto masked = [&](const std::string &mask) { return workspace("mask = #base.operand<3>", types + ", " + mask); };
  // While it is used: mask, results and tile. While it is computed: zeros, the mask from them, and a converted copy.
  const int64_t used = 4 * places + tile;
  EXPECT_EQ(masked("tensor<1x1x64x32xf32>"), used);
  EXPECT_EQ(masked("tensor<1x1x64x32xi1>"), 13824) << "being made 2 x 8192 + 2048, without 4608 of results; used 13568";
  EXPECT_EQ(masked("tensor<1x1x1x32xi1>"), used) << "where it hides is a row of 32 bytes";
  EXPECT_EQ(masked("tensor<1x1x64x32xbf16>"), 4 * places * 3 - result) << "converted";
  EXPECT_EQ(masked("tensor<1x1x64x1xbf16>"), used) << "a column of 64 numbers";
  EXPECT_EQ(masked("tensor<1x2x64x32xf32>"), 2 * 4 * places + tile) << "one for each head";
  EXPECT_EQ(masked("tensor<1x1x64x32xf64>"), 28160) << "in the wider type: 2 x 16384, without 4608 of results";
}

TEST_F(AttentionMemoryTest, AKeyMaskIsOneForEachSample) {
  const std::string types = qkv("3x2x64x8", "3x2x32x8");
  // A mask of one sample has 64 x 32 floats, 8192 bytes; a tile 5376; the results 3 x 2 x 64 rows of 36 bytes, 13824.
  EXPECT_EQ(workspace("key_mask = #base.operand<3>", types + ", tensor<3x32xi1>"), 29952)
      << "used: three masks and a tile; while they are made 4 x 8192 without the results";
  EXPECT_EQ(workspace("key_mask = #base.operand<3>, mask = #base.operand<4>",
                      types + ", tensor<3x32xi1>, tensor<1x2x64x32xf32>"),
            59904)
      << "a mask for each sample and head: while the six are made, those of the three samples are there too";
  // With 512 rows and keys, the zeros beside the masks of two samples need more than the kernel.
  EXPECT_EQ(workspace("key_mask = #base.operand<3>", qkv("2x1x512x8", "2x1x512x8") + ", tensor<2x512xi1>"),
            4 * 512 * 512 * (1 + 2) - 2 * 512 * (8 * 4 + 4));
}

TEST_F(AttentionMemoryTest, DistancesAreMadeForWindows) {
  // 64 rows read 64 keys: distances of 8 bytes, and a flag per distance.
  const int64_t places = 64 * 64, result = 2 * 64 * (8 * 4 + 4);
  EXPECT_EQ(workspace("window = 4", qkv("1x2x64x8", "1x2x64x8")), places * (4 + 8 + 1) - result);
  EXPECT_EQ(workspace("causal = true, mask = #base.operand<3>", qkv("1x2x64x8", "1x2x64x8") + ", tensor<1x1x1x64xf32>"),
            places * (4 + 8 + 1) - result);
}

TEST_F(AttentionMemoryTest, ABlockReachesSomeKeys) {
  auto most = [](int64_t rows, int64_t keys) { return rows * keys * (4 + 8 + 1); };
  // Blocks of 512, 512 and 76 rows: the last one reads all keys, the second 1024.
  EXPECT_EQ(workspace("causal = true, window = 5000", qkv("1x1x1100x8", "1x1x1100x8")), most(512, 1024));
  // There are fewer keys than rows.
  EXPECT_EQ(workspace("causal = true, window = 5000", qkv("1x1x1536x8", "1x1x600x8")), most(512, 600));
  // The first block reads 512 keys, the second one its own and 99 before.
  EXPECT_EQ(workspace("causal = true, window = 100", qkv("1x1x1024x8", "1x1x1024x8")), most(512, 512 + 99));
  // Without causal order, only keys far before the block are skipped.
  EXPECT_EQ(workspace("window = 100", qkv("1x1x1024x8", "1x1x1024x8")), most(512, 1024));
  // Blocks after the last key still read one key; the first block reads most.
  EXPECT_EQ(workspace("window = 1", qkv("1x1x1024x8", "1x1x8x8")), most(512, 8));
}

/// Without a flash kernel: rows 64, keys 32, 4 heads, sizes 8; a mask of zeros in double is always created.
TEST_F(AttentionMemoryTest, TheDefinitionHoldsTwoProducts) {
  const int64_t query = 4 * 64 * 8, key = 4 * 32 * 8, scores = 4 * 64 * 32, out = 4 * 64 * 8, places = 64 * 32;
  const int64_t result = 4 * (4 * 64 * 8 + 4 * 64);
  auto softcap = [&](const std::string &types) { return workspace("softcap = 2.0", types); };
  // Separate heads are read in place: the scaled query and the scores, then scores and output.
  EXPECT_EQ(softcap(qkv("1x4x64x8", "1x4x32x8")), 8 * places + 4 * (query + scores) - result);
  // Shared heads are repeated.
  EXPECT_EQ(softcap(qkv("1x4x64x8", "1x2x32x8")), 8 * places + 4 * (query + key + scores) - result);
  // In double, without a mask of another type.
  EXPECT_EQ(softcap(qkv("1x4x64x8", "1x4x32x8", "f64")),
            8 * places + 8 * (query + scores) - (8 * 4 * 64 * 8 + 4 * 4 * 64));
  // A half type is converted first: query twice, key; then scores, value and the output in both types.
  const int64_t half = 2 * 4 * 64 * 8 + 4 * 4 * 64;
  EXPECT_EQ(softcap(qkv("1x4x64x8", "1x4x32x8", "bf16")), 8 * places + 4 * (2 * query + key + scores) - half);
  ASSERT_GT(4 * (2 * query + key + scores), 4 * (scores + key + out) + 2 * out);
}

TEST_F(AttentionMemoryTest, ValuesOfAnotherSizeHaveNoFlashKernel) {
  // With 32 columns the output beside the scores needs more than the scaled query of 8.
  const int64_t scores = 4 * 64 * 32, out = 4 * 64 * 32, places = 64 * 32;
  EXPECT_EQ(workspace("", "tensor<1x4x64x8xf32>, tensor<1x4x32x8xf32>, tensor<1x4x32x32xf32>"),
            8 * places + 4 * (scores + out) - 4 * (out + 4 * 64));
}

TEST_F(AttentionMemoryTest, TheDefinitionCopiesWhatIsNoListOfMatrices) {
  const int64_t query = 4 * 64 * 8, key = 4 * 32 * 8, scores = 4 * 64 * 32, places = 64 * 32;
  // Two samples of two heads; heads and rows of the keys are swapped, so that sample and head cannot be merged.
  const std::string types = qkv("2x2x64x8", "2x2x32x8");
  const int64_t result = 4 * (4 * 64 * 8 + 4 * 64);
  const Strides plain = {1024, 512, 8, 1}, plainKey = {512, 256, 8, 1}, swappedKey = {512, 8, 16, 1};
  const int64_t first = query + scores;
  EXPECT_EQ(workspace("softcap = 2.0", types, {plain, plainKey, plainKey}), 8 * places + 4 * first - result);
  EXPECT_EQ(workspace("softcap = 2.0", types, {plain, swappedKey, plainKey}), 8 * places + 4 * (first + key) - result);
  EXPECT_EQ(workspace("softcap = 2.0", types, {{1024, 8, 16, 1}, plainKey, plainKey}),
            8 * places + 4 * (first + query) - result)
      << "the scaled query lies as the query does";
  EXPECT_EQ(workspace("softcap = 2.0", types, {{2048, 512, 8, 1}, plainKey, plainKey}), 8 * places + 4 * first - result)
      << "without gaps that the query had";
}

TEST_F(AttentionMemoryTest, AMaskOfTheDefinitionIsMadeInDouble) {
  // Scores of one head and a mask of two samples: the peak is the mask in float beside the scores.
  const int64_t places = 64 * 64;
  const int64_t result = 2 * 4 * (64 * 1 + 64);
  EXPECT_EQ(workspace("softcap = 2.0, key_mask = #base.operand<3>",
                      "tensor<2x1x64x1xf32>, tensor<2x1x64x1xf32>, tensor<2x1x64x1xf32>, tensor<2x64xi1>"),
            2 * 8 * places + 2 * 4 * places + 2 * 4 * places - result);
  // In double no conversion is needed: the peak is the scaled query and the scores.
  EXPECT_EQ(workspace("softcap = 2.0, key_mask = #base.operand<3>",
                      "tensor<2x1x64x1xf64>, tensor<2x1x64x1xf64>, tensor<2x1x64x1xf64>, tensor<2x64xi1>"),
            2 * 8 * places + 8 * (2 * 64 + 2 * places) - 2 * 64 * (8 + 4));
}

/// Probabilities are dropped in place: the same as with a softcap, for which tanh is in place, too.
TEST_F(AttentionMemoryTest, DropoutIsComputedByTheDefinition) {
  for (const char *type : {"f32", "bf16"})
    EXPECT_EQ(workspace("dropout = 0.5", qkv("1x4x64x8", "1x2x32x8", type)),
              workspace("softcap = 2.0", qkv("1x4x64x8", "1x2x32x8", type)));
}

/// One tile has all 64 rows and 32 keys of all heads: probabilities and gradients of scores, and the gradient of its
/// queries. Contiguous operands are read in place.
TEST_F(AttentionMemoryTest, GradientsHoldTheScoresOfATileTwice) {
  const int64_t query = 4 * 64 * 8, scores = 4 * 64 * 32, places = 64 * 32;
  EXPECT_EQ(gradientWorkspace("dropout = 0.5", qkv("1x4x64x8", "1x4x32x8")), 4 * (2 * scores + query));
  EXPECT_EQ(gradientWorkspace("dropout = 0.5", qkv("1x4x64x8", "1x4x32x8", "f64")), 8 * (2 * scores + query));
  // Rows of the query heads that share keys form one matrix.
  EXPECT_EQ(gradientWorkspace("dropout = 0.5", qkv("1x4x64x8", "1x2x32x8")), 4 * (2 * scores + query));
  EXPECT_EQ(gradientWorkspace("per_head = true", qkv("1x4x64x8", "1x2x32x8")),
            4 * (2 * scores + query + 2 * 4 * 32 * 8))
      << "keys and values are copied to each head";
  // The derivative of the cap is one more tensor of the scores' size.
  EXPECT_EQ(gradientWorkspace("softcap = 2.0", qkv("1x4x64x8", "1x4x32x8")), 4 * (3 * scores + query));
  EXPECT_EQ(gradientWorkspace("causal = true", qkv("1x4x64x8", "1x4x32x8")), 4 * (2 * scores + query + places))
      << "the keys beside the rows have a mask";
}

/// Operands are copied to f32; the sums of keys and values are in f32, in memory that the rounded results need
/// afterwards.
TEST_F(AttentionMemoryTest, GradientsOfHalfTypesAreComputedInFloat) {
  const int64_t query = 4 * 64 * 8, key = 4 * 32 * 8, shared = 2 * 32 * 8, scores = 4 * 64 * 32, places = 64 * 32;
  EXPECT_EQ(gradientWorkspace("dropout = 0.5", qkv("1x4x64x8", "1x4x32x8", "bf16")),
            4 * (2 * scores + query) + 4 * (query + 2 * key) + (4 - 2) * 2 * key);
  EXPECT_EQ(gradientWorkspace("causal = true", qkv("1x4x64x8", "1x2x32x8", "bf16")),
            4 * (2 * scores + query + places) + 4 * (query + 2 * shared) + (4 - 2) * 2 * shared);
}

} // namespace
