//===- inside_features.h - features inside the experts ----------*- C++ -*-===//
//
// Which features are made and contracted inside the experts, and are neither those
// of the tokens that come nor of those that leave. They are the ones that `within`
// divides: a product gives divided rows, and the next one gives addends, so that no
// features of rows move. Pure.
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
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace meshplan {

/// Features of a weight, or bias, that are inside the experts.
struct InsideUse {
  bool ofOutput = false; ///< its output features, otherwise its input features
  mlir::Value rows;      ///< that have these features as their last dim: the result of the call, or its operand
};

/// The features inside the experts of one function. Each value is visited once.
class InsideFeatures {
public:
  /// What is inside of the weight or bias that a call reads; nothing if it has no such features.
  std::optional<InsideUse> find(plan::CallOp call);

private:
  bool areDivided(mlir::Value rows);
  bool areMultiplied(mlir::Value rows);

  llvm::DenseMap<mlir::Value, bool> divided, multiplied;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PLACE_INSIDE_FEATURES_H
