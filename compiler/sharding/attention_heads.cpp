//===- attention_heads.cpp - dims that are the size of a head -------------===//

#include "compiler/sharding/attention_heads.h"
#include "compiler/sharding/op_record.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// The factors of a dim that are divided if the dim is: all that it joins, or else the major one.
static ArrayRef<unsigned> dividedFactors(const TensorFactors &tensor, unsigned dim, const FactorRule &rule) {
  ArrayRef<unsigned> factors = tensor.dims[dim];
  if (tensor.isJoined(dim))
    return factors;
  const unsigned *major = llvm::find_if(factors, [&](unsigned factor) { return rule.factors[factor].size != 1; });
  return ArrayRef<unsigned>(major, major == factors.end() ? 0 : 1);
}

static bool holdsAny(ArrayRef<unsigned> dim, ArrayRef<unsigned> factors) {
  return llvm::any_of(dim, [&](unsigned factor) { return llvm::is_contained(factors, factor); });
}

namespace {
/// Follows a dim to every attention behind it.
class HeadSizeSearch {
public:
  std::optional<HeadUse> search(Value value, unsigned dim);

private:
  void add(Value value, unsigned dim) {
    if (seen.insert({value, dim}).second)
      open.push_back({value, dim});
  }
  void follow(OpOperand &use, unsigned dim);
  void followCall(CallOp call, unsigned operand, unsigned dim);

  llvm::DenseSet<std::pair<Value, unsigned>> seen;
  SmallVector<std::pair<Value, unsigned>> open;
  std::optional<HeadUse> found;
  bool isOther = false; ///< some attention takes the dim as another one
};
} // namespace

std::optional<HeadUse> HeadSizeSearch::search(Value value, unsigned dim) {
  add(value, dim);
  for (size_t i = 0; i < open.size() && !isOther; ++i) {
    auto [next, at] = open[i];
    for (OpOperand &use : next.getUses())
      follow(use, at);
  }
  return isOther ? std::nullopt : found;
}

void HeadSizeSearch::follow(OpOperand &use, unsigned dim) {
  if (auto call = dyn_cast<CallOp>(use.getOwner()))
    followCall(call, use.getOperandNumber(), dim);
  else if (isa<ConstrainOp, ReshardOp>(use.getOwner()))
    add(use.getOwner()->getResult(0), dim);
}

void HeadSizeSearch::followCall(CallOp call, unsigned operand, unsigned dim) {
  CallView view = CallView::of(call);
  if (view.target == "meshplan.attention") {
    bool isQuery = view.getOperand("query") == operand;
    bool isHeadSize = dim + 1 == view.operands[operand].getRank() &&
                      (isQuery || view.getOperand("key") == operand || view.getOperand("value") == operand);
    isOther |= !isHeadSize;
    if (!found)
      found = HeadUse{call, isQuery, view.operands[operand].getDimSize(1)};
    return;
  }
  FactorRule rule = factorRuleOf(view, OpRegistry::get().lookup(view.target));
  ArrayRef<unsigned> factors = dividedFactors(rule.operands[operand], dim, rule);
  for (auto [result, tensor] : llvm::zip(call.getResults(), rule.results))
    for (auto [index, resultDim] : llvm::enumerate(tensor.dims))
      if (holdsAny(resultDim, factors))
        add(result, index);
}

std::optional<HeadUse> meshplan::findHeadSize(Value value, unsigned dim) { return HeadSizeSearch().search(value, dim); }

/// The operand of a call, and its dim, that hold a factor of a dim of the result; weights first.
static std::optional<std::pair<Value, unsigned>> sourceOf(CallOp call, const TensorFactors &tensor, unsigned dim,
                                                          const FactorRule &rule) {
  std::optional<std::pair<Value, unsigned>> source;
  for (auto [operand, factors] : llvm::zip(call.getOperands(), rule.operands))
    for (auto [index, operandDim] : llvm::enumerate(factors.dims))
      if (holdsAny(operandDim, tensor.dims[dim]) && (!source || isFromWeights(operand)))
        source = {operand, static_cast<unsigned>(index)};
  return source;
}

StringRef meshplan::projectionBehind(Value value, unsigned dim) {
  while (Operation *producer = value.getDefiningOp()) {
    if (isa<ConstrainOp, ReshardOp>(producer)) {
      value = producer->getOperand(0);
      continue;
    }
    auto call = dyn_cast<CallOp>(producer);
    if (!call)
      return "";
    CallView view = CallView::of(call);
    FactorRule rule = factorRuleOf(view, OpRegistry::get().lookup(view.target));
    auto source = sourceOf(call, rule.results[cast<OpResult>(value).getResultNumber()], dim, rule);
    if (!source)
      return "";
    if (isFromWeights(source->first))
      return call.getModule().value_or("");
    std::tie(value, dim) = *source;
  }
  return "";
}

std::string meshplan::projectionsOf(HeadUse use) {
  CallView view = CallView::of(use.attention);
  llvm::SmallSetVector<StringRef, 3> modules;
  for (StringRef name : {"query", "key", "value"}) {
    std::optional<unsigned> operand = view.getOperand(name);
    if (!operand || (name == "query" && !use.isQuery))
      continue;
    StringRef module = projectionBehind(use.attention.getOperand(*operand), view.operands[*operand].getRank() - 1);
    if (!module.empty())
      modules.insert(module);
  }
  std::string text;
  for (auto [index, module] : llvm::enumerate(modules))
    text += (index == 0 ? "'" : index + 1 == modules.size() ? " and '" : ", '") + module.str() + "'";
  return text;
}
