//===- row_overlap.h - overlaps of rows of experts --------------*- C++ -*-===//
//
// A rank stores one dim, the rows, instead of those of experts and tokens, and
// knows their number when the program runs. What two ranks with the same rows
// have in common is all rows, and the overlap of their features, which is known
// before. Pure and thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_EXEC_MOVES_ROW_OVERLAP_H
#define MESHPLAN_RUNTIME_EXEC_MOVES_ROW_OVERLAP_H

#include "runtime/schema/overlap.h"

namespace meshplan {

/// The overlap of the features: without the first `dims` dims, those of experts and tokens.
inline Overlap withoutRows(Overlap overlap, int64_t dims) {
  overlap.dims.erase(overlap.dims.begin(), overlap.dims.begin() + dims);
  return overlap;
}

/// The overlap of `count` rows with these features.
inline Overlap withRows(Overlap features, int64_t count) {
  features.dims.insert(features.dims.begin(), {CommonRun{0, 0, count}});
  return features;
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_MOVES_ROW_OVERLAP_H
