//===- activation_sums.h - partial sums of activations -----------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SUPPORT_ACTIVATION_SUMS_H
#define MESHPLAN_COMPILER_SUPPORT_ACTIVATION_SUMS_H

#include "llvm/ADT/StringRef.h"

namespace meshplan {

/// On a module whose plan says `activations f32`: partial sums of 16-bit activations are sent in float32, not in their
/// own type.
inline constexpr llvm::StringLiteral wideActivationsName = "plan.wide_activations";

/// On a collective that completes such a sum, after `plan-widen-addends` and in schedules: the 16-bit type of the sum,
/// whichever type is sent.
inline constexpr llvm::StringLiteral activationSumName = "plan.activation_sum";

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SUPPORT_ACTIVATION_SUMS_H
