//===- sample_places.h - the samples that a tensor is made of ---*- C++ -*-===//
//
// Views of targets merge the dim of samples with others. Its place is followed
// from the inputs by the factor rules of operators: what may be divided by
// samples takes each of them from one sample.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_LOSS_SAMPLE_PLACES_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_LOSS_SAMPLE_PLACES_H

#include "dialect/plan/plan.h"

namespace meshplan {

/// Of n samples, the element at the row-major place i of a tensor is of sample (i / stride) mod n.
struct SamplePlaces {
  std::optional<int64_t> stride; ///< nullopt: not known
  plan::CallOp obstacle;         ///< behind which it is not; null if nothing that the tensor is made of has samples
};

/// The number of samples: the extent of the dim `batch` of inputs; nullopt if no input has one.
std::optional<int64_t> countSamples(mlir::Block &block);

/// Where the samples of a value are, which results of calls and arguments of one block make.
SamplePlaces findSamples(mlir::Value value, int64_t samples);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_LOSS_SAMPLE_PLACES_H
