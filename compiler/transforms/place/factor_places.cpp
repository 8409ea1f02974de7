//===- factor_places.cpp - tensors of a call that have a factor -----------===//

#include "compiler/transforms/place/factor_places.h"

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
