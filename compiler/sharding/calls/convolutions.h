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

/// nullopt for other calls, and for one whose weight does not consist of its groups.
std::optional<ConvolutionForm> convolutionForm(const CallView &call);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_CALLS_CONVOLUTIONS_H
