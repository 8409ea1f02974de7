//===- result_types.h - result types after autocast -------------*- C++ -*-===//
//
// PyTorch's promotion of floats: tensors with dims take precedence over those
// without; among these the widest type is chosen. Pure and thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_AUTOCAST_RESULT_TYPES_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_AUTOCAST_RESULT_TYPES_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// The narrowest type that can represent all values of both: f32 for bf16 and f16.
mlir::FloatType widerOf(mlir::FloatType left, mlir::FloatType right);

/// The type to which PyTorch promotes the float operands; null if there are none.
mlir::FloatType promotedType(const CallView &call);

/// The element type of a result of a call whose float operands have changed their type. Results that are not floats,
/// results with an explicit `dtype`, and statistics keep their type.
mlir::Type resultTypeOf(const CallView &call, unsigned result);

/// The arguments of a call whose first result now has the element type `element`. In operators that create elements
/// from numbers (fills, pads and bounds), a number that `element` cannot represent becomes the closest finite one, as
/// `torch.finfo(x.dtype).min` in the model's code would; kernels would refuse it. Infinities stay.
mlir::DictionaryAttr argsWithin(const CallView &call, mlir::Type element);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_AUTOCAST_RESULT_TYPES_H
