//===- tensor_pieces.cpp - slices of tensors of several pieces ------------===//

#include "runtime/data/tensor_pieces.h"

#include <algorithm>

namespace meshplan {

bool PieceSlice::isEmpty() const {
  return std::ranges::any_of(ofResult, [](const std::vector<Range> &dim) { return dim.empty(); });
}

std::optional<int64_t> PieceSlice::onlyRun(std::span<const int64_t> shape) const {
  std::vector<int64_t> strides = contiguousStrides(shape), part = sliceShape(ofResult);
  int64_t begin = 0;
  bool isInside = false; // a dim has more than one of its elements in the run
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (isInside && part[dim] != shape[dim])
      return std::nullopt;
    if (isInside)
      continue;
    if (ofResult[dim].size() != 1)
      return std::nullopt;
    begin += ofResult[dim].front().offset * strides[dim];
    isInside = part[dim] != 1;
  }
  return begin;
}

PieceSlice sliceOfPiece(const StoredPiece &piece, const SliceRanges &ranges) {
  PieceSlice slice;
  for (size_t dim = 0; dim < ranges.size(); ++dim) {
    std::vector<Range> &inPiece = slice.ofPiece.emplace_back(), &inResult = slice.ofResult.emplace_back();
    int64_t first = piece.begin[dim], end = first + piece.shape[dim], position = 0;
    for (const Range &range : ranges[dim]) {
      int64_t from = std::max(range.offset, first), to = std::min(range.offset + range.size, end);
      if (from < to) {
        inPiece.push_back({from - first, to - from});
        inResult.push_back({position + from - range.offset, to - from});
      }
      position += range.size;
    }
  }
  // Its first dim has one element, so that the others keep their order without it.
  if (piece.tensor.shape.size() < piece.shape.size())
    slice.ofPiece.erase(slice.ofPiece.begin());
  return slice;
}

SliceRanges rangesOfWhole(const StoredTensor &part, const SliceRanges &ranges) {
  SliceRanges inWhole;
  size_t missing = part.begin.size() - part.shape.size();
  if (missing > 0)
    inWhole.push_back({{part.begin[0], 1}});
  for (size_t dim = 0; dim < ranges.size(); ++dim)
    for (std::vector<Range> &own = inWhole.emplace_back(ranges[dim]); Range &range : own)
      range.offset += part.begin[dim + missing];
  return inWhole;
}

} // namespace meshplan
