//===- constant_bytes.h - the bytes of a constant ---------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TARGET_ARTIFACT_CONSTANT_BYTES_H
#define MESHPLAN_COMPILER_TARGET_ARTIFACT_CONSTANT_BYTES_H

#include "dialect/sched/sched.h"
#include <vector>

namespace meshplan {

/// Little-endian, row-major bytes of the whole tensor, a byte for each boolean. Fails, with a diagnostic, if the value
/// is neither dense nor a resource that is loaded.
mlir::FailureOr<std::vector<uint8_t>> constantBytes(sched::ConstantOp constant);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TARGET_ARTIFACT_CONSTANT_BYTES_H
