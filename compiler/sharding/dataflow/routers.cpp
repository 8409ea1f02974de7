//===- routers.cpp - layers whose tokens choose experts -------------------===//

#include "compiler/sharding/dataflow/routers.h"
#include "compiler/sharding/dataflow/expert_weights.h"
#include "compiler/sharding/op_record.h"
#include "compiler/support/layer_names.h"
#include "dialect/plan/argument_table.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace meshplan;

SmallVector<plan::CallOp> meshplan::routesOf(func::FuncOp function) {
  SmallVector<plan::CallOp> routes;
  for (auto call : function.getOps<plan::CallOp>())
    if (call.getTarget() == "meshplan.route" && !call.getBackward())
      routes.push_back(call);
  return routes;
}

/// Products and biases of the experts.
static SmallVector<plan::CallOp> layersOf(plan::CallOp route) {
  SmallVector<plan::CallOp> layers;
  for (Operation *user : route.getResult(1).getUsers())
    if (auto call = dyn_cast<plan::CallOp>(user);
        call && !call.getBackward() && call.getTarget() != "meshplan.expert_tokens")
      layers.push_back(call);
  return layers;
}

/// The common part of two module paths.
static StringRef commonPath(StringRef left, StringRef right) {
  while (left != right) {
    StringRef &longer = left.size() >= right.size() ? left : right;
    longer = longer.contains('.') ? longer.rsplit('.').first : "";
  }
  return left;
}

StringRef meshplan::moduleOfExperts(plan::CallOp route) {
  std::optional<StringRef> common;
  for (plan::CallOp layer : layersOf(route))
    common = common ? commonPath(*common, layer.getModule().value_or("")) : layer.getModule().value_or("");
  return common.value_or(route.getModule().value_or(""));
}

std::string meshplan::holderOfExperts(plan::CallOp route) {
  StringRef module = moduleOfExperts(route);
  for (const auto &[list, experts] : listsOfExperts(route->getParentOfType<func::FuncOp>()))
    if (isInside(module, list))
      return list;
  return module.str();
}

bool meshplan::hasLayer(StringRef path, plan::CallOp route) {
  return route.isInModule(path) ||
         llvm::any_of(layersOf(route), [&](plan::CallOp layer) { return layer.isInModule(path); });
}

/// True for products, such as the one that makes the scores from the tokens.
static bool isProduct(plan::CallOp call) {
  CallView view = CallView::of(call);
  const OpRecord *record = OpRegistry::get().lookup(view.target);
  return record && record->cost && record->cost(view).product;
}

BlockArgument meshplan::biasOfScores(plan::CallOp route) {
  int64_t experts = cast<RankedTensorType>(route.getResult(1).getType()).getDimSize(0);
  llvm::SmallSetVector<Value, 16> seen;
  seen.insert(route.getOperand(0));
  SmallVector<BlockArgument> found;
  for (size_t next = 0; next < seen.size(); ++next) {
    Value value = seen[next];
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto type = cast<RankedTensorType>(argument.getType());
      bool isBuffer = plan::argumentKind(argument) == plan::ArgumentKind::buffer;
      if (isBuffer && type.getNumElements() == experts && isa<FloatType>(type.getElementType()))
        found.push_back(argument);
      continue;
    }
    Operation *maker = value.getDefiningOp();
    if (auto call = dyn_cast<plan::CallOp>(maker); call && isProduct(call))
      continue;
    for (Value operand : maker->getOperands())
      seen.insert(operand);
  }
  return found.size() == 1 ? found.front() : BlockArgument();
}
