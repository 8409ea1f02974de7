//===- routed_values.cpp - values that are routed to experts --------------===//

#include "compiler/sharding/dataflow/routed_values.h"
#include "compiler/sharding/dataflow/module_border.h"
#include "compiler/sharding/op_record.h"
#include "dialect/plan/attributes.h"

using namespace mlir;
using namespace meshplan;

bool meshplan::isRoutingCall(StringRef target) {
  return llvm::is_contained({"meshplan.route", "meshplan.expert_tokens", "meshplan.dispatch", "meshplan.dispatch_gates",
                             "meshplan.combine", "meshplan.collect_gates", "meshplan.dropout_rows",
                             "meshplan.grouped_linear", "meshplan.grouped_linear_f32", "meshplan.grouped_bias",
                             "meshplan.grouped_linear_weight_gradient", "meshplan.grouped_linear_weight_gradient_f32",
                             "meshplan.grouped_bias_gradient"},
                            target);
}

base::RoutedAttr meshplan::routedOf(Value value) {
  plan::ShardingAttr sharding = plan::getSharding(value);
  return sharding ? sharding.getRouted() : base::RoutedAttr();
}

/// The number of axes that divide the experts of a routed value.
static size_t expertAxes(Value value) { return plan::getSharding(value).getDims().front().getAxes().size(); }

bool meshplan::goesToExperts(plan::ReshardOp reshard) {
  return routedOf(reshard.getInput()) && expertAxes(reshard.getResult()) > expertAxes(reshard.getInput());
}

bool meshplan::comesFromExperts(plan::ReshardOp reshard) {
  return routedOf(reshard.getInput()) && expertAxes(reshard.getResult()) < expertAxes(reshard.getInput());
}

RoutedValues::RoutedValues(func::FuncOp function) {
  for (Operation &op : function.getBody().front()) {
    if (auto call = dyn_cast<plan::CallOp>(op))
      visit(call);
    else if (isReshardStep(&op))
      if (base::RoutedAttr routed = known.lookup(op.getOperand(0)))
        known[op.getResult(0)] = routed;
  }
}

base::RoutedAttr RoutedValues::get(Value value) const {
  base::RoutedAttr routed = known.lookup(value);
  return routed || known.empty() ? routed : known.lookup(originOf(value));
}

/// True if the dims of experts and tokens of the operand are the first dims of the result.
static bool hasRowsOf(const TensorFactors &operand, const TensorFactors &result, int64_t dims) {
  if (static_cast<int64_t>(operand.dims.size()) < dims || static_cast<int64_t>(result.dims.size()) < dims)
    return false;
  return llvm::equal(ArrayRef(operand.dims).take_front(dims), ArrayRef(result.dims).take_front(dims));
}

void RoutedValues::visit(plan::CallOp call) {
  if (call.getTarget() == "meshplan.route") {
    auto attr = [&](base::RoutedKind kind) {
      Value indices = call.getOperand(0);
      FloatAttr reserve = kind == base::RoutedKind::rows ? plan::opAttr<plan::attr::Reserve>(call) : FloatAttr();
      return base::RoutedAttr::get(call.getContext(), kind, rankOf(call.getResult(0)), shapeOf(indices).back(),
                                   reserve);
    };
    known[call.getResult(0)] = attr(base::RoutedKind::rows);
    known[call.getResult(1)] = attr(base::RoutedKind::counts);
    return;
  }
  auto isRows = [&](Value value) {
    base::RoutedAttr routed = known.lookup(value);
    return routed && routed.getKind() == base::RoutedKind::rows;
  };
  if (llvm::none_of(call.getOperands(), isRows))
    return;
  CallView view = CallView::of(call);
  FactorRule rule = factorRuleOf(view, OpRegistry::get().lookup(view.target));
  for (auto [index, operand] : llvm::enumerate(call.getOperands()))
    for (auto [number, result] : llvm::enumerate(call.getResults()))
      if (isRows(operand) && hasRowsOf(rule.operands[index], rule.results[number], known.lookup(operand).getDims()))
        known[result] = known.lookup(operand);
}
