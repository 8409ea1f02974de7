//===- expert_weights.cpp - weights of the experts of a mixture -----------===//

#include "compiler/sharding/dataflow/expert_weights.h"
#include "compiler/sharding/dataflow/carriers.h"
#include "compiler/sharding/op_record.h"
#include "compiler/support/layer_names.h"
#include "dialect/plan/attributes.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// Follows the dim of the experts from a weight to arguments.
class ExpertSearch {
public:
  ExpertSearch(int64_t experts, SmallVectorImpl<ExpertWeight> &found) : experts(experts), found(found) {}

  void follow(Value value, int64_t dim);

private:
  void followCall(OpResult result, int64_t dim, CallOp call);

  int64_t experts;
  SmallVectorImpl<ExpertWeight> &found;
  llvm::DenseSet<std::pair<Value, int64_t>> seen;
};

} // namespace

void ExpertSearch::follow(Value value, int64_t dim) {
  if (!seen.insert({value, dim}).second)
    return;
  if (auto argument = dyn_cast<BlockArgument>(value))
    found.push_back({argument, dim, cast<RankedTensorType>(value.getType()).getDimSize(dim) / experts});
  else if (isCarrier(value.getDefiningOp()))
    follow(value.getDefiningOp()->getOperand(0), dim);
  else if (auto call = value.getDefiningOp<CallOp>())
    followCall(cast<OpResult>(value), dim, call);
}

void ExpertSearch::followCall(OpResult result, int64_t dim, CallOp call) {
  CallView view = CallView::of(call);
  FactorRule rule = factorRuleOf(view, OpRegistry::get().lookup(view.target));
  const TensorFactors &made = rule.results[result.getResultNumber()];
  if (made.dims[dim].empty() || made.isJoined(dim))
    return;
  // Only the major factor has ranges of its own, which are whole experts if there are as many or a multiple.
  unsigned major = made.dims[dim].front();
  if (rule.factors[major].kind != FactorKind::parallel || rule.factors[major].size % experts != 0)
    return;
  for (auto [operand, factors] : llvm::zip_equal(call.getOperands(), rule.operands))
    for (auto [index, own] : llvm::enumerate(factors.dims))
      if (!own.empty() && own.front() == major && !factors.isJoined(index))
        follow(operand, index);
}

SmallVector<ExpertWeight> meshplan::weightsOfExperts(CallOp call) {
  CallView view = CallView::of(call);
  SmallVector<ExpertWeight> weights;
  if (!view.getOperand("counts"))
    return weights;
  for (StringRef name : {"weight", "bias"})
    if (std::optional<unsigned> operand = view.getOperand(name))
      ExpertSearch(view.operands[*operand].getDimSize(0), weights).follow(call.getOperand(*operand), 0);
  return weights;
}

SmallVector<ExpertWeight> meshplan::weightsOfExperts(ArrayRef<CallOp> calls) {
  SmallVector<ExpertWeight> weights;
  llvm::DenseSet<BlockArgument> seen;
  for (CallOp call : calls)
    for (const ExpertWeight &weight : weightsOfExperts(call))
      if (isWeight(weight.argument) && seen.insert(weight.argument).second)
        weights.push_back(weight);
  return weights;
}

bool meshplan::multipliesRows(CallOp call) {
  CallView view = CallView::of(call);
  return view.getOperand("counts") && view.getOperand("rows") && view.getOperand("weight");
}

StringRef meshplan::pathOfExperts(func::FuncOp function) {
  for (auto call : function.getOps<CallOp>())
    if (CallView::of(call).getOperand("counts"))
      return call.getModule().value_or("");
  return {};
}

/// The first name of the parameter from which carriers derive a value; empty if there is none.
static StringRef nameOf(Value value) {
  BlockArgument argument = sourceArgument(value);
  auto names = argument ? argAttr<attr::Names>(argument) : ArrayAttr();
  return names && !names.empty() ? cast<StringAttr>(names[0]).getValue() : StringRef();
}

/// `mlp.experts` of `mlp.experts.0.w1.weight` and `mlp.experts.1.w1.weight`; empty if the names differ elsewhere.
static StringRef listOf(StringRef first, StringRef second) {
  size_t common = 0;
  while (common < std::min(first.size(), second.size()) && first[common] == second[common])
    ++common;
  StringRef list = first.take_front(common);
  bool isList = list.consume_back(".") && first.drop_front(common).starts_with("0.") &&
                second.drop_front(common).starts_with("1.") &&
                first.drop_front(common + 1) == second.drop_front(common + 1);
  return isList ? list : StringRef();
}

/// The stacks by which calls multiply rows.
static SmallVector<CallOp> stacksOfExperts(func::FuncOp function) {
  SmallVector<CallOp> stacks;
  for (auto call : function.getOps<CallOp>()) {
    if (!multipliesRows(call))
      continue;
    Value weight = call.getOperand(*CallView::of(call).getOperand("weight"));
    while (isCarrier(weight.getDefiningOp()))
      weight = weight.getDefiningOp()->getOperand(0);
    auto stack = weight.getDefiningOp<CallOp>();
    if (stack && stack.getTarget() == "aten.stack.default" && stack.getNumOperands() > 1)
      stacks.push_back(stack);
  }
  return stacks;
}

std::map<std::string, int64_t> meshplan::listsOfExperts(func::FuncOp function) {
  std::map<std::string, int64_t> lists;
  for (CallOp stack : stacksOfExperts(function)) {
    StringRef list = listOf(nameOf(stack.getOperand(0)), nameOf(stack.getOperand(1)));
    if (!list.empty())
      lists[list.str()] = stack.getNumOperands();
  }
  return lists;
}

StringRef meshplan::partOfExperts(func::FuncOp function, StringRef path) {
  for (CallOp stack : stacksOfExperts(function))
    for (Value part : stack.getOperands())
      if (StringRef name = nameOf(part); name == path || isInside(name, path))
        return name;
  return {};
}
