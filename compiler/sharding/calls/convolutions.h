//===- convolutions.h - how convolutions read their weight ------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_CALLS_CONVOLUTIONS_H
#define MESHPLAN_COMPILER_SHARDING_CALLS_CONVOLUTIONS_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// A convolution's weight is [out, in / groups, window..]; of transposed ones [in, out / groups, window..].
struct ConvolutionForm {
  unsigned weight = 0; ///< operand
  int64_t groups = 1;
  bool isTransposed = false;
};

bool isTransposedConvolution(const CallView &call);

/// A convolution whose groups are as many as fit the shapes, on a rank those that it has. Of a transposed one the
/// argument `group_inputs` is the number of input features of each, of others the weight tells it.
inline constexpr llvm::StringLiteral groupedConvolution = "meshplan.grouped_convolution";

/// The number of groups; 0 where it does not follow from the shapes.
int64_t groupCount(const CallView &call);

/// nullopt for other calls, and for one whose weight does not consist of its groups.
std::optional<ConvolutionForm> convolutionForm(const CallView &call);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_CALLS_CONVOLUTIONS_H
