//===- derivative_rules.cpp - the rule of each operator -------------------===//

#include "compiler/derivatives/derivative_rules.h"

using namespace meshplan;

static const DerivativeTable &allRules() {
  static const DerivativeTable table = [] {
    DerivativeTable made;
    for (auto add :
         {addArithmeticDerivatives, addAttentionDerivatives, addContractionDerivatives, addConversionDerivatives,
          addConvolutionDerivatives, addExpertDerivatives, addFunctionDerivatives, addIndexingDerivatives,
          addJoiningDerivatives, addLossDerivatives, addMissingDerivatives, addNormalizationDerivatives,
          addNormDerivatives, addReductionDerivatives, addShapeDerivatives, addSlicingDerivatives})
      add(made);
    return made;
  }();
  return table;
}

DerivativeRule meshplan::derivativeOf(llvm::StringRef target) {
  auto found = allRules().find(target);
  return found == allRules().end() ? differentiateAtRunTime : found->second;
}

bool meshplan::hasDerivative(llvm::StringRef target) { return allRules().contains(target); }
