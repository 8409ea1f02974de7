//===- call_factors.cpp - factors and products of one call ----------------===//

#include "compiler/transforms/place/call_factors.h"

using namespace mlir;
using namespace meshplan;

bool meshplan::isIn(const TensorFactors &tensor, unsigned factor) {
  return llvm::any_of(tensor.dims, [&](ArrayRef<unsigned> dim) { return llvm::is_contained(dim, factor); });
}

bool meshplan::isIn(ArrayRef<TensorFactors> tensors, unsigned factor) {
  return llvm::any_of(tensors, [&](const TensorFactors &tensor) { return isIn(tensor, factor); });
}

static bool isInOther(const FactorRule &rule, unsigned operand, unsigned factor) {
  for (auto [index, tensor] : llvm::enumerate(rule.operands))
    if (index != operand && isIn(tensor, factor))
      return true;
  return false;
}

bool meshplan::isAlone(const FactorRule &rule, unsigned operand, unsigned factor) {
  return !isIn(rule.results, factor) && !isInOther(rule, operand, factor);
}

bool meshplan::isContracted(const FactorRule &rule, unsigned operand, unsigned factor) {
  return !isIn(rule.results, factor) && isInOther(rule, operand, factor);
}

SmallVector<unsigned> meshplan::factorsOf(const TensorFactors &tensor) {
  SmallVector<unsigned> factors;
  for (ArrayRef<unsigned> dim : tensor.dims)
    llvm::append_range(factors, dim);
  return factors;
}

/// True if another operand, which is not a vector, has the factor.
static bool isInMatrix(const FactorRule &rule, unsigned operand, unsigned factor) {
  for (auto [index, tensor] : llvm::enumerate(rule.operands))
    if (index != operand && tensor.dims.size() > 1 && isIn(tensor, factor))
      return true;
  return false;
}

static bool isLookedUp(const FactorRule &rule, unsigned operand) {
  return llvm::any_of(factorsOf(rule.operands[operand]), [&](unsigned factor) {
    return isAlone(rule, operand, factor) && rule.factors[factor].kind == FactorKind::sum;
  });
}

bool meshplan::isMultiplied(const FactorRule &rule, unsigned operand, unsigned other) {
  return isLookedUp(rule, operand) || llvm::any_of(factorsOf(rule.operands[operand]), [&](unsigned factor) {
           return isContracted(rule, operand, factor) && isIn(rule.operands[other], factor);
         });
}

WeightProduct meshplan::productOf(const FactorRule &rule, unsigned operand) {
  if (rule.operands.size() < 2)
    return WeightProduct::none;
  const TensorFactors &own = rule.operands[operand];
  if (isLookedUp(rule, operand))
    return WeightProduct::projection;
  bool isContractedLast = false, isProduct = false;
  for (unsigned factor : factorsOf(own)) {
    if (!isContracted(rule, operand, factor))
      continue;
    isProduct = true;
    // The weight of a projection contracts its last dim (nn.Linear). In other products of weights it is not known which
    // one acts as data.
    isContractedLast |= llvm::is_contained(own.dims.back(), factor) && isInMatrix(rule, operand, factor);
  }
  if (isProduct)
    return isContractedLast ? WeightProduct::projection : WeightProduct::other;
  for (auto [index, tensor] : llvm::enumerate(rule.operands))
    for (unsigned factor : factorsOf(tensor))
      if (index != operand && isContracted(rule, index, factor))
        // The operand is not contracted, but others are: a vector is then the bias of their product.
        return own.dims.size() == 1 ? WeightProduct::projection : WeightProduct::other;
  return WeightProduct::none;
}
