//===- kernel_blocks.h - sizes of what kernels compute at a time -*- C++ -*-===//
//
// Kernels of the runtime work in blocks, so that their temporaries stay small. The op records of the compiler count
// the memory of these temporaries, so both sides read the sizes here. They hold for CPUs unless a comment says
// otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_SCHEMA_KERNEL_BLOCKS_H
#define MESHPLAN_RUNTIME_SCHEMA_KERNEL_BLOCKS_H

#include <cstdint>

namespace meshplan::kernel_blocks {

/// Query rows of attention in a block, on all devices; they share one additive mask.
inline constexpr int64_t attentionRows = 512;

/// Scores in a tile of the gradients of attention: two such tensors of f32 stay in the second-level cache of a core.
inline constexpr int64_t tileScores = 1 << 17;

/// Query rows in a tile of the gradients of attention, at least, on all devices.
inline constexpr int64_t leastTileRows = 32;

/// Elements of the rows that losses and norms compute at a time, at least a row: in f32 they stay in that cache, too.
inline constexpr int64_t rowElements = 1 << 16;

/// Elements of which a sum of squares holds the squares at a time, on all devices.
inline constexpr int64_t squaredElements = 1 << 20;

/// True if the fused attention kernels of a GPU take heads of this size, with values of `valueSize`.
constexpr bool isFusedHeadSize(int64_t size, int64_t valueSize) {
  return size == valueSize && size % 8 == 0 && size <= 256;
}

} // namespace meshplan::kernel_blocks

#endif // MESHPLAN_RUNTIME_SCHEMA_KERNEL_BLOCKS_H
