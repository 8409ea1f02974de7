//===- constant_bytes.h - the bytes of a constant ---------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TARGET_ARTIFACT_CONSTANT_BYTES_H
#define MESHPLAN_COMPILER_TARGET_ARTIFACT_CONSTANT_BYTES_H

#include "dialect/sched/sched.h"
#include <vector>

namespace meshplan {

/// Little-endian, row-major bytes of all elements, a byte for each boolean. Fails, with a diagnostic of `op` that names
/// `name`, if the attribute is neither dense nor a loaded resource.
mlir::FailureOr<std::vector<uint8_t>> constantBytes(mlir::ElementsAttr elements, mlir::Operation *op,
                                                    llvm::StringRef name);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TARGET_ARTIFACT_CONSTANT_BYTES_H
