//===- transfers.h - copies between device and host -------------*- C++ -*-===//
//
// A tensor is on the device unless `plan.host` says otherwise (plan::isOnHost).
// A call copies it to the other memory: into a new tensor, or by meshplan.assign
// in place of one that is there. Any layout is allowed, because elements keep
// their positions.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_STORAGE_TRANSFERS_H
#define MESHPLAN_COMPILER_SHARDING_STORAGE_TRANSFERS_H

#include "dialect/plan/plan.h"

namespace meshplan {

inline constexpr llvm::StringLiteral toHostTarget = "meshplan.to_host", toDeviceTarget = "meshplan.to_device",
                                     assignTarget = "meshplan.assign";

/// True for a copy between device memory and host memory.
bool isTransfer(plan::CallOp call);

/// What such a call copies, and what it overwrites by the copy, or null.
struct TransferOperands {
  mlir::Value source, target;
};
TransferOperands transferOperands(plan::CallOp call);

/// Copies `value`, whose layout is decided, to the host or to the device.
mlir::Value transfer(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value, bool toHost);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_STORAGE_TRANSFERS_H
