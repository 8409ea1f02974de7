//===- concatenated_samples.h - concatenated data sets ----------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATASET_CONCATENATED_SAMPLES_H
#define MESHPLAN_RUNTIME_DATASET_CONCATENATED_SAMPLES_H

#include "runtime/dataset/sample_source.h"

namespace meshplan {

/// Concatenates sources: the samples of the first, then those of the second, and so on. All must have been opened with
/// the same fields. Sources may be empty. Precondition: there is a source.
SampleSourcePointer concatenated(std::vector<SampleSourcePointer> sources);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_CONCATENATED_SAMPLES_H
