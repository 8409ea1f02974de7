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
#include "llvm/ADT/MapVector.h"

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

  void run(ArrayRef<RoutingOp> statements);

private:
  Value tokensOf(size_t row, int64_t experts, Location location);
  Value nonfinite();
  void balance(BlockArgument bias, Value tokens, RoutingOp statement);

  func::FuncOp step;
  Operation *end;
  OpBuilder builder;
};

} // namespace

void BiasBalancer::run(ArrayRef<RoutingOp> statements) {
  // A module that is called several times has one bias, and the tokens of all its calls.
  llvm::MapVector<BlockArgument, std::pair<Value, RoutingOp>> tokens;
  DenseMap<int64_t, size_t> rows; // of the outputs, by number of experts
  for (CallOp route : routesOf(step)) {
    int64_t experts = shapeOf(route.getResult(1)).front();
    size_t row = rows[experts]++;
    auto statement = llvm::find_if(statements, [&](RoutingOp each) { return hasLayer(each.getModule(), route); });
    if (statement == statements.end())
      continue;
    Location location = RoutingOp(*statement).getLoc();
    Value own = tokensOf(row, experts, location);
    auto [entry, isFirst] = tokens.try_emplace(biasOfScores(route), own, *statement);
    if (!isFirst)
      entry->second.first = StepCall("aten.add.Tensor", builder, location)
                                .tensor("self", entry->second.first)
                                .tensor("other", own)
                                .make(own.getType());
  }
  for (auto &[bias, ofBias] : tokens)
    balance(bias, ofBias.first, ofBias.second);
}

/// The tokens of each expert of one layer in the whole batch: `row` among the layers with as many experts.
Value BiasBalancer::tokensOf(size_t row, int64_t experts, Location location) {
  for (unsigned index = 0; index < step.getNumResults(); ++index) {
    Value all = end->getOperand(index);
    if (resultAttr<attr::Experts>(step, index) && shapeOf(all).back() == experts)
      return StepCall("aten.select.int", builder, location)
          .tensor("self", all)
          .integer("dim", 0)
          .integer("index", static_cast<int64_t>(row))
          .make(RankedTensorType::get({experts}, builder.getI64Type()));
  }
  llvm_unreachable("every route is counted");
}

/// The number of non-finite elements of the gradients, or null if the step does not count them.
Value BiasBalancer::nonfinite() {
  for (unsigned index = 0; index < step.getNumResults(); ++index)
    if (auto name = resultAttr<attr::Name>(step, index); name && name.getValue() == base::nonfiniteOutput)
      return end->getOperand(index);
  return {};
}

void BiasBalancer::balance(BlockArgument bias, Value tokens, RoutingOp statement) {
  Location location = statement.getLoc();
  auto own = cast<RankedTensorType>(bias.getType());
  auto type = RankedTensorType::get(own.getShape(), own.getElementType());
  StepCall call("meshplan.balanced_bias", builder, location);
  call.tensor("bias", bias).tensor("tokens", tokens);
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
    if (step && !statements.empty())
      BiasBalancer(step).run(statements);
    for (RoutingOp statement : statements)
      statement.erase();
  }
};

} // namespace
