//===- balance_bias.cpp - updates the bias of routers ---------------------===//
//
// See BalanceBias in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/dataflow/routers.h"
#include "compiler/transforms/differentiate/passes.h"
#include "dialect/plan/argument_table.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/programs.h"
#include "dialect/plan/step_call.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {
#define GEN_PASS_DEF_BALANCEBIAS
#include "compiler/transforms/differentiate/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// The updates of one step.
class BiasBalancer {
public:
  explicit BiasBalancer(func::FuncOp step) : step(step), end(step.getBody().front().getTerminator()), builder(end) {}

  void balance(CallOp route, RoutingOp statement);

private:
  Value tokensOf(CallOp route, Location location);
  Value nonfinite();

  func::FuncOp step;
  Operation *end;
  OpBuilder builder;
};

} // namespace

/// The tokens of each expert of the layer, in the whole batch.
Value BiasBalancer::tokensOf(CallOp route, Location location) {
  StringRef module = moduleOfExperts(route);
  for (unsigned index = 0; index < step.getNumResults(); ++index)
    if (auto modules = resultAttr<attr::Experts>(step, index))
      for (auto [row, name] : llvm::enumerate(modules.getAsRange<StringAttr>()))
        if (name.getValue() == module)
          return StepCall("aten.select.int", builder, location)
              .tensor("self", end->getOperand(index))
              .integer("dim", 0)
              .integer("index", row)
              .make(RankedTensorType::get({shapeOf(end->getOperand(index)).back()}, builder.getI64Type()));
  llvm_unreachable("every route is counted");
}

/// The number of non-finite elements of the gradients, or null if the step does not count them.
Value BiasBalancer::nonfinite() {
  for (unsigned index = 0; index < step.getNumResults(); ++index)
    if (auto name = resultAttr<attr::Name>(step, index); name && name.getValue() == base::nonfiniteOutput)
      return end->getOperand(index);
  return {};
}

void BiasBalancer::balance(CallOp route, RoutingOp statement) {
  BlockArgument bias = biasOfScores(route);
  Location location = statement.getLoc();
  auto own = cast<RankedTensorType>(bias.getType());
  auto type = RankedTensorType::get(own.getShape(), own.getElementType());
  StepCall call("meshplan.balanced_bias", builder, location);
  call.tensor("bias", bias).tensor("tokens", tokensOf(route, location));
  if (Value count = nonfinite())
    call.tensor("nonfinite", count);
  Value balanced = call.number("rate", statement.getNumber().convertToDouble()).make(type);
  Value matched = MatchOp::create(builder, location, type, balanced, bias, ArrayAttr());
  Value stored =
      StepCall("meshplan.assign", builder, location).tensor("self", bias).tensor("source", matched).make(type);
  unsigned index = end->getNumOperands();
  end->insertOperands(index, stored);
  [[maybe_unused]] LogicalResult inserted =
      step.insertResult(index, type, builder.getDictionaryAttr(named<attr::Updates>(referenceTo(bias))));
}

namespace {

struct BalanceBiasPass : meshplan::impl::BalanceBiasBase<BalanceBiasPass> {
  void runOnOperation() final {
    SmallVector<RoutingOp> statements(getOperation().getOps<RoutingOp>());
    func::FuncOp step = programOf(getOperation(), base::ProgramRole::step);
    if (step && !statements.empty()) {
      BiasBalancer balancer(step);
      for (CallOp route : routesOf(step))
        for (RoutingOp statement : statements)
          if (hasLayer(statement.getModule(), route)) {
            balancer.balance(route, statement);
            break;
          }
    }
    for (RoutingOp statement : statements)
      statement.erase();
  }
};

} // namespace
