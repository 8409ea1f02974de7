//===- data_extents.h - extents that a graph's data decides ------*- C++ -*-===//
//
// The number of positions where a mask is true is known only when the graph runs: torch.export gives it a symbol of its
// own, such as `u0`. After bindSymbols, each such symbol is a number that no tensor has as an extent, so that import
// can tell the dims apart (plan-spread-chosen-rows). No program has such an extent afterwards.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_DATA_EXTENTS_H
#define MESHPLAN_COMPILER_ARCHIVE_DATA_EXTENTS_H

#include <cstdint>

namespace meshplan::archive {

/// The number of the first symbol; the next one has the next number.
constexpr int64_t firstDataExtent = int64_t(1) << 40;

/// True also for multiples, such as the elements of a view.
inline bool isDataExtent(int64_t extent) { return extent >= firstDataExtent; }

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_DATA_EXTENTS_H
