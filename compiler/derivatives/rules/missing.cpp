//===- missing.cpp - operators that PyTorch does not differentiate --------===//
//
// Gradients for which autograd raises "derivative is not implemented". They are refused only where they are needed.
// test/harness/tables/tests/derivatives_test.py compares the table with PyTorch.
//
//===----------------------------------------------------------------------===//

#include "compiler/derivatives/derivative_rules.h"

using namespace mlir;
using namespace meshplan;

namespace {

struct Missing {
  llvm::StringLiteral target;
  llvm::StringLiteral argument = ""; ///< the argument without a gradient; empty: all of them
};

/// Operators with floating-point operands and results that models may call.
constexpr Missing missing[] = {
    {"aten._addmm_activation.default"},
    {"aten._add_relu.Scalar"},
    {"aten._add_relu.Tensor"},
    {"aten._aminmax.default"},
    {"aten._aminmax.dim"},
    {"aten._chunk_cat.default"},
    {"aten._compute_linear_combination.default"},
    {"aten._linalg_eigvals.default"},
    {"aten._logcumsumexp.default"},
    {"aten._stack.default"},
    {"aten.addmm.dtype"},
    {"aten.aminmax.default"},
    {"aten.baddbmm.dtype"},
    {"aten.bincount.default"},
    {"aten.bmm.dtype"},
    {"aten.embedding_renorm.default", "self"},
    {"aten.floor_divide.Scalar"},
    {"aten.floor_divide.default"},
    {"aten.geqrf.default", "self"},
    {"aten.hardsigmoid_backward.default"},
    {"aten.heaviside.default"},
    {"aten.histogram.bin_ct"},
    {"aten.histogram.bins_tensor"},
    {"aten.igamma.default", "self"},
    {"aten.igammac.default", "self"},
    {"aten.linalg__powsum.default"},
    {"aten.linalg_ldl_factor_ex.default"},
    {"aten.linalg_ldl_solve.default"},
    {"aten.linspace.Scalar_Tensor"},
    {"aten.linspace.Tensor_Scalar"},
    {"aten.linspace.Tensor_Tensor"},
    {"aten.logit_backward.default"},
    {"aten.logspace.Scalar_Tensor"},
    {"aten.logspace.Tensor_Scalar"},
    {"aten.logspace.Tensor_Tensor"},
    {"aten.mish_backward.default"},
    {"aten.mm.dtype"},
    {"aten.narrow_copy.default"},
    {"aten.native_channel_shuffle.default"},
    {"aten.native_group_norm_backward.default"},
    {"aten.native_norm.ScalarOpt_dim_dtype"},
    {"aten.native_norm.default"},
    {"aten.nextafter.default"},
    {"aten.remainder.Scalar_Tensor"},
    {"aten.resize.default"},
    {"aten.scatter.reduce"},
    {"aten.scatter.value_reduce"},
    {"aten.silu_backward.default"},
    {"aten.special_zeta.default", "self"},
    {"aten.special_zeta.other_scalar", "self"},
};

} // namespace

/// Refuses the gradients that are missing, and leaves the others to the runtime.
static void missingRule(Derivation &derivation) {
  StringRef target = derivation.getCall().getTarget();
  StringRef argument = llvm::find_if(missing, [&](const Missing &entry) { return entry.target == target; })->argument;
  if (argument.empty())
    return derivation.refuse("PyTorch has no derivative of it");
  if (derivation.wants(argument))
    return derivation.refuse("PyTorch has no derivative of it with respect to '" + argument + "'");
  differentiateAtRunTime(derivation);
}

void meshplan::addMissingDerivatives(DerivativeTable &table) {
  for (const Missing &entry : missing)
    table[entry.target] = missingRule;
}
