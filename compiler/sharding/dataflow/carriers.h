//===- carriers.h - ops that forward a value --------------------*- C++ -*-===//
//
// Conversions, reshards and collectives stand between a parameter and its
// readers. These queries look through them.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_DATAFLOW_CARRIERS_H
#define MESHPLAN_COMPILER_SHARDING_DATAFLOW_CARRIERS_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// True for pointwise calls of one operand, for ops that move a tensor between ranks, and for those that state its
/// layout: elements keep their positions.
bool isCarrier(mlir::Operation *op);

/// True for a carrier that changes the type of elements.
bool isConversion(mlir::Operation *op);

/// The argument from which carriers derive `value`, or null.
mlir::BlockArgument sourceArgument(mlir::Value value);

/// True for calls of the backward pass and for ops that only these read: collectives, reshards, and carriers of an
/// argument. A call of the forward pass belongs to the forward pass, whatever reads its result.
bool isBackward(mlir::Operation *op);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_DATAFLOW_CARRIERS_H
