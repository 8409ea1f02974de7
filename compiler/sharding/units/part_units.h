//===- part_units.h - units of the parts of a dim ---------------*- C++ -*-===//
//
// Operators that take a dim apart tell where its parts end and what each is made
// of: of a fused weight the query heads, with those that share a key in one
// unit, then the key heads, then the value heads. Pure and thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_UNITS_PART_UNITS_H
#define MESHPLAN_COMPILER_SHARDING_UNITS_PART_UNITS_H

#include "runtime/schema/extent.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <limits>
#include <optional>

namespace meshplan {

/// Repeat of units for which shards cannot hold what they share: the queries of one attention that are the keys of
/// another, or that its keys are made of, would be dealt twice.
inline constexpr int64_t cannotShare = std::numeric_limits<int64_t>::max();

/// Parts of a dim in order, one behind the other; none where nothing takes the dim apart.
using PartUnits = llvm::SmallVector<DimPart, 0>;

/// The smallest unit that is a multiple of both; all of the extent if there is none within it. A dim without elements
/// has units of 1.
int64_t joinUnits(int64_t left, int64_t right, int64_t extent);

/// What two lists say of one dim: it ends a part wherever one of them does, and a part is made of the units of both.
PartUnits mergeParts(llvm::ArrayRef<DimPart> left, llvm::ArrayRef<DimPart> right);

/// The parts of the `extent` elements from `start` on, or nothing if one reaches out of them or there are none.
PartUnits partsWithin(llvm::ArrayRef<DimPart> parts, int64_t start, int64_t extent);

/// The parts of a dim of which each element becomes `count`.
PartUnits scaledUp(llvm::ArrayRef<DimPart> parts, int64_t count);

/// The parts of the indices of `count` elements that make up a dim, or nothing if one ends within an index.
PartUnits scaledDown(llvm::ArrayRef<DimPart> parts, int64_t count);

/// The `extent` elements from `start` on as one part: of the units of all parts that it holds, or is held by. Units
/// that neighbours share stay so only where one part is meant; cannotShare tells that it is not.
DimPart asOnePart(llvm::ArrayRef<DimPart> parts, int64_t start, int64_t extent);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_UNITS_PART_UNITS_H
