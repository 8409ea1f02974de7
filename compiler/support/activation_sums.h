//===- activation_sums.h - collectives that add up activations ---*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SUPPORT_ACTIVATION_SUMS_H
#define MESHPLAN_COMPILER_SUPPORT_ACTIVATION_SUMS_H

#include "llvm/ADT/StringRef.h"

namespace meshplan {

/// On a module whose plan says `activations f32`: partial sums of activations of 16 bits are sent in float32, and not
/// as they are.
inline constexpr llvm::StringLiteral wideActivationsName = "plan.wide_activations";

/// On a collective that completes such a sum, in the phases behind `plan-widen-addends` and in schedules: the 16-bit
/// type of the sum, whichever type is sent.
inline constexpr llvm::StringLiteral activationSumName = "plan.activation_sum";

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SUPPORT_ACTIVATION_SUMS_H
