//===- feature_dims.cpp - the features of a parameter ---------------------===//

#include "compiler/transforms/place/feature_dims.h"
#include "compiler/sharding/op_record.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

bool appearsIn(const TensorFactors &tensor, unsigned factor) {
  return llvm::any_of(tensor.dims, [&](ArrayRef<unsigned> dim) { return llvm::is_contained(dim, factor); });
}

/// The dim whose first factor this is, or that joins it with others.
std::optional<int64_t> dimOf(const TensorFactors &tensor, unsigned factor) {
  for (auto [index, dim] : llvm::enumerate(tensor.dims))
    if (!dim.empty() && (dim.front() == factor || (tensor.isJoined(index) && llvm::is_contained(dim, factor))))
      return index;
  return std::nullopt;
}

/// Reads the features of operand `index` of a call from the call's factors.
FeatureUse readFeatures(CallOp call, unsigned index, const FactorRule &rule) {
  FeatureUse use;
  SmallVector<unsigned> activations;
  for (OpOperand &operand : call->getOpOperands())
    if (!isFromWeights(operand.get()))
      activations.push_back(operand.getOperandNumber());
  auto inActivation = [&](unsigned factor) {
    return llvm::any_of(activations, [&](unsigned other) { return appearsIn(rule.operands[other], factor); });
  };
  std::optional<unsigned> contracted;
  for (auto [dim, factors] : llvm::enumerate(rule.operands[index].dims)) {
    if (factors.empty())
      continue;
    unsigned factor = factors.front();
    if (rule.factors[factor].kind == FactorKind::sum) {
      use.inputDim = dim;
      contracted = factor;
    } else if (rule.factors[factor].kind == FactorKind::parallel && !inActivation(factor)) {
      use.outputDim = dim;
    }
  }
  // A single feature has no factor.
  auto single = llvm::find_if(rule.operands[index].dims, [](const auto &dim) { return dim.empty(); });
  if (contracted && !use.outputDim && single != rule.operands[index].dims.end())
    use.outputDim = single - rule.operands[index].dims.begin();
  for (unsigned other : activations)
    use.activations.push_back(
        {&call->getOpOperand(other), contracted ? dimOf(rule.operands[other], *contracted) : std::optional<int64_t>()});
  return use;
}

/// The only dim of size 1.
std::optional<int64_t> singleDim(const TensorFactors &tensor) {
  auto isSingle = [](const auto &dim) { return dim.empty(); };
  if (llvm::count_if(tensor.dims, isSingle) != 1)
    return std::nullopt;
  return llvm::find_if(tensor.dims, isSingle) - tensor.dims.begin();
}

/// Maps a dim of a result of a rearranging call back to its operand.
std::optional<int64_t> mapBack(std::optional<int64_t> dim, const FactorRule &rule, const TensorFactors &result) {
  if (!dim)
    return std::nullopt;
  if (result.dims[*dim].empty())
    return singleDim(rule.operands[0]);
  return dimOf(rule.operands[0], result.dims[*dim].front());
}

/// What is found for the results of a call with one operand: the features of the first that has any, and the
/// activations that meet one of them.
FeatureUse findBehind(CallOp call, StringRef path, const FactorRule &rule) {
  FeatureUse all;
  for (auto [value, result] : llvm::zip(call.getResults(), rule.results)) {
    FeatureUse features = findFeatures(value, path);
    if (!all.outputDim && !all.inputDim) {
      all.outputDim = mapBack(features.outputDim, rule, result);
      all.inputDim = mapBack(features.inputDim, rule, result);
    }
    all.activations.append(features.activations);
  }
  return all;
}

} // namespace

/// The uses by calls of a module, in the order of the program.
static SmallVector<OpOperand *> usesIn(Value value, StringRef path) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    if (auto call = dyn_cast<CallOp>(use.getOwner()); call && call.isInModule(path))
      uses.push_back(&use);
  llvm::stable_sort(uses, [](OpOperand *left, OpOperand *right) {
    return left->getOwner() != right->getOwner() && left->getOwner()->isBeforeInBlock(right->getOwner());
  });
  return uses;
}

FeatureUse meshplan::findFeatures(Value parameter, StringRef path) {
  FeatureUse all;
  for (OpOperand *use : usesIn(parameter, path)) {
    auto call = cast<CallOp>(use->getOwner());
    CallView view = CallView::of(call);
    const OpRecord *record = OpRegistry::get().lookup(view.target);
    if (!record)
      continue;
    FactorRule rule = factorRuleOf(view, record);
    FeatureUse features = call.getOperands().size() == 1 ? findBehind(call, path, rule)
                                                         : readFeatures(call, use->getOperandNumber(), rule);
    if (!features.outputDim && !features.inputDim)
      continue;
    if (!all.outputDim && !all.inputDim)
      all = std::move(features);
    else if (features.outputDim == all.outputDim && features.inputDim == all.inputDim)
      all.activations.append(features.activations);
  }
  return all;
}
