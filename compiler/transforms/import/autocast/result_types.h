//===- result_types.h - what operators make of operands of other types -*- C++ -*-===//
//
// PyTorch's promotion of floats: tensors with dims count before those without,
// and the widest counts. Pure and thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_AUTOCAST_RESULT_TYPES_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_AUTOCAST_RESULT_TYPES_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// The narrowest type that holds all numbers of both: f32 for bf16 and f16.
mlir::FloatType widerOf(mlir::FloatType left, mlir::FloatType right);

/// The type to which PyTorch promotes the operands that are floats; null if there are none.
mlir::FloatType promotedType(const CallView &call);

/// The element type of a result of a call whose operands have other types of floats than when its results got theirs.
/// What is no float, what the call names a `dtype` of, and statistics, stay.
mlir::Type resultTypeOf(const CallView &call, unsigned result);

/// The arguments of a call whose first result has the element type `element` now. Where operators make elements of
/// numbers (fills, pads and bounds), one that `element` cannot hold becomes the last one that it can, as
/// `torch.finfo(x.dtype).min` would be in the model's code; kernels refuse it. Infinities stay.
mlir::DictionaryAttr argsWithin(const CallView &call, mlir::Type element);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_AUTOCAST_RESULT_TYPES_H
