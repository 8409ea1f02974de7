//===- einsum.h - record of einsum ------------------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_EINSUM_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_EINSUM_H

#include "compiler/sharding/op_record.h"
#include <string>

namespace meshplan {

/// "bqd,bkd->bqk": a letter for each dim.
struct EinsumEquation {
  llvm::SmallVector<std::string> operands; ///< in the order of the list of tensors
  std::string output;

  /// nullopt unless each dim has one letter, no tensor has a letter twice, and every letter of the result is in an
  /// operand.
  static std::optional<EinsumEquation> of(const CallView &call);
};

/// A letter is a factor. An equation with an ellipsis, or with a letter twice in one tensor, is not divided.
FactorRule einsumRule(const CallView &call);

/// Linear in each operand alone.
Linearity einsumLinearity(const CallView &call);

/// A product of two operands is a batched matrix product, for which both are reshaped.
OpCost einsumCost(const CallView &call);

/// The batched matrix product, with its dims in the order of the equation; for a single operand a view with permuted
/// dims.
Strides einsumStrides(const CallView &call, unsigned result);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_EINSUM_H
