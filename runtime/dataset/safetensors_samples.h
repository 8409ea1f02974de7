//===- safetensors_samples.h - tensors whose rows are samples ----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATASET_SAFETENSORS_SAMPLES_H
#define MESHPLAN_RUNTIME_DATASET_SAFETENSORS_SAMPLES_H

#include "runtime/dataset/sample_source.h"

namespace meshplan {

/// A safetensors file with a tensor for each field, under its name, whose first dim counts the samples. Tensors that no
/// field names are left alone. Floats are converted, integers widened (integers.h).
///
/// Errors, with the path: a field that is missing, with the nearest names (`notFound`), another dtype, another shape,
/// another number of samples than the first field (`invalid`); a file that cannot be read or is truncated.
Expected<SampleSourcePointer> openSafetensorsSamples(const std::string &path, std::span<const SampleField> fields);

/// Every *.safetensors of a folder, sorted by name, one after the other. `notFound` when there is none.
Expected<SampleSourcePointer> openSafetensorsFolder(const std::string &path, std::span<const SampleField> fields);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_SAFETENSORS_SAMPLES_H
