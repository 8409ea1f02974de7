//===- checked_copy.h - reading what has checksums ---------------*- C++ -*-===//
//
// Private to this room.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_DATA_CHECKED_COPY_H
#define MESHPLAN_RUNTIME_DATA_CHECKED_COPY_H

#include "runtime/data/tensor_source.h"

namespace meshplan {

/// As copySlice, of a tensor that has checksums. Compares the blocks that are this reader's, those that it reads whole
/// while they are in the cache. `corrupted` where one differs.
Status copyChecked(const StoredTensor &tensor, std::span<const std::byte> payload, const SliceRanges &ranges,
                   ReaderShare share, std::byte *out, DType to);

/// Compares all blocks of a tensor, if it has checksums.
Status checkBlocks(const StoredTensor &tensor, std::span<const std::byte> payload);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATA_CHECKED_COPY_H
