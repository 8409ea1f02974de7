//===- count_tokens.cpp - tokens by expert are outputs of a step ----------===//
//
// See CountTokens in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/dataflow/routers.h"
#include "compiler/transforms/differentiate/passes.h"
#include "dialect/plan/argument_table.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/call_builder.h"
#include "dialect/plan/programs.h"
#include "dialect/plan/step_call.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace meshplan {
#define GEN_PASS_DEF_COUNTTOKENS
#include "compiler/transforms/differentiate/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// The outputs of one step.
class TokenCounter {
public:
  explicit TokenCounter(func::FuncOp step) : step(step), builder(step.getContext()) {}

  void run();

private:
  void addOutput(ArrayRef<CallOp> routes);
  Value replicated(Value value, Location location);

  func::FuncOp step;
  OpBuilder builder;
  int64_t outputs = 0;
};

} // namespace

void TokenCounter::run() {
  llvm::MapVector<int64_t, SmallVector<CallOp>> layers; // by number of experts
  for (CallOp route : routesOf(step))
    layers[shapeOf(route.getResult(1)).front()].push_back(route);
  for (auto &[experts, routes] : layers)
    addOutput(routes);
}

/// The same on all ranks: an axis that divides experts leaves each rank a part of the numbers.
Value TokenCounter::replicated(Value value, Location location) {
  MeshOp mesh = getMesh(step);
  SmallVector<Attribute> axes;
  for (auto axis : mesh.getAxes().getAsRange<MeshAxisAttr>())
    axes.push_back(AxisRefAttr::get(builder.getContext(), axis.getName()));
  return ConstrainOp::create(builder, location, value.getType(), value,
                             ShardingAttr::getReplicated(builder.getContext(), rankOf(value)),
                             builder.getArrayAttr(axes), builder.getStringAttr("tokens by expert"));
}

void TokenCounter::addOutput(ArrayRef<CallOp> routes) {
  SmallVector<Value> tokens;
  SmallVector<Attribute> modules;
  SmallVector<int64_t> pairs;
  CallOp first = routes.front();
  int64_t experts = shapeOf(first.getResult(1)).front();
  Type type = builder.getI64Type();
  for (CallOp route : routes) {
    OpBuilder after(route->getContext());
    after.setInsertionPointAfter(route);
    tokens.push_back(CallBuilder::at("meshplan.expert_tokens", route, after)
                         .tensor("counts", route.getResult(1))
                         .tensor("table", route.getResult(0))
                         .build({experts}, type));
    modules.push_back(builder.getStringAttr(moduleOfExperts(route)));
    pairs.push_back(llvm::product_of(shapeOf(route.getOperand(0))));
  }
  Operation *end = step.getBody().front().getTerminator();
  builder.setInsertionPoint(end);
  Value all = StepCall("aten.stack.default", builder, first.getLoc())
                  .tensors("tensors", tokens)
                  .integer("dim", 0)
                  .make(RankedTensorType::get({static_cast<int64_t>(routes.size()), experts}, type));
  std::string name = base::expertTokensOutput.str() + (outputs == 0 ? "" : "." + std::to_string(outputs));
  ++outputs;
  unsigned index = end->getNumOperands();
  end->insertOperands(index, replicated(all, first.getLoc()));
  [[maybe_unused]] LogicalResult inserted =
      step.insertResult(index, all.getType(),
                        builder.getDictionaryAttr({named<attr::Name>(builder.getStringAttr(name)),
                                                   named<attr::Experts>(builder.getArrayAttr(modules)),
                                                   named<attr::Pairs>(builder.getDenseI64ArrayAttr(pairs))}));
}

namespace {

struct CountTokensPass : meshplan::impl::CountTokensBase<CountTokensPass> {
  void runOnOperation() final {
    if (func::FuncOp step = programOf(getOperation(), base::ProgramRole::step))
      TokenCounter(step).run();
  }
};

} // namespace
