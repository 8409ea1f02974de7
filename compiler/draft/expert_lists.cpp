//===- expert_lists.cpp - experts that are lists of modules ---------------===//

#include "compiler/draft/expert_lists.h"
#include "compiler/sharding/dataflow/carriers.h"
#include "compiler/sharding/dataflow/expert_weights.h"
#include "dialect/plan/attributes.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

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

std::map<std::string, int64_t> meshplan::expertLists(func::FuncOp function) {
  std::map<std::string, int64_t> lists;
  for (auto call : function.getOps<CallOp>()) {
    if (!multipliesRows(call))
      continue;
    Value weight = call.getOperand(*CallView::of(call).getOperand("weight"));
    while (isCarrier(weight.getDefiningOp()))
      weight = weight.getDefiningOp()->getOperand(0);
    auto stack = weight.getDefiningOp<CallOp>();
    if (!stack || stack.getTarget() != "aten.stack.default" || stack.getNumOperands() < 2)
      continue;
    StringRef list = listOf(nameOf(stack.getOperand(0)), nameOf(stack.getOperand(1)));
    if (!list.empty())
      lists[list.str()] = stack.getNumOperands();
  }
  return lists;
}
