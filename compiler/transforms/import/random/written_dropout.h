//===- written_dropout.h - dropouts that are written out --------*- C++ -*-===//
//
// PyTorch's decompositions make of a dropout in place, of features or alpha its
// steps: zeros and ones that are drawn, scaled, and multiplied with. Models write
// stochastic depth in the same way.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_RANDOM_WRITTEN_DROPOUT_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_RANDOM_WRITTEN_DROPOUT_H

#include "dialect/plan/plan.h"

namespace meshplan {

/// Marks the steps of dropouts that read `drawn`, ones with the probability `kept` and zeros else, with what stands in
/// their place in evaluation. Other readers stay as they are.
void markWrittenDropouts(mlir::Value drawn, double kept);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_RANDOM_WRITTEN_DROPOUT_H
