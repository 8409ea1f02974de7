//===- storage_spans.h - where a slice lies in its storage -------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATA_STORAGE_SPANS_H
#define MESHPLAN_RUNTIME_DATA_STORAGE_SPANS_H

#include "runtime/data/slice.h"

namespace meshplan {

/// At most `most` ranges of a tensor's storage, in elements from its first one, that together hold a slice. Runs
/// between which at most `gap` other elements lie are in one range with these: reading them costs less than a second
/// access. Where that leaves too many, there is one range from the first element to the last. Precondition: checkSlice.
std::vector<Range> storageSpans(const SliceRanges &ranges, std::span<const int64_t> shape,
                                std::span<const int64_t> strides, int64_t gap, size_t most);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATA_STORAGE_SPANS_H
