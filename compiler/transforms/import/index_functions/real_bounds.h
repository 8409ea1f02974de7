//===- real_bounds.h - bounds of tensors of real numbers --------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_INDEX_FUNCTIONS_REAL_BOUNDS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_INDEX_FUNCTIONS_REAL_BOUNDS_H

#include "compiler/transforms/import/index_functions/index_functions.h"

namespace meshplan {

/// A closed interval of finite numbers.
struct RealInterval {
  double low = 0, high = 0;
};

/// An interval with all elements of a tensor that is computed from literals and positions, without their rounding;
/// nullopt if it depends on more, or on an operator that is not followed.
std::optional<RealInterval> boundsOf(mlir::Value value, IndexFunctions &functions);

/// True if the elements of a tensor of real numbers are far from the lowest ones: they have such bounds, or are
/// computed from literals that are, integers, parameters, which a model learns, and products, which it computes.
bool isModerate(mlir::Value value, IndexFunctions &functions);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_INDEX_FUNCTIONS_REAL_BOUNDS_H
