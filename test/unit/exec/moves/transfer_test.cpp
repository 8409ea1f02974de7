#include "runtime/exec/moves/transfer.h"

#include "runtime/tensor/torch/access.h"
#include "test/unit/exec/loaded_schedule.h"
#include "test/unit/exec/run_schedule.h"

#include <gmock/gmock.h>
#include <random>

using namespace meshplan;

namespace {

/// A global tensor 0, 1, 2, ... of 6 x 7 x 5, and parts of it.
class TransferTest : public testing::Test {
protected:
  const std::vector<int64_t> shape = {6, 7, 5};

  at::Tensor partOf(const SliceRanges &ranges) const {
    std::vector<int64_t> elements = elementsIn(ranges, shape);
    return at::tensor(elements, at::kLong).reshape(sliceShape(ranges));
  }

  /// One or two ranges, in order, possibly empty.
  std::vector<Range> drawDim(int64_t extent) {
    std::vector<int64_t> cuts;
    for (int i = 0; i < 4; ++i)
      cuts.push_back(static_cast<int64_t>(generator() % (extent + 1)));
    std::ranges::sort(cuts);
    if (generator() % 2 == 0)
      return {{cuts[0], cuts[3] - cuts[0]}};
    return {{cuts[0], cuts[1] - cuts[0]}, {cuts[2], cuts[3] - cuts[2]}};
  }

  SliceRanges draw() { return {drawDim(6), drawDim(7), drawDim(5)}; }

  std::mt19937 generator{11};
};

/// The same elements in other strides.
at::Tensor strided(const at::Tensor &tensor) { return tensor.transpose(0, 2).contiguous().transpose(0, 2); }

} // namespace

TEST_F(TransferTest, CopyOverlapCopiesWhatBothHold) {
  for (int round = 0; round < 300; ++round) {
    SliceRanges source = draw(), target = draw();
    at::Tensor from = partOf(source), into = at::full(sliceShape(target), -1, at::kLong);
    if (round % 3 == 1)
      from = strided(from);
    if (round % 3 == 2)
      into = strided(into);
    std::vector<int64_t> held = elementsIn(source, shape);
    at::Tensor wanted = partOf(target);
    wanted.masked_fill_(~at::isin(wanted, at::tensor(held, at::kLong)), -1);
    Status status = copyOverlap(overlapOf(source, target), wrap(from), wrap(into));
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(at::equal(into, wanted)) << "round " << round;
  }
}

namespace {

/// The pieces of a tensor, one after the other.
at::Tensor packedOf(const std::vector<TensorPiece> &pieces, const at::Tensor &from) {
  int64_t count = 0;
  for (const TensorPiece &piece : pieces)
    count += elementCount(piece);
  at::Tensor packed = at::empty({count}, from.options());
  int64_t begin = 0;
  for (const TensorPiece &piece : pieces) {
    Status status = packPiece(piece, wrap(at::Tensor(from)), wrap(at::Tensor(packed)), begin);
    EXPECT_TRUE(status.ok()) << status.message();
    begin += elementCount(piece);
  }
  return packed;
}

} // namespace

TEST_F(TransferTest, PackAndUnpackArePieceByPiece) {
  for (int round = 0; round < 100; ++round) {
    SliceRanges source = draw(), target = draw();
    at::Tensor from = round % 2 == 0 ? partOf(source) : strided(partOf(source));
    // Pieces for three receivers, one after the other.
    std::vector<TensorPiece> pieces;
    std::vector<int64_t> wanted;
    std::vector<int64_t> held = elementsIn(source, shape);
    for (const SliceRanges &taker : {target, draw(), source}) {
      pieces.push_back(overlapOf(source, taker));
      std::vector<int64_t> own = elementsIn(taker, shape);
      for (int64_t element : held)
        if (std::ranges::find(own, element) != own.end())
          wanted.push_back(element);
    }
    at::Tensor packed = packedOf(pieces, from);
    EXPECT_TRUE(at::equal(packed, at::tensor(wanted, at::kLong))) << "round " << round;
    // The last piece is the whole source: unpacked, it is the source again.
    auto begin = static_cast<int64_t>(wanted.size() - held.size());
    at::Tensor back = at::empty(sliceShape(source), at::kLong);
    ASSERT_TRUE(unpackPiece(pieces[2], wrap(at::Tensor(packed)), begin, wrap(at::Tensor(back))).ok());
    EXPECT_TRUE(at::equal(back, from));
  }
}

