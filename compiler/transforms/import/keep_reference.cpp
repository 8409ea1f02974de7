//===- keep_reference.cpp - the imported program on one rank --------------===//
//
// See KeepReference in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/import/erase_unread.h"
#include "compiler/transforms/import/passes.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/new_arguments.h"
#include "dialect/plan/plan.h"
#include "dialect/plan/programs.h"
#include "dialect/plan/updates.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {
#define GEN_PASS_DEF_KEEPREFERENCE
#include "compiler/transforms/import/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;

/// Removes the plan's attributes of arguments, which apply to ranks only.
static void dropLayouts(func::FuncOp function) {
  plan::removeArgumentAttributes(function, {plan::attr::Sharding::getNameStr(), plan::attr::Parts::getNameStr(),
                                            plan::attr::Style::getNameStr(), plan::attr::Init::getNameStr(),
                                            plan::attr::Data::getNameStr(), plan::attr::Unit::getNameStr(),
                                            plan::attr::Keep::getNameStr(), plan::attr::Group::getNameStr()});
}

static void reshape(plan::CallOp call) {
  if (call.getTarget() != "aten.view.default" && call.getTarget() != "aten._unsafe_view.default")
    return;
  NamedAttrList args(call.getArgs());
  if (Attribute size = args.erase("size"))
    args.set("shape", size);
  call.setTarget("aten.reshape.default");
  call.setArgsAttr(args.getDictionary(call.getContext()));
}

namespace {

struct KeepReferencePass : meshplan::impl::KeepReferenceBase<KeepReferencePass> {
  void runOnOperation() final {
    auto forward = plan::programOf(getOperation(), base::ProgramRole::forward);
    if (!forward)
      return;
    for (auto statement : getOperation().getOps<plan::RoutingOp>())
      if (statement.getRule() == plan::RoutingRule::capacity)
        return refuseCapacity(statement);
    OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
    auto own = ModuleOp::create(builder, forward.getLoc(), StringRef("reference"));
    func::FuncOp reference = forward.clone();
    plan::dropUpdates(reference);
    reference.setSymName("reference");
    plan::setRole(reference, base::ProgramRole::reference);
    own.getBody()->push_back(reference);
    dropLayouts(reference);
    for (auto statement : getOperation().getOps<plan::LossOp>())
      plan::setResultAttr<plan::attr::Loss>(reference, statement.getOutput(), builder.getUnitAttr());
    reference.walk(reshape);
    eraseUnread(reference.getBody().front());
  }

  void refuseCapacity(plan::RoutingOp statement) {
    auto diagnostic = statement.emitError() << "'" << statement.getText()
                                            << "' drops tokens, and the reference runs the operators of the model, "
                                               "which drop none: they cannot be compared";
    diagnostic.attachNote(statement.getLoc())
        << "help: compile without '--reference', or verify the plan without this statement";
    signalPassFailure();
  }
};

} // namespace
