//===- real_bounds.h - bounds of real tensors -------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_INDEX_FUNCTIONS_REAL_BOUNDS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_INDEX_FUNCTIONS_REAL_BOUNDS_H

#include "compiler/transforms/import/index_functions/index_functions.h"

namespace meshplan {

/// A closed interval of finite numbers.
struct RealInterval {
  double low = 0, high = 0;
};

/// An interval that contains all elements of a tensor that is computed from literals and positions, without rounding;
/// nullopt if it depends on other values, or on an unsupported operator.
std::optional<RealInterval> boundsOf(mlir::Value value, IndexFunctions &functions);

/// True if the elements of a real tensor are far from the lowest numbers: they have such bounds, or they derive from
/// moderate literals, integers, parameters (which the model learns) and products (which it computes).
bool isModerate(mlir::Value value, IndexFunctions &functions);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_INDEX_FUNCTIONS_REAL_BOUNDS_H
