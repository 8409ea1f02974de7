//===- coalesced.h - collectives that are one collective --------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_COALESCED_H
#define MESHPLAN_COMPILER_SHARDING_COALESCED_H

#include "dialect/plan/plan.h"

namespace meshplan {

/// The collectives that are coalesced with `op`, and `op` itself, in the order in which their tensors are sent:
/// adjacent ones of one kind, one `bucket` and the same axes. An op without a bucket is alone.
llvm::SmallVector<mlir::Operation *, 1> coalescedWith(mlir::Operation *op);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_COALESCED_H
