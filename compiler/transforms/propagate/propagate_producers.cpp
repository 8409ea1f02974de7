//===- propagate_producers.cpp - divides values where they are made -------===//
//
// A value that depends on no input of the model, such as the embedding of
// positions, is computed replicated on every rank. Where its only reader wants
// a shard, the rank computes only this shard. Its gradient is then divided as
// well and need not be gathered. A tensor of literals, such as the zeros into
// which a model writes, is created for each reader.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/storage/flat_calls.h"
#include "compiler/transforms/propagate/propagation.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

bool Propagation::dependsOnInputs(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument)
    return argumentKind(argument) == ArgumentKind::input;
  // Memoized: without it, values that several operators read would be walked once for each path.
  auto [known, isNew] = inputDependence.try_emplace(value, false);
  if (!isNew)
    return known->second;
  bool depends = llvm::any_of(value.getDefiningOp()->getOperands(), [&](Value each) { return dependsOnInputs(each); });
  // Looked up again: the recursion may have moved the entries of the table.
  return inputDependence[value] = depends;
}

/// The layouts that the operands of a call need for its result to be `wanted`. Nothing if the call cannot compute this
/// result without communication, or if a parameter would have to be divided for it.
std::optional<SmallVector<ShardingAttr>> Propagation::operandsFor(CallOp call, ShardingAttr wanted) {
  CallView view = CallView::of(call);
  const OpRecord *record = OpRegistry::get().lookup(view.target);
  if (!record || call.getNumResults() != 1 || hasFlatOperand(call))
    return std::nullopt;
  FactorRule rule = factorRuleOf(view, record);
  Projection projection = projectToFactors(wanted, rule.results[0], rule, mesh);
  // A divided sum or maximum would make the result partial, which needs communication.
  for (auto [division, factor] : llvm::zip(projection.factors, rule.factors))
    if (!division.axes.empty() && factor.kind != FactorKind::parallel)
      return std::nullopt;
  SmallVector<unsigned> inexpressible;
  ShardingAttr made = projectToDims(projection.factors, rule.results[0], rule, mesh, &inexpressible);
  SmallVector<ShardingAttr> operands;
  for (auto [operand, tensor] : llvm::zip(call.getOperands(), rule.operands)) {
    // A parameter would have to be divided in each step for this. A slice of a constant is local.
    operands.push_back(projectToDims(projection.factors, tensor, rule, mesh, &inexpressible));
    if (isFromWeights(operand) && operands.back() != getSharding(operand) && !operand.getDefiningOp<ConstantOp>())
      return std::nullopt;
  }
  if (projection.misfit || projection.cut || !inexpressible.empty() || made != wanted)
    return std::nullopt;
  return operands;
}

/// Moves the reshards that define a version of a value before `user`, where the value itself already exists.
static void hoist(Value version, Operation *user) {
  auto reshard = version.getDefiningOp<ReshardOp>();
  if (!reshard || reshard->isBeforeInBlock(user))
    return;
  hoist(reshard.getInput(), user);
  reshard->moveBefore(user);
}

Value Propagation::createDivided(Value value, ShardingAttr wanted, Operation *reader) {
  auto call = value.getDefiningOp<CallOp>();
  const OpRecord *record = call ? OpRegistry::get().lookup(call.getTarget()) : nullptr;
  bool isCreated = record && record->readsNoTensor && getSharding(value).isReplicated() && !wanted.isPartial() &&
                   !wanted.isFlat() && !statedValues.contains(value);
  if (!isCreated || !operandsFor(call, wanted))
    return {};
  OpBuilder builder(reader);
  auto created = cast<CallOp>(builder.clone(*call));
  layouts.decide(created.getResult(0), wanted);
  return created.getResult(0);
}

bool Propagation::divideProducer(Value value, ShardingAttr wanted, Operation *reader) {
  auto call = value.getDefiningOp<CallOp>();
  // A second reader would need the value whole. Values that depend on inputs are activations, whose layout the plan is
  // about: there a slice is the visible answer. A match does not count: it gives the gradient the layout of the value,
  // whichever that is.
  bool isFree = call && getSharding(value).isReplicated() && !wanted.isPartial() && !wanted.isFlat() &&
                !statedValues.contains(value) && !dependsOnInputs(value) &&
                llvm::all_of(value.getUsers(), [&](Operation *user) { return user == reader || isa<MatchOp>(user); });
  if (!isFree)
    return false;
  std::optional<SmallVector<ShardingAttr>> operands = operandsFor(call, wanted);
  if (!operands)
    return false;
  for (auto [operand, layout] : llvm::zip(call->getOpOperands(), *operands)) {
    Value given = operand.get();
    if (getSharding(given) == layout || divideProducer(given, layout, call))
      continue;
    Value part = layouts.obtain(given, layout, call, Cause{call.getLoc(), StringAttr()});
    // The version may have been made for a later consumer, so that it is after the producer in the program.
    hoist(part, call);
    operand.set(part);
  }
  layouts.decide(value, wanted);
  return true;
}
