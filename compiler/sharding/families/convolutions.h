//===- convolutions.h - weights and groups of convolutions ------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_FAMILIES_CONVOLUTIONS_H
#define MESHPLAN_COMPILER_SHARDING_FAMILIES_CONVOLUTIONS_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// The weight of a convolution is [out, in / groups, window..]; that of a transposed one is [in, out / groups,
/// window..].
struct ConvolutionForm {
  unsigned weight = 0; ///< operand index
  int64_t groups = 1;
  bool isTransposed = false;
};

bool isTransposedConvolution(const CallView &call);

/// A convolution whose number of groups follows from the shapes; on a rank it is the number of its groups. A transposed
/// one has the argument `group_inputs`, the number of input features of each group; for others the weight gives it.
inline constexpr llvm::StringLiteral groupedConvolution = "meshplan.grouped_convolution";

/// The number of groups; 0 if the shapes do not give one.
int64_t groupCount(const CallView &call);

/// nullopt for other calls, and if the weight is not a whole number of groups.
std::optional<ConvolutionForm> convolutionForm(const CallView &call);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_FAMILIES_CONVOLUTIONS_H
