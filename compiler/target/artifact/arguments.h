//===- arguments.h - arguments of a compute op ------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TARGET_ARTIFACT_ARGUMENTS_H
#define MESHPLAN_COMPILER_TARGET_ARTIFACT_ARGUMENTS_H

#include "dialect/sched/sched.h"
#include "runtime/schema/schedule_generated.h"

namespace meshplan {

/// Indices of values in Program.values.
using ValueNumbers = llvm::DenseMap<mlir::Value, int32_t>;

/// The artifact's form of an argument; values and local integers refer to `numbers`. Fails, with a diagnostic at the
/// op, if the schema cannot represent the attribute.
mlir::FailureOr<std::unique_ptr<artifact::ArgT>> toArg(sched::ComputeOp op, mlir::NamedAttribute argument,
                                                       const ValueNumbers &numbers);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TARGET_ARTIFACT_ARGUMENTS_H
