//===- derivative_rules.cpp - the rule of each operator -------------------===//

#include "compiler/derivatives/derivative_rules.h"

using namespace meshplan;

static const DerivativeTable &allRules() {
  static const DerivativeTable table = [] {
    DerivativeTable made;
    addArithmeticDerivatives(made);
    addAttentionDerivatives(made);
    addContractionDerivatives(made);
    addConversionDerivatives(made);
    addConvolutionDerivatives(made);
    addFunctionDerivatives(made);
    addIndexingDerivatives(made);
    addJoiningDerivatives(made);
    addLossDerivatives(made);
    addMissingDerivatives(made);
    addNormalizationDerivatives(made);
    addNormDerivatives(made);
    addReductionDerivatives(made);
    addShapeDerivatives(made);
    addSlicingDerivatives(made);
    return made;
  }();
  return table;
}

DerivativeRule meshplan::derivativeOf(llvm::StringRef target) {
  auto found = allRules().find(target);
  return found == allRules().end() ? differentiateAtRunTime : found->second;
}

bool meshplan::hasDerivative(llvm::StringRef target) { return allRules().contains(target); }
