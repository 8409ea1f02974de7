//===- inside_features.cpp - features inside the experts ------------------===//

#include "compiler/transforms/place/inside_features.h"
#include "compiler/sharding/dataflow/module_border.h"
#include "compiler/sharding/op_record.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

static bool isProduct(const CallView &view) {
  return view.target.starts_with("meshplan.grouped_linear") && view.getOperand("rows") && view.getOperand("weight");
}

/// True if the rows are multiplied with the weight of an expert again before their tokens are summed.
static bool isMultipliedAgain(Value rows, llvm::DenseMap<Value, bool> &known) {
  auto [entry, isNew] = known.try_emplace(rows, false);
  if (!isNew)
    return entry->second;
  bool found = false;
  for (Operation *user : rows.getUsers()) {
    auto call = dyn_cast<CallOp>(user);
    CallView view = call ? CallView::of(call) : CallView();
    if (!call || view.target == "meshplan.combine")
      continue;
    found |= isProduct(view) ||
             llvm::any_of(call.getResults(), [&](Value result) { return isMultipliedAgain(result, known); });
  }
  return known[rows] = found;
}

SmallVector<InsideUse> meshplan::featuresInsideExperts(ArrayRef<CallOp> calls) {
  SmallVector<InsideUse> uses;
  llvm::DenseMap<Value, bool> multiplied;
  llvm::DenseSet<Value> divided;
  for (CallOp call : calls) {
    CallView view = CallView::of(call);
    bool reads = llvm::any_of(call.getOperands(), [&](Value operand) { return divided.contains(originOf(operand)); });
    std::optional<unsigned> rows = view.getOperand("rows");
    if (isProduct(view) && reads) {
      uses.push_back({call, /*ofOutput=*/false, call.getOperand(*rows)});
    } else if (isProduct(view)) {
      if (!isMultipliedAgain(call.getResult(0), multiplied))
        continue;
      uses.push_back({call, /*ofOutput=*/true, call.getResult(0)});
      divided.insert(call.getResult(0));
    } else if (reads && view.target != "meshplan.combine") {
      if (view.target == "meshplan.grouped_bias")
        uses.push_back({call, /*ofOutput=*/true, call.getResult(0)});
      divided.insert(call.result_begin(), call.result_end());
    }
  }
  return uses;
}
