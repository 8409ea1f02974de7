//===- propagate_calls.cpp - layouts of operands and results of calls -----===//

#include "compiler/sharding/dataflow/carriers.h"
#include "compiler/sharding/layout_text.h"
#include "compiler/sharding/partial_operands.h"
#include "compiler/sharding/storage/flat_calls.h"
#include "compiler/transforms/propagate/propagation.h"
#include "compiler/transforms/propagate/split_sums.h"
#include "dialect/plan/attributes.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// The parameter that is a flat operand, or from which the plan's precision converted one; null if there is none.
static BlockArgument flatParameter(CallOp call) {
  for (Value operand : call.getOperands())
    if (BlockArgument argument = getSharding(operand).isFlat() ? sourceArgument(operand) : BlockArgument())
      if (argumentKind(argument) == ArgumentKind::parameter)
        return argument;
  return {};
}

/// True for a call of the model that reads a flat parameter and needs it gathered first. All readers then share one
/// gathered tensor, which units and buffers are about. A conversion to a narrower type runs on the flat form, so that
/// less is moved, unless parameters are gathered directly from a buffer.
static bool readsWhole(CallOp call, const OpRecord *record) {
  BlockArgument parameter = flatParameter(call);
  if (!parameter || call->hasAttr(attr::Precision::getNameStr()) || (record && !record->overwrites.empty()))
    return false;
  bool narrows = isCarrier(call) && isa<FloatType>(getElementTypeOrSelf(call.getResult(0))) &&
                 elementBytes(call.getResult(0).getType()) < elementBytes(call.getOperand(0).getType());
  DataOp data = dataOf(parameter);
  return !narrows || (data && data.getContiguousParameters());
}

LogicalResult Propagation::visitCall(CallOp call) {
  for (OpOperand &operand : call->getOpOperands())
    operand.set(layouts.current(operand.get()));
  CallView view = CallView::of(call);
  const OpRecord *record = OpRegistry::get().lookup(view.target);
  // The order of the next steps matters. Rules and linearity are about dims, so flat operands are gathered first. A
  // composition replaces the call, so it precedes the reduction of its operands. The decision comes after the
  // reduction: a partial axis may not divide any factor, and after it the axis may divide one.
  if (hasFlatOperand(call) && (!runsFlat(call) || readsWhole(call, record)))
    gatherFlat(call);
  if (!record && refuseUnknown(call))
    return failure();
  if (record && compose(call))
    return success();
  // compose may have dropped an operand, even if it did not replace the call.
  view = CallView::of(call);
  FactorRule rule = factorRuleOf(view, record);
  Linearity linearity = linearityOf(call);
  reducePartialOperands(call, rule, linearity);
  if (runsFlat(call))
    return decideFlat(call), success();
  if (call.getTarget() == "meshplan.dispatch")
    layOutTokens(call);
  CallProblem problem = makeProblem(call, rule);
  if (call.getTarget() == "meshplan.route")
    visitRoute(call, rule, problem);
  CallDecision decision = decideCall(problem);
  // A reshape that would split an axis within a head is refused: no rank would have a whole head. Attention may share a
  // group instead.
  if (!decision.misfit && linearity.movesElements)
    decision.misfit = decision.cut;
  if (decision.misfit && refuseMisfit(call, rule, *decision.misfit))
    return failure();
  // The rewritten call has another rule, so it is decided again.
  if (record && (splitAddend(call, *record, rule, decision) || splitSharedSums(call, *record, decision)))
    return visitCall(call);
  insertReshards(call, decision);
  for (auto [result, sharding] : llvm::zip(call.getResults(), decision.results))
    layouts.decide(result, sharding);
  recordCauses(call, decision);
  sendToExperts(call);
  gatherSpread(call);
  return success();
}

void Propagation::gatherFlat(CallOp call) {
  for (OpOperand &operand : call->getOpOperands())
    if (ShardingAttr sharding = getSharding(operand.get()); sharding.isFlat())
      operand.set(layouts.obtain(operand.get(), sharding.withFlat({}), call,
                                 causeOf(operand.get(), sharding.getFlatAxes().front())));
}

void Propagation::decideFlat(CallOp call) {
  // Flat operands that have dims all have the same sharding (runsFlat), so one of them tells the causes.
  auto flat = llvm::find_if(call.getOperands(), [](Value operand) { return getSharding(operand).isFlat(); });
  for (auto [result, sharding] : llvm::zip(call.getResults(), flatResults(call, mesh))) {
    layouts.decide(result, sharding);
    for (AxisRefAttr axis : allAxes(sharding))
      if (std::optional<Cause> cause = layouts.causeOf(*flat, axis))
        layouts.setCause(result, axis, *cause);
  }
}

