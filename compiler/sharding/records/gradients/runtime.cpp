//===- runtime.cpp - record of runtime derivatives ------------------------===//
//
// `vjp.TARGET` has the arguments of TARGET, `gradients` of its results, and
// `of`: the arguments whose gradients it returns, such as "input, params.0".
// Its record follows from that of TARGET.
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
  SmallVector<unsigned, 2> wanted; ///< operands whose gradients are the results
};
} // namespace

/// The operand of a named argument, or the item of a list that a number after a point selects.
static std::optional<unsigned> findOperand(const CallView &call, StringRef name) {
  auto [argument, number] = name.split('.');
  if (number.empty())
    return call.getOperand(argument);
  SmallVector<std::optional<unsigned>> items = call.getOperands(argument);
  size_t index = 0;
  return !number.getAsInteger(10, index) && index < items.size() ? items[index] : std::nullopt;
}

/// The operands that `of` names. Nothing unless there are as many as results.
static std::optional<SmallVector<unsigned, 2>> wantedOperands(const CallView &call, size_t operandCount) {
  auto of = dyn_cast_or_null<StringAttr>(call.get("of"));
  SmallVector<StringRef> names;
  if (of)
    of.getValue().split(names, ", ");
  SmallVector<unsigned, 2> wanted;
  for (StringRef name : names)
    if (std::optional<unsigned> operand = findOperand(call, name); operand && *operand < operandCount)
      wanted.push_back(*operand);
  bool fits = !names.empty() && wanted.size() == names.size() && names.size() == call.results.size();
  return fits ? std::optional(wanted) : std::nullopt;
}

/// Nothing if the forward call does not follow from the arguments: the type of a result without a gradient is unknown.
static std::optional<ForwardCall> forwardOf(const CallView &call) {
  ForwardCall forward;
  forward.view.target = call.target.substr(StringRef("vjp.").size());
  forward.record = OpRegistry::get().lookup(forward.view.target);
  SmallVector<std::optional<unsigned>> gradients = call.getOperands("gradients");
  if (!forward.record || gradients.empty() || llvm::is_contained(gradients, std::nullopt))
    return std::nullopt;
  NamedAttrList args;
  for (NamedAttribute argument : call.args)
    if (!llvm::is_contained({"gradients", "of"}, argument.getName().getValue()))
      args.push_back(argument);
  forward.view.args = args.getDictionary(call.args.getContext());
  // The gradients come after the operands of the forward call.
  forward.view.operands.assign(call.operands.begin(), call.operands.begin() + *gradients.front());
  for (std::optional<unsigned> gradient : gradients)
    forward.view.results.push_back(call.operands[*gradient]);
  std::optional<SmallVector<unsigned, 2>> wanted = wantedOperands(call, forward.view.operands.size());
  if (!wanted)
    return std::nullopt;
  forward.wanted = *wanted;
  return forward;
}

static bool hasFactor(const TensorFactors &tensor, unsigned factor) {
  return llvm::any_of(tensor.dims, [&](ArrayRef<unsigned> dim) { return llvm::is_contained(dim, factor); });
}

/// True if a wanted gradient is that of an operand that is added to a contraction.
static bool wantsAddend(const ForwardCall &forward) {
  std::optional<AddendSplit> split =
      forward.record->splitAddend ? forward.record->splitAddend(forward.view) : std::nullopt;
  return split && llvm::is_contained(forward.wanted, split->addend);
}

/// How dividing a factor of the forward call affects its gradients.
static FactorKind kindInGradients(unsigned factor, const FactorRule &rule, const ForwardCall &forward) {
  FactorKind kind = rule.factors[factor].kind;
  bool isHeld =
      kind == FactorKind::max || kind == FactorKind::whole || (kind == FactorKind::sum && wantsAddend(forward));
  auto holders =
      llvm::count_if(forward.wanted, [&](unsigned operand) { return hasFactor(rule.operands[operand], factor); });
  // A factor has one kind. If only some of the wanted gradients have it, it would be parallel in these and summed in
  // the others.
  if (isHeld || (holders != 0 && holders != static_cast<int64_t>(forward.wanted.size())))
    return FactorKind::whole;
  return holders == 0 ? FactorKind::sum : FactorKind::parallel;
}

/// A factor is passed to the gradients of operands that contain it, and summed in those of operands that do not. This
/// holds for contracted factors, too: each addend depends on its own elements alone. An operand that is added to the
/// contraction is an exception: its gradient counts once, not once for each rank's part.
static FactorRule runtimeRule(const CallView &call) {
  std::optional<ForwardCall> forward = forwardOf(call);
  bool hasRule = forward && (!forward->record->localize || forward->record->localizesArguments);
  if (!hasRule)
    return undividedRule(call);
  FactorRule own = factorRuleOf(forward->view, forward->record), rule = own;
  for (auto [index, factor] : llvm::enumerate(rule.factors))
    factor.kind = kindInGradients(index, own, *forward);
  llvm::append_range(rule.operands, own.results);
  rule.results.clear();
  for (unsigned operand : forward->wanted)
    rule.results.push_back(own.operands[operand]);
  return rule;
}

/// Integers that refer to a result of the forward call refer to the gradient of this result instead.
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

/// The arguments of the forward call in its form on a rank.
static LocalCall localizeRuntime(const CallView &call, plan::MeshOp mesh) {
  std::optional<ForwardCall> forward = forwardOf(call);
  if (!forward || !forward->record->localize)
    return unchanged(call);
  SmallVector<std::optional<unsigned>> gradients = call.getOperands("gradients");
  LocalCall local = forward->record->localize(forward->view, mesh);
  NamedAttrList args;
  for (NamedAttribute argument : local.args)
    args.set(argument.getName(), aboutGradients(argument.getValue(), gradients));
  for (StringRef name : {"gradients", "of"})
    args.set(name, call.get(name));
  return {"vjp." + local.target, args.getDictionary(call.args.getContext())};
}

/// All gradients together.
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

/// Workspace of the forward call while it is recorded, or its result and the gradients that flow back from it.
static int64_t workspaceOf(const CallView &call, const ForwardCall &forward, const OpCost &own) {
  int64_t gradients = 0, results = 0;
  for (RankedTensorType gradient : call.results)
    gradients += tensorBytes(gradient);
  for (RankedTensorType result : forward.view.results)
    results += tensorBytes(result);
  bool ofWeights = llvm::is_contained(forward.view.getOperands("params"), forward.wanted.front());
  int64_t recorded = recordedLayerBytes(forward.view, gradients, ofWeights);
  return recorded > 0 ? recorded
                      : results + std::max(own.workspaceBytes, transposedGradientBytes(forward.view, forward.wanted));
}

/// The forward call again, and its backward pass.
static OpCost runtimeCost(const CallView &call) {
  OpCost cost = copyCost(call);
  std::optional<ForwardCall> forward = forwardOf(call);
  if (!forward)
    return cost;
  OpCost own = costOf(forward->view, forward->record);
  cost.flops = 3 * own.flops;
  cost.bytes = 3 * own.bytes;
  cost.workspaceBytes = workspaceOf(call, *forward, own);
  return cost;
}

const OpRecord &runtimeDerivativeRecord() {
  static const OpRecord record{
      .target = "vjp", .rule = runtimeRule, .linearity = inGradients, .cost = runtimeCost, .localize = localizeRuntime};
  return record;
}

} // namespace meshplan
