//===- unknown_experts.h - experts that are not recognized ------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_UNKNOWN_EXPERTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_UNKNOWN_EXPERTS_H

#include "dialect/plan/plan.h"
#include <string>

namespace meshplan {

/// A product with a weight of experts beside a choice of as many.
struct UnknownExperts {
  plan::CallOp product, choice;
  std::string module;         ///< that has both
  bool choosesTokens = false; ///< each of n experts chooses tokens
};

/// What looks like a mixture in a block whose mixtures have been replaced: a sort or maximum of n scores for each
/// token, or of the scores of tokens for each of n experts, and, in the same module, products with a weight of n
/// matrices, with n parts of one, or with weights of n modules of a list. One for each module.
llvm::SmallVector<UnknownExperts> findUnknownExperts(mlir::Block &block);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_UNKNOWN_EXPERTS_H
