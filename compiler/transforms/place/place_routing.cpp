//===- place_routing.cpp - statements about tokens of experts -------------===//
//
// See PlaceRouting in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/dataflow/expert_weights.h"
#include "compiler/sharding/dataflow/routers.h"
#include "compiler/support/layer_names.h"
#include "compiler/transforms/place/passes.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/call_builder.h"
#include "dialect/plan/programs.h"
#include "llvm/ADT/MapVector.h"
#include <cmath>

namespace meshplan {
#define GEN_PASS_DEF_PLACEROUTING
#include "compiler/transforms/place/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// The statements of a module and the layers of its forward program.
class RoutingPlacer {
public:
  explicit RoutingPlacer(func::FuncOp forward) : forward(forward), routes(routesOf(forward)) {}

  /// `statements` are those of one path of the plan.
  LogicalResult apply(ArrayRef<RoutingOp> statements);

private:
  LogicalResult applyTo(CallOp route, RoutingOp statement);
  LogicalResult drop(CallOp route, RoutingOp statement);
  LogicalResult checkBias(CallOp route, RoutingOp statement);
  LogicalResult reportNoLayer(RoutingOp statement);
  bool areDivided(CallOp route);
  void warnOfWholeExperts(RoutingOp statement, CallOp route);

  func::FuncOp forward;
  SmallVector<CallOp> routes;
  DenseMap<std::pair<Operation *, int>, RoutingOp> applied; ///< by route and rule
};

} // namespace

LogicalResult RoutingPlacer::apply(ArrayRef<RoutingOp> statements) {
  SmallVector<CallOp> named;
  for (CallOp route : routes) {
    auto statement = llvm::find_if(statements, [&](RoutingOp each) { return hasLayer(each.getModule(), route); });
    if (statement == statements.end())
      continue;
    named.push_back(route);
    if (failed(applyTo(route, *statement)))
      return failure();
  }
  RoutingOp first = statements.front();
  if (named.empty())
    return reportNoLayer(first);
  if (first.getRule() == RoutingRule::reserve && llvm::none_of(named, [&](CallOp route) { return areDivided(route); }))
    warnOfWholeExperts(first, named.front());
  return success();
}

/// The parameters of the experts to which a route sends rows.
static SmallVector<ExpertWeight> weightsOf(CallOp route) {
  SmallVector<CallOp> readers;
  for (Operation *user : route.getResult(1).getUsers())
    if (auto call = dyn_cast<CallOp>(user))
      readers.push_back(call);
  return weightsOfExperts(readers);
}

/// True if the plan divides the experts of the route, perhaps over an axis of one rank.
bool RoutingPlacer::areDivided(CallOp route) {
  SmallVector<ExpertWeight> weights = weightsOf(route);
  // The module of a style computes rows with the weights, or only holds them.
  auto isIn = [&](StyleOp style) {
    return hasLayer(style.getModule(), route) || llvm::any_of(weights, [&](const ExpertWeight &weight) {
             auto names = argAttr<attr::Names>(weight.argument);
             return names && llvm::any_of(names.getAsRange<StringAttr>(), [&](StringAttr name) {
                      return isInside(name.getValue(), style.getModule());
                    });
           });
  };
  for (auto style : forward->getParentOfType<ModuleOp>().getOps<StyleOp>())
    if (style.getKind() == StyleKind::expert && isIn(style))
      return true;
  return llvm::any_of(weights, [](const ExpertWeight &weight) {
    auto stated = argAttr<attr::Sharding>(weight.argument);
    return stated && !stated.getDims()[weight.dim].getAxes().empty();
  });
}

void RoutingPlacer::warnOfWholeExperts(RoutingOp statement, CallOp route) {
  std::string place = holderOfExperts(route);
  auto diagnostic = statement.emitWarning()
                    << "'" << statement.getText() << "' has no effect: each rank has all experts of "
                    << moduleText(place) << ", and so as many rows as its tokens choose";
  diagnostic.attachNote(statement.getLoc()) << "help: write '" << (place.empty() ? "" : withoutIndices(place) + ": ")
                                            << "expert AXIS', or remove the statement";
}

