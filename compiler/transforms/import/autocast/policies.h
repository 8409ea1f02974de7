//===- policies.h - autocast policies of operators --------------*- C++ -*-===//
//
// PyTorch's lists (ATen/autocast_mode.h and .cpp, version 2.11), by operator
// and device. An operator in an exported graph into which PyTorch decomposes an
// operator of a list has the same policy. Pure and thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_AUTOCAST_POLICIES_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_AUTOCAST_POLICIES_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// The device whose lists apply. They differ, for example for norms and softmax.
enum class AutocastDevice { cpu, cuda };

/// The type in which an operator gets its float operands. f64 is never converted.
enum class CastPolicy {
  none,   ///< unchanged: PyTorch's kernel accepts several types
  narrow, ///< in the 16-bit type of the autocast
  wide,   ///< in f32
  widest, ///< in the widest of their types; for operators without a list whose kernels accept one type only
  ofSelf, ///< in the widest; the results are then converted to the type of the first operand
  banned, ///< PyTorch raises an error
};

CastPolicy castPolicyOf(const CallView &call, AutocastDevice device);

/// True for log probabilities. On CPUs they are in f32 if a loss of classes reads them, because PyTorch computes both
/// in one operator.
bool isLogSoftmax(llvm::StringRef target);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_AUTOCAST_POLICIES_H
