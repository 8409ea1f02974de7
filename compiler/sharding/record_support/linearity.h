//===- linearity.h - where a partial sum may enter --------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_LINEARITY_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_LINEARITY_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// Names of arguments that enter together.
using ArgumentSet = std::initializer_list<llvm::StringRef>;

/// True if sums of values of type `from` are the same after conversion to `to`, but for rounding: it is of the same
/// kind (float or integer) and not narrower. Booleans have no sums.
bool keepsSums(mlir::Type from, mlir::Type to);

/// The sets of operands in which the call is linear. A set with an argument that is no tensor, or whose sums the first
/// result does not keep, is left out.
Linearity linearIn(const CallView &call, std::initializer_list<ArgumentSet> sets);

/// The argument of the function's name alone.
Linearity inSelf(const CallView &call);
Linearity inInput(const CallView &call);
Linearity inGradient(const CallView &call);
Linearity inWeight(const CallView &call);
Linearity inSource(const CallView &call);

/// Nothing partial may enter.
Linearity notLinear(const CallView &call);

/// Every operand enters alone: views, copies and other calls of one tensor. Moves elements if no dtype changes.
Linearity movesOperand(const CallView &call);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_LINEARITY_H
