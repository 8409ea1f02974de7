//===- written_dropout.h - dropouts as separate operators -------*- C++ -*-===//
//
// PyTorch decomposes dropouts in place, of features, and alpha into separate
// steps: zeros and ones are drawn, scaled and multiplied. Models write
// stochastic depth in the same way.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_RANDOM_WRITTEN_DROPOUT_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_RANDOM_WRITTEN_DROPOUT_H

#include "dialect/plan/plan.h"

namespace meshplan {

/// Marks the steps of dropouts that read `drawn` (ones with probability `kept`, else zeros) with their replacement in
/// evaluation. Other readers are not changed.
void markWrittenDropouts(mlir::Value drawn, double kept);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_RANDOM_WRITTEN_DROPOUT_H
