//===- sample_positions.h - positions of samples in a tensor ----*- C++ -*-===//
//
// Views of targets merge the dim of samples with others. The position of the
// samples is followed from the inputs through the factor rules of operators: an
// operator that can be divided by samples computes each element from one
// sample.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_LOSS_SAMPLE_POSITIONS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_LOSS_SAMPLE_POSITIONS_H

#include "dialect/plan/plan.h"

namespace meshplan {

/// With n samples, the element at row-major position i of a tensor belongs to sample (i / stride) mod n.
struct SamplePositions {
  std::optional<int64_t> stride; ///< nullopt: unknown
  plan::CallOp obstacle;         ///< the call after which it is unknown; null if the tensor does not depend on samples
};

/// The number of samples: the extent of the dim `batch` of inputs; nullopt if no input has such a dim.
std::optional<int64_t> countSamples(mlir::Block &block);

/// The positions of the samples in a value that is computed from calls and arguments of one block.
SamplePositions findSamples(mlir::Value value, int64_t samples);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_LOSS_SAMPLE_POSITIONS_H
