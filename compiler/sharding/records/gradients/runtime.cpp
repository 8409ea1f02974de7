//===- runtime.cpp - record of derivatives that the runtime finds ---------===//
//
// `vjp.TARGET` has the arguments of TARGET, `gradients` of its results, and `of`,
// the argument whose gradient it gives. Its record follows from TARGET's.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

namespace {
/// The call that is differentiated.
struct ForwardCall {
  CallView view;
  const OpRecord *record = nullptr;
  unsigned wanted = 0; ///< operand whose gradient is the result
};
} // namespace

/// Nothing if it cannot be told from the arguments: where a result has no gradient its type is not known.
static std::optional<ForwardCall> forwardOf(const CallView &call) {
  ForwardCall forward;
  forward.view.target = call.target.substr(StringRef("vjp.").size());
  forward.record = OpRegistry::get().lookup(forward.view.target);
  SmallVector<std::optional<unsigned>> gradients = call.getOperands("gradients");
  auto of = dyn_cast_or_null<StringAttr>(call.get("of"));
  if (!forward.record || gradients.empty() || llvm::is_contained(gradients, std::nullopt) || !of)
    return std::nullopt;
  NamedAttrList args;
  for (NamedAttribute argument : call.args)
    if (!llvm::is_contained({"gradients", "of", "of_index"}, argument.getName().getValue()))
      args.push_back(argument);
  forward.view.args = args.getDictionary(call.args.getContext());
  // The gradients stand behind the operands of the call itself.
  forward.view.operands.assign(call.operands.begin(), call.operands.begin() + *gradients.front());
  for (std::optional<unsigned> gradient : gradients)
    forward.view.results.push_back(call.operands[*gradient]);
  std::optional<unsigned> wanted = call.getOperand(of.getValue());
  if (call.get("of_index")) {
    SmallVector<std::optional<unsigned>> list = call.getOperands(of.getValue());
    int64_t place = call.getInt("of_index", 0);
    wanted = place >= 0 && place < static_cast<int64_t>(list.size()) ? list[place] : std::nullopt;
  }
  if (!wanted || *wanted >= forward.view.operands.size())
    return std::nullopt;
  forward.wanted = *wanted;
  return forward;
}

static bool hasFactor(const TensorFactors &tensor, unsigned factor) {
  return llvm::any_of(tensor.dims, [&](ArrayRef<unsigned> dim) { return llvm::is_contained(dim, factor); });
}

/// True if the operand whose gradient is wanted is added to a contraction.
static bool wantsAddend(const ForwardCall &forward) {
  std::optional<AddendSplit> split =
      forward.record->splitAddend ? forward.record->splitAddend(forward.view) : std::nullopt;
  return split && split->addend == forward.wanted;
}

/// A factor passes to the gradient of an operand that has it, and is summed in that of one that has not. That holds for
/// contracted factors too: each addend depends on its own elements alone. What is added to them has its gradient once,
/// and not from each rank's part.
static FactorRule runtimeRule(const CallView &call) {
  std::optional<ForwardCall> forward = forwardOf(call);
  bool hasRule = forward && (!forward->record->localize || forward->record->localizesArguments);
  if (!hasRule)
    return undividedRule(call);
  FactorRule rule = factorRuleOf(forward->view, forward->record);
  TensorFactors wanted = rule.operands[forward->wanted];
  bool isAdded = wantsAddend(*forward);
  for (auto [index, factor] : llvm::enumerate(rule.factors))
    if (factor.kind == FactorKind::max || (isAdded && factor.kind == FactorKind::sum))
      factor.kind = FactorKind::whole;
    else if (factor.kind != FactorKind::whole)
      factor.kind = hasFactor(wanted, index) ? FactorKind::parallel : FactorKind::sum;
  llvm::append_range(rule.operands, rule.results);
  rule.results.assign(1, wanted);
  return rule;
}

/// Integers of a result of the call itself are those of its gradient.
static Attribute aboutGradients(Attribute argument, ArrayRef<std::optional<unsigned>> gradients) {
  if (auto list = dyn_cast<ArrayAttr>(argument))
    return ArrayAttr::get(list.getContext(),
                          llvm::map_to_vector(list, [&](Attribute item) { return aboutGradients(item, gradients); }));
  auto local = dyn_cast<plan::LocalIntAttr>(argument);
  if (!local || !local.getOfResult())
    return argument;
  return plan::LocalIntAttr::get(local.getContext(), local.getConstant(), /*ofResult=*/false,
                                 *gradients[local.getIndex()], local.getDim(), local.getOffsetScale(),
                                 local.getExtentScale());
}

/// The arguments of the call itself, as it has them on a rank.
static LocalCall localizeRuntime(const CallView &call, plan::MeshOp mesh) {
  std::optional<ForwardCall> forward = forwardOf(call);
  if (!forward || !forward->record->localize)
    return unchanged(call);
  SmallVector<std::optional<unsigned>> gradients = call.getOperands("gradients");
  NamedAttrList args(call.args);
  for (NamedAttribute argument : forward->record->localize(forward->view, mesh).args)
    args.set(argument.getName(), aboutGradients(argument.getValue(), gradients));
  return {call.target.str(), args.getDictionary(call.args.getContext())};
}

/// The gradients together.
static Linearity inGradients(const CallView &call) {
  Linearity linearity;
  SmallVector<unsigned, 2> set;
  for (std::optional<unsigned> gradient : call.getOperands("gradients"))
    if (gradient)
      set.push_back(*gradient);
  if (!set.empty())
    linearity.sets.push_back(set);
  return linearity;
}

/// The call itself once more, and its backward pass.
static OpCost runtimeCost(const CallView &call) {
  OpCost cost = copyCost(call);
  std::optional<ForwardCall> forward = forwardOf(call);
  if (!forward)
    return cost;
  OpCost own = costOf(forward->view, forward->record);
  cost.flops = 3 * own.flops;
  cost.bytes = 3 * own.bytes;
  cost.workspaceBytes = own.workspaceBytes;
  for (RankedTensorType result : forward->view.results)
    cost.workspaceBytes += tensorBytes(result);
  return cost;
}

const OpRecord &runtimeDerivativeRecord() {
  static const OpRecord record{
      .target = "vjp", .rule = runtimeRule, .linearity = inGradients, .cost = runtimeCost, .localize = localizeRuntime};
  return record;
}

} // namespace meshplan
