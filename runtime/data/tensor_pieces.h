//===- tensor_pieces.h - slices of tensors of several pieces ----*- C++ -*-===//
//
// A tensor may be stored as several others (TensorSource::assemble), or as a part of another one
// (TensorSource::divide). Here a slice of it becomes slices of these. Private to this room.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_DATA_TENSOR_PIECES_H
#define MESHPLAN_RUNTIME_DATA_TENSOR_PIECES_H

#include "runtime/data/tensor_source.h"

#include <optional>

namespace meshplan {

/// The part of a piece that a slice contains, and its position in the row-major tensor of the slice. Both have the same
/// elements in the same order.
struct PieceSlice {
  SliceRanges ofPiece;  ///< in the stored tensor
  SliceRanges ofResult; ///< in the tensor of the slice

  bool isEmpty() const;

  /// The first element in the tensor of the slice, of this shape, if the elements follow one another there.
  std::optional<int64_t> onlyRun(std::span<const int64_t> shape) const;
};

/// Precondition: checkSlice for the tensor that the piece belongs to.
PieceSlice sliceOfPiece(const StoredPiece &piece, const SliceRanges &ranges);

/// A slice of a tensor that is a part of another one, as a slice of that one. Precondition: checkSlice.
SliceRanges rangesOfWhole(const StoredTensor &part, const SliceRanges &ranges);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATA_TENSOR_PIECES_H
