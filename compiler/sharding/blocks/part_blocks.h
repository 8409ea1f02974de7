//===- part_blocks.h - blocks of the parts of a dim -------------*- C++ -*-===//
//
// Operators that split a dim tell where its parts end and which blocks each
// part has: a fused weight has the query heads (those that share a key in one
// block), then the key heads, then the value heads. Pure and thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_BLOCKS_PART_BLOCKS_H
#define MESHPLAN_COMPILER_SHARDING_BLOCKS_PART_BLOCKS_H

#include "runtime/schema/extent.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <limits>
#include <optional>

namespace meshplan {

/// A repeat count that forbids sharing. Where the queries of one attention are also the keys of another, or its keys
/// derive from them, sharing would distribute them twice.
inline constexpr int64_t cannotShare = std::numeric_limits<int64_t>::max();

/// Parts of a dim, in order; empty if no operator splits the dim.
using PartBlocks = llvm::SmallVector<DimPart, 0>;

/// The smallest block size that is a multiple of both; the whole extent if there is none within it. A dim without
/// elements has block size 1.
int64_t joinBlocks(int64_t left, int64_t right, int64_t extent);

/// Merges two lists of parts of one dim: a part ends wherever it ends in one of the lists, and its blocks combine those
/// of both.
PartBlocks mergeParts(llvm::ArrayRef<DimPart> left, llvm::ArrayRef<DimPart> right);

/// The parts of the `extent` elements from `start` on; empty if a part crosses the range or there are none.
PartBlocks partsWithin(llvm::ArrayRef<DimPart> parts, int64_t start, int64_t extent);

/// The parts of a dim after each element has become `count` elements.
PartBlocks scaledUp(llvm::ArrayRef<DimPart> parts, int64_t count);

/// The parts of a dim after each `count` elements have become one index; empty if a part ends within an index.
PartBlocks scaledDown(llvm::ArrayRef<DimPart> parts, int64_t count);

/// The `extent` elements from `start` on as one part, with the combined blocks of all parts that overlap them. Repeats
/// are kept only if a single part covers the range; cannotShare marks the others.
DimPart asOnePart(llvm::ArrayRef<DimPart> parts, int64_t start, int64_t extent);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_BLOCKS_PART_BLOCKS_H
