//===- linearity.h - operands in which a call is linear ---------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_LINEARITY_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_LINEARITY_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// Names of arguments that must be partial together.
using ArgumentSet = std::initializer_list<llvm::StringRef>;

/// True if converting a sum equals the sum of the conversions from `from` to `to`, up to rounding: `to` is of the same
/// kind (float or integer) and not narrower. Booleans have no sums.
bool keepsSums(mlir::Type from, mlir::Type to);

/// The sets of operands in which the call is linear. Sets with an argument that is not a tensor, or whose sums the type
/// of the first result does not keep, are left out.
Linearity linearIn(const CallView &call, std::initializer_list<ArgumentSet> sets);

/// Linear in the argument that the function's name gives, and in no other.
Linearity inSelf(const CallView &call);
Linearity inInput(const CallView &call);
Linearity inGradient(const CallView &call);
Linearity inWeight(const CallView &call);
Linearity inSource(const CallView &call);

/// No operand may be partial.
Linearity notLinear(const CallView &call);

/// For views, copies and other calls of one tensor: linear in that tensor. `movesElements` if no dtype changes.
Linearity movesOperand(const CallView &call);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_LINEARITY_H
