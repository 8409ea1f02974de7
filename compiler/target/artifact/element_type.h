//===- element_type.h - element types as dtypes of the artifact -*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TARGET_ARTIFACT_ELEMENT_TYPE_H
#define MESHPLAN_COMPILER_TARGET_ARTIFACT_ELEMENT_TYPE_H

#include "mlir/IR/Types.h"
#include "runtime/schema/schedule_generated.h"
#include <optional>

namespace meshplan {

/// The artifact's dtype of an element type, or nothing if it has none.
std::optional<artifact::DType> toDType(mlir::Type type);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TARGET_ARTIFACT_ELEMENT_TYPE_H
