//===- mpi_reduced_piece_test.cpp - chunks are added in group order -------===//

#include "runtime/comm/mpi/reduced_piece.h"

#include <cstring>
#include <gmock/gmock.h>

namespace meshplan {
namespace {

constexpr int64_t perChunk = chunkBytes / int64_t(sizeof(float));

Buffer chunkOf(float value, int64_t count) {
  Buffer buffer = Buffer::allocate(count * int64_t(sizeof(float)));
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(buffer.data() + i * sizeof(float), &value, sizeof(float));
  return buffer;
}

ReducedPiece pieceOf(std::vector<float> &input, std::vector<float> &output, int64_t slots, int64_t ownSlot) {
  return ReducedPiece(reinterpret_cast<std::byte *>(input.data()), reinterpret_cast<std::byte *>(output.data()),
                      static_cast<int64_t>(input.size() * sizeof(float)), slots, ownSlot);
}

TEST(ReducedPiece, AddsInTheOrderOfSlotsWhateverTheOrderOfArrival) {
  // (1e8 + 1) - 1e8 is 0 in f32, (1e8 - 1e8) + 1 is 1.
  std::vector<float> own = {1.0f}, output(1);
  ReducedPiece piece = pieceOf(own, output, 3, 1);
  piece.accept(2, 0, chunkOf(-1e8f, 1));
  EXPECT_EQ(piece.reduceNext(DType::f32, Reduction::sum), 0) << "an addend is missing";
  piece.accept(0, 0, chunkOf(1e8f, 1));
  EXPECT_EQ(piece.reduceNext(DType::f32, Reduction::sum), 4);
  EXPECT_EQ(output[0], 0.0f);
  EXPECT_TRUE(piece.done());
}

TEST(ReducedPiece, ChunksOfOnePieceMayComeInAnyOrder) {
  std::vector<float> own(perChunk + 3, 1.0f);
  ReducedPiece piece = pieceOf(own, own, 2, 0); // in place
  piece.accept(1, chunkBytes, chunkOf(20, 3));
  EXPECT_EQ(piece.reduceNext(DType::f32, Reduction::sum), 0);
  piece.accept(1, 0, chunkOf(10, perChunk));
  EXPECT_EQ(piece.reduceNext(DType::f32, Reduction::sum), chunkBytes);
  EXPECT_FALSE(piece.done());
  EXPECT_EQ(piece.reduceNext(DType::f32, Reduction::sum), 12);
  EXPECT_EQ(piece.reduceNext(DType::f32, Reduction::sum), 0);
  EXPECT_TRUE(piece.done());
  EXPECT_EQ(own.front(), 11.0f);
  EXPECT_EQ(own[perChunk - 1], 11.0f);
  EXPECT_EQ(own.back(), 21.0f);
}

TEST(ReducedPiece, AloneItCopies) {
  std::vector<float> own = {1, 2, 3}, output(3);
  ReducedPiece piece = pieceOf(own, output, 1, 0);
  EXPECT_EQ(piece.reduceNext(DType::f32, Reduction::sum), 12);
  EXPECT_EQ(output, own);
}

TEST(ChunkPool, GivesAChunkAgain) {
  auto pool = std::make_shared<ChunkPool>();
  const std::byte *first = nullptr;
  {
    Buffer chunk = Buffer::allocate(chunkBytes, pool), small = Buffer::allocate(8, pool);
    first = chunk.data();
    EXPECT_NE(Buffer::allocate(chunkBytes, pool).data(), first) << "it is in use";
    EXPECT_EQ(small.size(), 8);
  }
  Buffer again = Buffer::allocate(chunkBytes, pool);
  EXPECT_EQ(again.data(), first);
  Buffer moved = std::move(again);
  EXPECT_EQ(moved.data(), first);
}

TEST(ReducedPiece, AnEmptyPieceIsDone) { EXPECT_TRUE(ReducedPiece().done()); }

} // namespace
} // namespace meshplan
