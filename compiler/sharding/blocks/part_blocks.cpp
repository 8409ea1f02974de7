//===- part_blocks.cpp - blocks of the parts of a dim ---------------------===//

#include "compiler/sharding/blocks/part_blocks.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <numeric>

using namespace meshplan;
using llvm::ArrayRef;

int64_t meshplan::joinBlocks(int64_t left, int64_t right, int64_t extent) {
  if (extent == 0)
    return 1;
  // Block sizes divide their extents, so that the product fits whenever the extent does.
  int64_t common = left / std::gcd(left, right);
  // There is no common multiple that divides the extent: the whole dim is the only block that cuts neither.
  if (common > extent / right || extent % (common * right) != 0)
    return extent;
  return common * right;
}

/// The blocks of a range within a part. The sharers of a range within a part are not known.
static DimPart pieceOf(const DimPart &part, int64_t extent) {
  if (extent == part.extent)
    return part;
  return {extent, extent % part.unit == 0 ? part.unit : extent, 1};
}

PartBlocks meshplan::mergeParts(ArrayRef<DimPart> left, ArrayRef<DimPart> right) {
  if (left.empty() || right.empty())
    return PartBlocks(left.empty() ? right : left);
  PartBlocks merged;
  int64_t leftDone = 0, rightDone = 0; // elements consumed of the first parts
  while (!left.empty() && !right.empty()) {
    // The range up to the next border in either list.
    int64_t extent = std::min(left.front().extent - leftDone, right.front().extent - rightDone);
    DimPart a = pieceOf(left.front(), extent), b = pieceOf(right.front(), extent);
    merged.emplace_back(extent, joinBlocks(a.unit, b.unit, extent), std::max(a.repeat, b.repeat));
    leftDone += extent;
    rightDone += extent;
    if (leftDone == left.front().extent) {
      left = left.drop_front();
      leftDone = 0;
    }
    if (rightDone == right.front().extent) {
      right = right.drop_front();
      rightDone = 0;
    }
  }
  return merged;
}

PartBlocks meshplan::partsWithin(ArrayRef<DimPart> parts, int64_t start, int64_t extent) {
  PartBlocks within;
  int64_t position = 0;
  for (const DimPart &part : parts) {
    int64_t end = position + part.extent;
    if (position < start + extent && end > start) {
      if (position < start || end > start + extent)
        return {};
      within.push_back(part);
    }
    position = end;
  }
  return within;
}

PartBlocks meshplan::scaledUp(ArrayRef<DimPart> parts, int64_t count) {
  PartBlocks scaled(parts);
  for (DimPart &part : scaled)
    part = {part.extent * count, part.unit * count, part.repeat};
  return scaled;
}

PartBlocks meshplan::scaledDown(ArrayRef<DimPart> parts, int64_t count) {
  PartBlocks scaled(parts);
  for (DimPart &part : scaled) {
    if (part.extent % count != 0)
      return {};
    part = {part.extent / count, joinBlocks(part.unit, count, part.extent) / count, part.repeat};
  }
  return scaled;
}

DimPart meshplan::asOnePart(ArrayRef<DimPart> parts, int64_t start, int64_t extent) {
  DimPart one(extent);
  int64_t position = 0;
  for (const DimPart &part : parts) {
    int64_t first = std::max(position, start), last = std::min(position + part.extent, start + extent);
    position += part.extent;
    if (first >= last)
      continue;
    bool isWhole = last - first == part.extent;
    if (isWhole && part.extent == extent)
      return part;
    one.unit = joinBlocks(one.unit, isWhole ? part.unit : pieceOf(part, last - first).unit, extent);
    // Repeats count shards within one part, which has no meaning for a range of several parts.
    if (part.repeat != 1)
      one.repeat = cannotShare;
  }
  return one;
}
