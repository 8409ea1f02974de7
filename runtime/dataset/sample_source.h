//===- sample_source.h - samples of a data set ------------------*- C++ -*-===//
//
// What all kinds of data sets have in common: a number of samples, each with one tensor per field. The caller that
// opens a source says which fields it needs; the source provides exactly these dtypes and shapes, or does not open.
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

/// A tensor of every sample.
struct SampleField {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape; ///< of one sample
};

/// Thread safe after opening; the ranks of a process share one. Files are mapped, so reading touches only the pages
/// that are read.
class SampleSource {
public:
  virtual ~SampleSource() = default;

  virtual int64_t samples() const = 0;

  /// Fills `out` with the row-major tensor of a slice of one field of one sample. `field` is an index into the fields
  /// that the source was opened with; `sample` is below samples().
  virtual Status read(int64_t sample, size_t field, const SliceRanges &ranges, std::span<std::byte> out) const = 0;

  /// Announces that this will be read soon. Errors are left to `read`.
  virtual void announce(int64_t sample, size_t field, const SliceRanges &ranges) const = 0;

  /// One readable line per file: name without folder, size in bytes, number of samples, dtypes and shapes in the file,
  /// and which tokens the fields take. If the lines of two sources differ, so do their samples.
  virtual std::vector<std::string> description() const = 0;
};

using SampleSourcePointer = std::unique_ptr<const SampleSource>;

/// Concatenates sources: the samples of the first, then those of the second, and so on. All must have been opened with
/// the same fields. Sources may be empty. Precondition: there is a source.
SampleSourcePointer concatenated(std::vector<SampleSourcePointer> sources);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_SAMPLE_SOURCE_H
