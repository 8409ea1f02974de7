//===- elements.h - elements of tensors in the artifact ---------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TARGET_ARTIFACT_ELEMENTS_H
#define MESHPLAN_COMPILER_TARGET_ARTIFACT_ELEMENTS_H

#include "dialect/sched/sched.h"
#include "mlir/IR/Types.h"
#include "runtime/schema/schedule_generated.h"
#include <optional>
#include <vector>

namespace meshplan {

/// Little-endian, row-major bytes of all elements, a byte for each boolean. Fails, with a diagnostic of `op` that names
/// `name`, if the attribute is neither dense nor a loaded resource.
mlir::FailureOr<std::vector<uint8_t>> constantBytes(mlir::ElementsAttr elements, mlir::Operation *op,
                                                    llvm::StringRef name);

/// The artifact's dtype of an element type, or nothing if it has none.
std::optional<artifact::DType> toDType(mlir::Type type);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TARGET_ARTIFACT_ELEMENTS_H
