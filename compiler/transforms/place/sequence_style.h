//===- sequence_style.h - the style sequence ------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PLACE_SEQUENCE_STYLE_H
#define MESHPLAN_COMPILER_TRANSFORMS_PLACE_SEQUENCE_STYLE_H

#include "compiler/sharding/units/dim_units.h"
#include "dialect/plan/plan.h"

namespace meshplan {

/// Divides the style's dim of the values that enter and leave a module with these calls. Reports nothing if `isNews`
/// returns false, because the statement has been reported before.
mlir::LogicalResult placeSequence(plan::StyleOp style, llvm::ArrayRef<plan::CallOp> calls, plan::MeshOp mesh,
                                  DimUnits &units, llvm::function_ref<bool()> isNews);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PLACE_SEQUENCE_STYLE_H
