//===- policies.h - how PyTorch's autocast treats operators -----*- C++ -*-===//
//
// PyTorch's lists (ATen/autocast_mode.h and .cpp, version 2.11), by operator and
// device. What PyTorch takes an operator of a list apart to, as exported graphs
// have it, counts as that operator. Pure and thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_AUTOCAST_POLICIES_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_AUTOCAST_POLICIES_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// Whose lists hold: the two differ, as norms and softmax show.
enum class AutocastDevice { cpu, cuda };

/// In which types an operator gets operands that are floats, other than f64, which stays.
enum class CastPolicy {
  none,   ///< as they are: PyTorch's kernel takes tensors of several types
  narrow, ///< in the 16-bit type of the autocast
  wide,   ///< in f32
  widest, ///< in the widest of their types. Of all operators without a list whose kernels take one type only
  ofSelf, ///< in the widest; the results are then converted to the type of the first operand
  banned, ///< PyTorch raises an error
};

CastPolicy castPolicyOf(const CallView &call, AutocastDevice device);

/// True for logarithms of probabilities: on CPUs they are in f32 where a loss of classes reads them, since PyTorch has
/// both as one operator.
bool isLogSoftmax(llvm::StringRef target);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_AUTOCAST_POLICIES_H
