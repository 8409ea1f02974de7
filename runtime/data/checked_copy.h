//===- checked_copy.h - reading with checksums ------------------*- C++ -*-===//
//
// Reads tensors that have checksums. Private to this room.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_DATA_CHECKED_COPY_H
#define MESHPLAN_RUNTIME_DATA_CHECKED_COPY_H

#include "runtime/data/tensor_source.h"

namespace meshplan {

/// As copySlice, for a tensor with checksums. Compares the blocks assigned to this reader; a block that it reads
/// completely is compared while it is in the cache. `corrupted` if one differs.
Status copyChecked(const StoredTensor &tensor, std::span<const std::byte> payload, const SliceRanges &ranges,
                   ReaderShare share, std::byte *out, DType to);

/// Compares all blocks of a tensor if it has checksums.
Status checkBlocks(const StoredTensor &tensor, std::span<const std::byte> payload);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATA_CHECKED_COPY_H
