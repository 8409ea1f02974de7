//===- conversion.cpp - derivatives of conversions and copies -------------===//

#include "compiler/derivatives/derivative_rules.h"
#include "compiler/sharding/families/random_ops.h"
#include "dialect/plan/attributes.h"

using namespace mlir;
using namespace meshplan;

/// The gradient is unchanged: give() restores the dtype.
static void passRule(Derivation &derivation) { derivation.give("self", derivation.gradient()); }

/// copy: `self` with the elements of `src`; the old elements do not matter.
static void copyRule(Derivation &derivation) {
  derivation.give("src", derivation.gradient());
  derivation.giveZeros("self");
}

/// Detached values have no gradient. One that random numbers are drawn for has zeros, as in PyTorch.
static void detachRule(Derivation &derivation) {
  if (derivation.getCall()->hasAttr(plan::attr::ZeroGradient::getNameStr()))
    derivation.giveZeros("self");
}

void meshplan::addConversionDerivatives(DerivativeTable &table) {
  for (StringRef target :
       {"to.dtype", "to.device", "to.dtype_layout", "to.other", "_to_copy.default", "type_as.default", "alias.default",
        "clone.default", "contiguous.default", "lift_fresh_copy.default"})
    table[("aten." + target).str()] = passRule;
  table["aten.copy.default"] = copyRule;
  table["aten.detach.default"] = detachRule;
  for (StringRef target : {"zeros_like.default", "ones_like.default", "full_like.default", "empty_like.default",
                           "new_zeros.default", "new_ones.default", "new_full.default", "new_empty.default"})
    table[("aten." + target).str()] = noGradient;
}
