//===- transfers.h - copies between device and host -------------*- C++ -*-===//
//
// A tensor lies on the device unless `plan.host` says otherwise (plan::isOnHost).
// It gets to the other memory by a call like any other, which every layout
// fits: elements keep their places.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_CALLS_TRANSFERS_H
#define MESHPLAN_COMPILER_SHARDING_CALLS_TRANSFERS_H

#include "dialect/plan/plan.h"

namespace meshplan {

inline constexpr llvm::StringLiteral toHostTarget = "meshplan.to_host", toDeviceTarget = "meshplan.to_device";

/// True for a copy between the memories of device and host.
bool isTransfer(plan::CallOp call);

/// A copy of `value`, whose layout is decided, on the host or on the device.
mlir::Value transfer(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value, bool toHost);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_CALLS_TRANSFERS_H
