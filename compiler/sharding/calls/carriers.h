//===- carriers.h - ops that hand a value on --------------------*- C++ -*-===//
//
// Between a parameter and what reads it there are conversions, reshards and
// collectives. Whoever asks whose parameter is read, or in which pass, looks
// through them.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_CALLS_CARRIERS_H
#define MESHPLAN_COMPILER_SHARDING_CALLS_CARRIERS_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// True for pointwise calls of one operand and for what moves a tensor between ranks: elements keep their places.
bool isCarrier(mlir::Operation *op);

/// True for a carrier that changes the type of elements.
bool isConversion(mlir::Operation *op);

/// In which operands the call is linear. On the way to parameters so are conversions that round, as of a parameter of
/// 16 bits that is read in more: a rank's addends are rounded as its gradients would be, and addends of 16 bits are
/// made in float32 anyway.
Linearity linearityOf(plan::CallOp call);

/// The argument that carriers have made `value` of; null if there is none.
mlir::BlockArgument argumentBehind(mlir::Value value);

/// True for calls of the backward pass, and for what only these read: collectives and reshards, and carriers of an
/// argument. A call of the forward pass belongs to it, whoever reads its result.
bool isBackward(mlir::Operation *op);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_CALLS_CARRIERS_H
