//===- derivative_rules.h - the rule of each operator -----------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DERIVATIVES_DERIVATIVE_RULES_H
#define MESHPLAN_COMPILER_DERIVATIVES_DERIVATIVE_RULES_H

#include "compiler/derivatives/derivation.h"

namespace meshplan {

/// Gives the gradients of the operands that need one, or refuses.
using DerivativeRule = void (*)(Derivation &);

/// The rule of a target. Operators that pass no gradient (comparisons, rounding, argmax) have one that gives nothing.
/// An operator without a rule of its own has `differentiateAtRunTime`. Immutable and thread safe.
DerivativeRule derivativeOf(llvm::StringRef target);

/// True if the target has a rule of its own.
bool hasDerivative(llvm::StringRef target);

/// The rule of all other operators: the runtime recomputes the operator and calls LibTorch's autograd, once for all
/// operands that can be sharded in the same factors. Refuses operators that LibTorch does not differentiate.
void differentiateAtRunTime(Derivation &derivation);

/// Rules by target.
using DerivativeTable = llvm::StringMap<DerivativeRule>;

// Each file of rules/ adds its own.
void addArithmeticDerivatives(DerivativeTable &table);
void addAttentionDerivatives(DerivativeTable &table);
void addContractionDerivatives(DerivativeTable &table);
void addConversionDerivatives(DerivativeTable &table);
void addConvolutionDerivatives(DerivativeTable &table);
void addExpertDerivatives(DerivativeTable &table);
void addFunctionDerivatives(DerivativeTable &table);
void addIndexingDerivatives(DerivativeTable &table);
void addJoiningDerivatives(DerivativeTable &table);
void addLossDerivatives(DerivativeTable &table);
void addMissingDerivatives(DerivativeTable &table);
void addNormalizationDerivatives(DerivativeTable &table);
void addNormDerivatives(DerivativeTable &table);
void addReductionDerivatives(DerivativeTable &table);
void addShapeDerivatives(DerivativeTable &table);
void addSlicingDerivatives(DerivativeTable &table);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DERIVATIVES_DERIVATIVE_RULES_H
