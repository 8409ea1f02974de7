//===- storage_spans.h - storage ranges of a slice --------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATA_STORAGE_SPANS_H
#define MESHPLAN_RUNTIME_DATA_STORAGE_SPANS_H

#include "runtime/data/slice.h"

namespace meshplan {

/// At most `most` ranges of a tensor's storage, in elements, that together contain a slice. Runs with at most `gap`
/// other elements between them are joined, because reading the gap costs less than a second access. If there are still
/// too many, one range covers them all. Precondition: checkSlice.
std::vector<Range> storageSpans(const SliceRanges &ranges, std::span<const int64_t> shape,
                                std::span<const int64_t> strides, int64_t gap, size_t most);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATA_STORAGE_SPANS_H
