//===- slice.h - the contiguous runs of a part of a tensor ------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATA_SLICE_H
#define MESHPLAN_RUNTIME_DATA_SLICE_H

#include "runtime/base/dtype.h"
#include "runtime/base/status.h"
#include "runtime/schema/extent.h"

#include <functional>

namespace meshplan {

/// For each dim, the ranges of a global tensor that a rank holds, in local order.
using SliceRanges = std::vector<std::vector<Range>>;

/// The slice that is the whole tensor.
SliceRanges wholeTensor(std::span<const int64_t> shape);

/// The shape of the local tensor.
std::vector<int64_t> sliceShape(const SliceRanges &ranges);

/// Splits a run of the row-major local tensor into slices that are contiguous in it: at most two per dim, and one more.
std::vector<SliceRanges> slicesOfRun(const SliceRanges &ranges, Range run);

/// The global ranges of the local elements [begin, begin + count) of one dim.
std::vector<Range> localPart(std::span<const Range> ranges, int64_t begin, int64_t count);

int64_t elementCount(std::span<const int64_t> shape);

/// Strides, in elements, of a row-major tensor.
std::vector<int64_t> contiguousStrides(std::span<const int64_t> shape);

/// The index, per dim, of an element of a row-major tensor.
std::vector<int64_t> positionOf(int64_t element, std::span<const int64_t> shape);

/// `invalid` unless there is a list of ranges for each dim and all of them lie inside it.
Status checkSlice(const SliceRanges &ranges, std::span<const int64_t> shape);

/// Called with the element offset in the global storage, the offset in the row-major local tensor, and the number of
/// elements that are contiguous in both.
using RunFunction = std::function<Status(int64_t global, int64_t local, int64_t count)>;

/// Visits a slice in the order of the local tensor, in runs as long as the strides allow. Stops at the first failure.
/// Precondition: checkSlice.
Status forEachRun(const SliceRanges &ranges, std::span<const int64_t> shape, std::span<const int64_t> strides,
                  const RunFunction &run);

/// Copies a slice of `source`, which has this shape and these strides, to a row-major tensor. The dtypes are equal or
/// both floating point; floats are converted. Precondition: checkSlice, and `out` has room for the slice.
Status copySlice(const std::byte *source, DType from, const SliceRanges &ranges, std::span<const int64_t> shape,
                 std::span<const int64_t> strides, std::byte *out, DType to);

/// At most `most` ranges of a tensor's storage, in elements, that together contain a slice. Runs with at most `gap`
/// other elements between them are joined, because reading the gap costs less than a second access. If there are still
/// too many, one range covers them all. Precondition: checkSlice.
std::vector<Range> storageSpans(const SliceRanges &ranges, std::span<const int64_t> shape,
                                std::span<const int64_t> strides, int64_t gap, size_t most);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATA_SLICE_H
