//===- concatenated_samples.h - data sets one after the other ----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATASET_CONCATENATED_SAMPLES_H
#define MESHPLAN_RUNTIME_DATASET_CONCATENATED_SAMPLES_H

#include "runtime/dataset/sample_source.h"

namespace meshplan {

/// The samples of the first source, then those of the second, and so on. All were opened with the same fields. Sources
/// without samples are allowed. Precondition: there is a source.
SampleSourcePointer concatenated(std::vector<SampleSourcePointer> sources);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_CONCATENATED_SAMPLES_H
