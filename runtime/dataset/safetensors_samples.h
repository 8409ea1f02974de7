//===- safetensors_samples.h - tensors whose rows are samples ---*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATASET_SAFETENSORS_SAMPLES_H
#define MESHPLAN_RUNTIME_DATASET_SAFETENSORS_SAMPLES_H

#include "runtime/dataset/sample_source.h"

namespace meshplan {

/// A safetensors file with one tensor per field, of the same name, whose first dim counts the samples. Other tensors
/// are ignored. Floats are converted, integers widened (integers.h).
///
/// Errors, with the path: a missing field, with the nearest names (`notFound`); another dtype, another shape, or
/// another number of samples than the first field (`invalid`); a file that cannot be read or is truncated.
Expected<SampleSourcePointer> openSafetensorsSamples(const std::string &path, std::span<const SampleField> fields);

/// Every *.safetensors of a folder, sorted by name and concatenated. `notFound` if there is none.
Expected<SampleSourcePointer> openSafetensorsFolder(const std::string &path, std::span<const SampleField> fields);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_SAFETENSORS_SAMPLES_H
