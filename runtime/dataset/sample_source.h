//===- sample_source.h - samples of a data set -------------------*- C++ -*-===//
//
// What all kinds of data sets have in common: so many samples, each with one
// tensor for every field. Who opens a source says which fields it wants, and the
// source gives them in exactly these dtypes and shapes or does not open.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_DATASET_SAMPLE_SOURCE_H
#define MESHPLAN_RUNTIME_DATASET_SAMPLE_SOURCE_H

#include "runtime/base/dtype.h"
#include "runtime/base/status.h"
#include "runtime/data/slice.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace meshplan {

/// A tensor that every sample has.
struct SampleField {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape; ///< of one sample
};

/// Thread safe after opening: the ranks of a process share one. Files are mapped, so that reading touches only the
/// pages of what is read.
class SampleSource {
public:
  virtual ~SampleSource() = default;

  virtual int64_t samples() const = 0;

  /// Fills `out`, the row-major tensor of a slice of one field of one sample. `field` is an index into the fields that
  /// the source was opened with; `sample` is below samples().
  virtual Status read(int64_t sample, size_t field, const SliceRanges &ranges, std::span<std::byte> out) const = 0;

  /// This is read soon. What is wrong with it, `read` reports.
  virtual void announce(int64_t sample, size_t field, const SliceRanges &ranges) const = 0;

  /// One line for each file: name without folder, bytes, samples, dtypes and shapes as the file has them, and what
  /// fields take of tokens. Two sources with other lines have other samples.
  virtual std::vector<std::string> description() const = 0;
};

using SampleSourcePointer = std::unique_ptr<const SampleSource>;

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_SAMPLE_SOURCE_H
