//===- conversion.cpp - records of dtype changes, copies and identities ---===//

#include "compiler/sharding/families/random_ops.h"
#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"
#include "compiler/sharding/storage/transfers.h"

using namespace mlir;

namespace meshplan {

/// type_as and to.other read only the dtype of `other`.
static FactorRule firstOperandRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self"), result = builder.result();
  for (int64_t dim = 0; dim < result.getRank(); ++dim)
    builder.tie({self[dim], result[dim]});
  return builder.finish();
}

static Linearity ofSelf(const CallView &call) {
  Linearity linearity = inSelf(call);
  linearity.movesElements = movesOperand(call).movesElements;
  return linearity;
}

/// `to` returns its operand if nothing changes and no copy is requested.
static OpCost toCost(const CallView &call) {
  // This decides whether the result occupies memory of its own, and whether its strides are those of the operand.
  bool same = !call.operands.empty() && !call.results.empty() &&
              call.operands.front().getElementType() == call.results.front().getElementType();
  return same && !call.getBool("copy", false) ? viewCost(call) : copyCost(call);
}

static Strides toStrides(const CallView &call, unsigned result) {
  return toCost(call).aliases ? likeFirst(call, result) : likeCopy(call, result);
}

/// The operand itself if it is row-major.
static OpCost contiguousCost(const CallView &call) { return isContiguous(call, 0) ? viewCost(call) : copyCost(call); }

/// The call as aten.to.dtype of its first operand.
static std::optional<CallRewrite> toDtypeOfResult(const CallView &call) {
  std::optional<unsigned> self = call.getOperand("self");
  if (!self || call.results.empty())
    return std::nullopt;
  MLIRContext *context = call.args.getContext();
  DictionaryAttr args = DictionaryAttr::get(context);
  args = withArg(args, "self", plan::OperandRefAttr::get(context, 0));
  args = withArg(args, "dtype", TypeAttr::get(call.results.front().getElementType()));
  return CallRewrite{"aten.to.dtype", args, {*self}};
}

/// copy returns `src` in the shape and dtype of `self`, which is not read.
static std::optional<CallRewrite> cloneOfSource(const CallView &call) {
  std::optional<unsigned> src = call.getOperand("src");
  if (!src || call.results.empty() || call.operands[*src] != call.results.front())
    return std::nullopt;
  MLIRContext *context = call.args.getContext();
  Attribute operand = plan::OperandRefAttr::get(context, 0);
  return CallRewrite{"aten.clone.default", withArg(DictionaryAttr::get(context), "self", operand), {*src}};
}

/// Linear although it rounds: the plan asks for rounded addends.
static Linearity ofAddends(const CallView &) {
  Linearity linearity;
  linearity.sets.push_back({0});
  return linearity;
}

static Linearity inSrc(const CallView &call) { return linearIn(call, {{"src"}}); }

/// True if a dropout leaves every element as it is.
static bool isIdentity(const CallView &call) { return !drawsRandomNumbers(call); }

/// Random elements depend on their position in the whole tensor, which ATen's kernel does not know. The importer
/// replaces such a dropout by another operator.
static FactorRule dropoutRule(const CallView &call) {
  return isIdentity(call) ? alignedRule(call) : undividedRule(call);
}

static Linearity dropoutLinearity(const CallView &call) { return isIdentity(call) ? movesOperand(call) : Linearity{}; }

static OpCost dropoutCost(const CallView &call) {
  if (isIdentity(call))
    return viewCost(call);
  OpCost cost = pointwiseCost<4>(call);
  cost.workspaceBytes = tensorBytes(call.operands.front());
  return cost;
}

void addConversionRecords(OpRegistry &registry) {
  for (StringRef target : {"aten.to.dtype", "aten.to.dtype_layout", "aten.to.device"})
    registry.add({.target = target,
                  .rule = alignedRule,
                  .linearity = movesOperand,
                  .cost = toCost,
                  .strides = toStrides,
                  .isPointwise = true});
  for (StringRef target : {"aten.type_as.default", "aten.to.other"})
    registry.add({.target = target,
                  .rule = firstOperandRule,
                  .linearity = ofSelf,
                  .cost = toCost,
                  .strides = toStrides,
                  .dropUnread = toDtypeOfResult});
  registry.add(
      {.target = "aten.contiguous.default", .rule = alignedRule, .linearity = movesOperand, .cost = contiguousCost});
  for (StringRef target : {"aten._to_copy.default", "aten.clone.default", "aten.lift_fresh_copy.default"})
    registry.add({.target = target,
                  .rule = alignedRule,
                  .linearity = movesOperand,
                  .cost = copyCost,
                  .strides = likeCopy,
                  .isPointwise = true});
  // Addends are rounded to 16 bits on purpose: plan-widen-addends keeps them, and they are copied like other tensors.
  for (StringRef target : {"meshplan.round_addends", "meshplan.round_gradient"})
    registry.add({.target = target,
                  .rule = alignedRule,
                  .linearity = ofAddends,
                  .cost = copyCost,
                  .isPointwise = true,
                  .roundsAddends = true});
  for (StringRef target : {toHostTarget, toDeviceTarget})
    registry.add(
        {.target = target, .rule = alignedRule, .linearity = movesOperand, .cost = copyCost, .isPointwise = true});
  for (StringRef target : {"aten.alias.default", "aten.detach.default"})
    registry.add({.target = target,
                  .rule = alignedRule,
                  .linearity = movesOperand,
                  .cost = viewCost,
                  .strides = likeFirst,
                  .isPointwise = true});
  registry.add({.target = "aten.copy.default",
                .rule = alignedRule,
                .linearity = inSrc,
                .cost = copyCost,
                .dropUnread = cloneOfSource});
  registry.add({.target = "aten.dropout.default",
                .rule = dropoutRule,
                .linearity = dropoutLinearity,
                .cost = dropoutCost,
                .strides = likeFirst});
}

} // namespace meshplan