TEST_F(TransferTest, ARunOfAnyStridesIsPackedInRowMajorOrder) {
  at::Tensor rows = at::arange(60, at::kLong).reshape({3, 4, 5});
  for (const at::Tensor &from : {rows, rows.permute({2, 0, 1}), rows.slice(2, 0, 5, 2), at::tensor(7, at::kLong)})
    for (int64_t begin = 0; begin <= from.numel(); begin += 7)
      for (int64_t size : {int64_t(0), int64_t(1), (from.numel() - begin) / 2, from.numel() - begin}) {
        if (begin + size > from.numel())
          continue;
        at::Tensor into = at::full({size + 3}, -1, at::kLong);
        Status status = packRun(wrap(at::Tensor(from)), {begin, size}, wrap(at::Tensor(into)), 2);
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_TRUE(at::equal(into.slice(0, 2, 2 + size), from.flatten().slice(0, begin, begin + size)));
        EXPECT_EQ(into[1].item<int64_t>(), -1);
        EXPECT_EQ(into[size + 2].item<int64_t>(), -1);
      }
}

TEST_F(TransferTest, UnpackPutsTogetherWhatSeveralGave) {
  // Columns sharded part by part over three ranks: unpacking restores the whole.
  DimSharding columns{.extent = 7, .axes = {{0, 1, 3}}, .unit = 1, .parts = {4, 3}};
  SliceRanges whole = wholeTensor(shape);
  std::vector<TensorPiece> pieces;
  std::vector<at::Tensor> flat;
  for (int64_t index = 0; index < 3; ++index) {
    SliceRanges ranges = {{{0, 6}}, shardRanges(columns, index), {{0, 5}}};
    pieces.push_back(overlapOf(ranges, whole));
    flat.push_back(partOf(ranges).flatten());
  }
  at::Tensor target = at::full(shape, -1, at::kLong);
  int64_t begin = 0;
  for (const TensorPiece &piece : pieces) {
    Status status = unpackPiece(piece, wrap(at::cat(flat)), begin, wrap(at::Tensor(target)));
    ASSERT_TRUE(status.ok()) << status.message();
    begin += elementCount(piece);
  }
  EXPECT_TRUE(at::equal(target, partOf(whole)));
}

TEST_F(TransferTest, ScalarsAndNothing) {
  at::Tensor scalar = at::scalar_tensor(5, at::kLong), into = at::scalar_tensor(0, at::kLong);
  ASSERT_TRUE(copyOverlap(overlapOf({}, {}), wrap(scalar), wrap(into)).ok());
  EXPECT_EQ(into.item<int64_t>(), 5);
  at::Tensor packed = packedOf({overlapOf({}, {}), Range{0, 1}}, scalar);
  EXPECT_TRUE(at::equal(packed, at::tensor({5, 5}, at::kLong)));
}

TEST_F(TransferTest, ElementTypesAreKeptAndMustAgree) {
  SliceRanges ranges = {{{1, 2}}};
  for (auto type : {at::kBFloat16, at::kBool, at::kChar, at::kDouble}) {
    at::Tensor tensor = at::tensor({0, 1}, at::kLong).to(type);
    EXPECT_TRUE(at::equal(packedOf({overlapOf(ranges, ranges)}, tensor), tensor));
  }
  EXPECT_EQ(copyOverlap(overlapOf(ranges, ranges), wrap(at::zeros({2})), wrap(at::zeros({2}, at::kDouble))).message(),
            "cannot copy [2] f32 into [2] f64");
}