/// The axes of contracted factors of one operand that another operand has on another factor. nullopt if such an axis is
/// on a factor that is not contracted.
static std::optional<AxisList> disputedAxes(const Projection &own, const Projection &other, const FactorRule &rule) {
  AxisList disputed;
  for (auto [factor, division] : llvm::enumerate(own.factors))
    for (AxisRefAttr axis : division.axes) {
      bool isElsewhere = llvm::any_of(llvm::enumerate(other.factors), [&](auto each) {
        return each.index() != factor && overlapsAny(each.value().axes, axis);
      });
      if (isElsewhere && rule.factors[factor].kind != FactorKind::sum)
        return std::nullopt;
      if (isElsewhere && !overlapsAny(disputed, axis))
        disputed.push_back(axis);
    }
  return disputed;
}

bool Propagation::standsForOthers(CallOp call, unsigned index, const FactorRule &rule) {
  Value operand = call.getOperands()[index];
  auto project = [&](unsigned number) {
    return projectToFactors(getSharding(call.getOperands()[number]), rule.operands[number], rule, mesh);
  };
  // For example, in a product of a [m, k] over k by tp and b [k, n] over n by tp, a, if it is larger, would win: the
  // result would be partial over tp, and b would have to move. If a is available without tp, because another consumer
  // has gathered it, b keeps its axis instead: the result is divided over n, and nothing moves.
  // Only contractions make results partial.
  bool contracts = llvm::any_of(rule.factors, [](const Factor &factor) { return factor.kind == FactorKind::sum; });
  if (!contracts || getSharding(operand).isReplicated())
    return false;
  Projection own = project(index);
  AxisList disputed;
  for (unsigned other = 0; other < call.getNumOperands(); ++other) {
    std::optional<AxisList> axes = other == index ? AxisList() : disputedAxes(own, project(other), rule);
    if (!axes)
      return false;
    disputed.append(*axes);
  }
  // Without such a version the gather of this operand would cost as much as that of the other.
  return !disputed.empty() && layouts.has(operand, without(cast<RankedTensorType>(operand.getType()), disputed, mesh));
}

CallProblem Propagation::makeProblem(CallOp call, const FactorRule &rule) {
  CallProblem problem{rule, mesh, {}, {}};
  for (Value operand : call.getOperands()) {
    // Rows stay on the ranks of their experts and tokens. Of their features a rank may take a part.
    if (base::RoutedAttr rows = routed.get(operand))
      problem.fixed.emplace_back(problem.operands.size(), rows.getDims());
    problem.order.push_back(problem.operands.size());
    problem.operands.push_back(getSharding(operand));
  }
  auto weight = [&](unsigned index) {
    Value operand = call.getOperands()[index];
    // Shardings of parameters are stated by the plan, and gathering a parameter would defeat their purpose. Among other
    // operands, keeping the largest one in its layout moves the least data.
    bool placed = !getSharding(operand).isReplicated() && isFromWeights(operand);
    bool yields = !placed && standsForOthers(call, index, rule);
    // The route has decided the layout of its rows, which only an exchange changes: from and to that of the table.
    bool isTable = CallView::of(call).getOperand("table") == index;
    int rank = isTable ? 0 : routed.get(operand) ? 1 : placed ? 2 : 3;
    return std::tuple(rank, yields, -cast<RankedTensorType>(operand.getType()).getNumElements());
  };
  SmallVector<std::tuple<int, bool, int64_t>> weights = llvm::map_to_vector(problem.order, weight);
  llvm::stable_sort(problem.order, [&](unsigned left, unsigned right) { return weights[left] < weights[right]; });
  return problem;
}

void Propagation::insertReshards(CallOp call, const CallDecision &decision) {
  for (auto [index, wanted] : llvm::enumerate(decision.operands)) {
    Value operand = call.getOperands()[index];
    ShardingAttr arriving = getSharding(operand);
    if (arriving == wanted)
      continue;
    // Preferred to a slice, which would first compute the whole value.
    if (divideProducer(operand, wanted, call)) {
      inheritCauses(call, decision, operand);
      continue;
    }
    if (Value created = createDivided(operand, wanted, call)) {
      call->setOperand(index, created);
      inheritCauses(call, decision, created);
      continue;
    }
    Cause cause{call.getLoc(), StringAttr()};
    // A slice moves nothing, so it needs neither a statement nor a warning.
    if (std::optional<Cause> known = causeOfRows(call)) {
      cause = *known;
    } else if (movesData(arriving, wanted)) {
      reportUnstated(call, index, wanted);
      cause = causingStatement(operand, wanted).value_or(cause);
    }
    Value made = layouts.obtain(operand, wanted, call, cause);
    inheritCauses(call, decision, made);
    call->setOperand(index, made);
  }
}

std::optional<Cause> Propagation::causeIn(CallOp call, Value operand, AxisRefAttr axis) {
  // Causes are looked up by module first: with tied weights the cause of the argument would name the statement of
  // another module.
  auto own = styles.find(call.getModule().value_or(""));
  if (own != styles.end() && isFromWeights(operand))
    for (StyleOp style : own->second)
      if (overlapsAny(toAxes(style.getAxes()), axis))
        return Cause{style.getLoc(), style.getTextAttr()};
  return layouts.causeOf(operand, axis);
}

