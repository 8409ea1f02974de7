//===- storage_spans.h - where a slice lies in its storage -------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATA_STORAGE_SPANS_H
#define MESHPLAN_RUNTIME_DATA_STORAGE_SPANS_H

#include "runtime/data/slice.h"

namespace meshplan {

/// Ranges of a tensor's storage, in elements from its first one, that together hold a slice. Elements between which at
/// most `gap` others lie are in one range with these, since reading them costs less than a second access. The order is
/// that of the storage where the slice has that of its tensor.
/// Precondition: checkSlice; strides are not negative; `gap` is at least 1.
std::vector<Range> storageSpans(const SliceRanges &ranges, std::span<const int64_t> strides, int64_t gap);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATA_STORAGE_SPANS_H
