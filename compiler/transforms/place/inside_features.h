//===- inside_features.h - features inside the experts ----------*- C++ -*-===//
//
// Which dims of the weights of experts are made and contracted inside the experts,
// and are neither those of the tokens that come nor of those that leave. They are the
// ones that `within` divides: a product gives divided rows, and the next one gives
// addends, so that no features of rows move.
//
//   dispatch       rows [.., 64]     whole
//   up             rows [.., 96]     divided: output features of `up`
//   silu           rows [.., 96]     divided
//   down           rows [.., 64]     addends: input features of `down`
//   bias           rows [.., 64]     whole
//   combine
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PLACE_INSIDE_FEATURES_H
#define MESHPLAN_COMPILER_TRANSFORMS_PLACE_INSIDE_FEATURES_H

#include "dialect/plan/plan.h"
#include "llvm/ADT/SmallVector.h"

namespace meshplan {

/// A call whose weight, or bias, has features inside the experts.
struct InsideUse {
  plan::CallOp call;
  bool ofOutput = false; ///< the output features of the weight, otherwise its input features
  mlir::Value rows;      ///< that have these features as their last dim: the result, or the operand
};

/// The uses among the calls, which are in program order.
llvm::SmallVector<InsideUse> featuresInsideExperts(llvm::ArrayRef<plan::CallOp> calls);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PLACE_INSIDE_FEATURES_H