void Propagation::inheritCauses(CallOp call, const CallDecision &decision, Value value) {
  for (auto [division, source] : llvm::zip(decision.factors, decision.source))
    if (source >= 0)
      for (AxisRefAttr axis : division.axes)
        if (std::optional<Cause> cause = causeIn(call, call.getOperands()[source], axis))
          layouts.setCause(value, axis, *cause);
}

/// A layout as ranks have it in each microbatch.
static std::string textWithoutTime(RankedTensorType type, ShardingAttr sharding) {
  for (auto [index, dim] : llvm::enumerate(sharding.getDims()))
    if (llvm::any_of(dim.getAxes(), isTime))
      sharding = sharding.withDim(
          index, llvm::filter_to_vector(dim.getAxes(), [](AxisRefAttr axis) { return !isTime(axis); }));
  return layoutText(withSharding(type, sharding));
}

/// True for derivatives that may need a whole dim where their operator accepts a divided one. All other derivatives
/// follow the layouts of the forward call.
static bool mayNeedMoreThanForward(CallOp call) {
  bool isFound = call.getTarget().starts_with("vjp.") && OpRegistry::get().lookup(call.getTarget());
  return isFound || CallView::of(call).getBool("scale_grad_by_freq", false);
}

void Propagation::reportUnstated(CallOp call, unsigned index, ShardingAttr to) {
  // After an error layouts are guesses. Those of gradients follow from the forward pass, which is reported itself.
  if (hasFailed || (call.getBackward() && !mayNeedMoreThanForward(call)))
    return;
  DividingStatement statement = toStatement(causingStatement(call.getOperands()[index], to), call);
  hasFailed = reportMissingParts(call, index, to, mesh, statement, blocks);
  if (hasFailed)
    return;
  // The error is raised at the end of the function, so that all unstated reshards of a program are reported together.
  strictFailure |= strict;
  auto type = cast<RankedTensorType>(call.getOperands()[index].getType());
  if (isFirstReport(statement.location,
                    call.getTarget() + textWithoutTime(type, getSharding(type)) + textWithoutTime(type, to)))
    reportUnstatedReshard(call, index, to, mesh, statement, statements, strict);
}

std::optional<Cause> Propagation::causingStatement(Value value) {
  for (AxisRefAttr axis : allAxes(getSharding(value)))
    if (std::optional<Cause> cause = layouts.causeOf(value, axis); cause && cause->style)
      return cause;
  return std::nullopt;
}

std::optional<Cause> Propagation::causingStatement(Value value, ShardingAttr to) {
  for (auto [before, after] : llvm::zip(getSharding(value).getDims(), to.getDims())) {
    // A dim that only gains axes at its minor end is sliced and causes no traffic.
    if (after.getAxes().take_front(before.getAxes().size()) == before.getAxes() && !isRedistributed(before, after))
      continue;
    for (AxisRefAttr axis : before.getAxes())
      if (std::optional<Cause> cause = layouts.causeOf(value, axis); cause && cause->style)
        return cause;
  }
  return causingStatement(value);
}

bool Propagation::dividesWeights(Location statement) {
  return llvm::any_of(function.getArguments(), [&](BlockArgument argument) {
    return isWeight(argument) && argument.getLoc() == statement && !getSharding(argument).isReplicated();
  });
}

DividingStatement Propagation::toStatement(const std::optional<Cause> &cause, CallOp call) {
  if (!cause)
    return {call.getLoc(), {}};
  for (const auto &entry : styles)
    for (StyleOp style : entry.second)
      if (style.getLoc() == cause->location)
        return {cause->location, style};
  return {cause->location, {}, dividesWeights(cause->location)};
}

bool Propagation::refuseMisfit(CallOp call, const FactorRule &rule, const std::pair<unsigned, Misfit> &found) {
  auto [index, misfit] = found;
  std::optional<Cause> cause = layouts.causeOf(call.getOperands()[index], misfit.axis);
  if (!cause || !dividesWeights(cause->location))
    return false;
  if (isFirstReport(cause->location, call.getTarget() + " misfit " + Twine(index)))
    reportMisfit(call, index, misfit, rule, mesh, toStatement(cause, call), blocks, statements);
  return true;
}

bool Propagation::refuseUnknown(CallOp call) {
  for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
    if (llvm::none_of(getSharding(operand).getDims(),
                      [](DimShardingAttr dim) { return llvm::any_of(dim.getAxes(), isTime); }))
      continue;
    std::optional<Cause> cause = causingStatement(operand);
    Location location = cause ? cause->location : call.getLoc();
    if (isFirstReport(location, call.getTarget()))
      reportUnknownOperator(call, index, layouts, location);
    return true;
  }
  return false;
}

void Propagation::recordCauses(CallOp call, const CallDecision &decision) {
  for (Value result : call.getResults()) {
    inheritCauses(call, decision, result);
    for (Value operand : call.getOperands())
      for (AxisRefAttr axis : getSharding(operand).getPartialAxes())
        if (std::optional<Cause> cause = layouts.causeOf(operand, axis))
          layouts.setCause(result, axis, *cause);
  }
}