LogicalResult RoutingPlacer::reportNoLayer(RoutingOp statement) {
  auto diagnostic = statement.emitError()
                    << "'" << statement.getText() << "' names no module that routes tokens to experts";
  if (routes.empty())
    diagnostic.attachNote(statement.getLoc())
        << "help: the model has no experts that are recognized: remove the statement";
  else
    diagnostic.attachNote(statement.getLoc())
        << "help: there are experts in " << moduleText(moduleOfExperts(routes.front()))
        << (routes.size() > 1 ? " and " + std::to_string(routes.size() - 1) + " more" : "");
  return diagnostic;
}

LogicalResult RoutingPlacer::applyTo(CallOp route, RoutingOp statement) {
  auto [known, isFirst] = applied.try_emplace({route, static_cast<int>(statement.getRule())}, statement);
  if (!isFirst) {
    auto diagnostic = statement.emitError()
                      << "'" << statement.getText() << "' is about the experts of "
                      << moduleText(moduleOfExperts(route)) << ", which another statement is about";
    diagnostic.attachNote(known->second.getLoc()) << "'" << known->second.getText() << "' is here";
    diagnostic.attachNote(statement.getLoc()) << "help: keep one of them";
    return diagnostic;
  }
  switch (statement.getRule()) {
  case RoutingRule::reserve:
    setOpAttr<attr::Reserve>(route, statement.getNumberAttr());
    return success();
  case RoutingRule::capacity:
    return drop(route, statement);
  case RoutingRule::bias:
    return checkBias(route, statement);
  }
  llvm_unreachable("unknown rule");
}

LogicalResult RoutingPlacer::drop(CallOp route, RoutingOp statement) {
  Value indices = route.getOperand(0);
  ArrayRef<int64_t> shape = shapeOf(indices);
  if (shape.size() < 3) {
    auto diagnostic = statement.emitError()
                      << "'" << statement.getText() << "' counts tokens of each sample, but "
                      << moduleText(moduleOfExperts(route)) << " has one dim of all " << shape.front() << " tokens";
    diagnostic.attachNote(statement.getLoc()) << "help: export the model with more than one sample and position";
    return diagnostic;
  }
  int64_t experts = shapeOf(route.getResult(1)).front(), pairs = llvm::product_of(shape.drop_front());
  double most =
      std::ceil(statement.getNumber().convertToDouble() * static_cast<double>(pairs) / static_cast<double>(experts));
  Value kept = CallBuilder("meshplan.drop_choices", route)
                   .tensor("indices", indices)
                   .integer("experts", experts)
                   .integer("most", static_cast<int64_t>(std::min(most, static_cast<double>(pairs))))
                   .build(shape, elementOf(indices));
  // What is moved for it is moved for the statement.
  kept.getDefiningOp()->setLoc(statement.getLoc());
  route.setOperand(0, kept);
  return success();
}

LogicalResult RoutingPlacer::checkBias(CallOp route, RoutingOp statement) {
  if (biasOfScores(route))
    return success();
  int64_t experts = shapeOf(route.getResult(1)).front();
  auto diagnostic = statement.emitError()
                    << "'" << statement.getText() << "': the scores that choose the experts of "
                    << moduleText(moduleOfExperts(route)) << " have no bias that the model stores as a buffer";
  diagnostic.attachNote(statement.getLoc())
      << "help: register a buffer of " << experts << " elements, and add it to the scores before the choice";
  return diagnostic;
}

namespace {

struct PlaceRoutingPass : meshplan::impl::PlaceRoutingBase<PlaceRoutingPass> {
  void runOnOperation() final {
    ModuleOp module = getOperation();
    llvm::MapVector<Location, SmallVector<RoutingOp>> statements;
    for (auto statement : module.getOps<RoutingOp>())
      statements[statement.getLoc()].push_back(statement);
    func::FuncOp forward = programOf(module, base::ProgramRole::forward);
    if (statements.empty() || !forward)
      return;
    RoutingPlacer placer(forward);
    for (auto &[location, ofPath] : statements)
      if (failed(placer.apply(ofPath)))
        return signalPassFailure();
    for (auto &[location, ofPath] : statements)
      for (RoutingOp statement : ofPath)
        if (statement.getRule() != RoutingRule::bias)
          statement.erase();
  }
};

} // namespace
