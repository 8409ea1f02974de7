//===- activation_sums.h - collectives that add up activations ---*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SUPPORT_ACTIVATION_SUMS_H
#define MESHPLAN_COMPILER_SUPPORT_ACTIVATION_SUMS_H

#include "llvm/ADT/StringRef.h"

namespace meshplan {

/// On a module whose plan says `activations bf16` or `f16`: partial sums of activations of 16 bits are sent as they
/// are, and not in float32.
inline constexpr llvm::StringLiteral narrowActivationsName = "plan.narrow_activations";

/// On a collective that completes such a sum, in the phases behind `plan-widen-addends` and in schedules: the 16-bit
/// type of the sum, whichever type is sent.
inline constexpr llvm::StringLiteral activationSumName = "plan.activation_sum";

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SUPPORT_ACTIVATION_SUMS_H
