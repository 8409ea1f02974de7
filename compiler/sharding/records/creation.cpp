//===- creation.cpp - records of tensors from literals --------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

/// Each dim of the result may be divided; operands are used only for dtype or shape.
static FactorRule filledRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef result = builder.result();
  for (int64_t dim = 0; dim < result.getRank(); ++dim)
    builder.tie({result[dim]});
  return builder.finish();
}

static OpCost fillCost(const CallView &call) {
  OpCost cost;
  for (RankedTensorType type : call.results)
    cost.bytes += tensorBytes(type);
  return cost;
}

//===----------------------------------------------------------------------===//
// arange
//===----------------------------------------------------------------------===//

/// A literal bound or step of arange; nullopt if it is not an integer.
static std::optional<int64_t> integerBound(const CallView &call, StringRef name, int64_t otherwise) {
  Attribute argument = call.get(name);
  if (argument && !isa<IntegerAttr>(argument))
    return std::nullopt;
  return call.getInt(name, otherwise);
}

/// Only integers can be shifted by the offset of a shard.
static bool hasIntegerBounds(const CallView &call) {
  return integerBound(call, "start", 0) && integerBound(call, "end", 0) && integerBound(call, "step", 1);
}

static FactorRule arangeRule(const CallView &call) {
  RuleBuilder builder(call);
  if (hasIntegerBounds(call)) {
    builder.tie({builder.result()[0]});
    // A shard is computed from the offset and the extent of the rank's part: elements [8, 16) of arange(24) on rank 1
    // of tp=3 are arange(8, 16). So the part must be one contiguous range.
    builder.count(builder.result()[0]);
  }
  return builder.finish();
}

/// Elements [offset, offset + extent) of start, start + step, ...
static LocalCall localizeArange(const CallView &call, plan::MeshOp) {
  if (!isDivided(call.results.front(), 0))
    return unchanged(call);
  MLIRContext *context = call.args.getContext();
  int64_t start = call.getInt("start", 0), step = call.getInt("step", 1);
  auto bound = [&](int64_t extentScale) {
    return plan::LocalIntAttr::get(context, start, /*ofResult=*/true, 0, 0, step, extentScale);
  };
  DictionaryAttr args = withArg(call.args, "start", bound(0));
  args = withArg(args, "end", bound(step));
  return {"aten.arange.start_step", withArg(args, "step", intLiteral(context, step))};
}

//===----------------------------------------------------------------------===//
// Operands that are not read
//===----------------------------------------------------------------------===//

/// A call of `target` with the sizes and the dtype of the result, and the literal arguments of this call.
static std::optional<CallRewrite> createdBy(const CallView &call, StringRef target) {
  if (call.results.empty())
    return std::nullopt;
  MLIRContext *context = call.args.getContext();
  RankedTensorType result = call.results.front();
  SmallVector<Attribute> sizes;
  for (int64_t extent : result.getShape())
    sizes.push_back(intLiteral(context, extent));
  DictionaryAttr args = withArg(call.args, "self", nullptr);
  args = withArg(args, "size", ArrayAttr::get(context, sizes));
  return CallRewrite{target.str(), withArg(args, "dtype", TypeAttr::get(result.getElementType())), {}};
}

static std::optional<CallRewrite> asZeros(const CallView &call) { return createdBy(call, "aten.zeros.default"); }
static std::optional<CallRewrite> asOnes(const CallView &call) { return createdBy(call, "aten.ones.default"); }
static std::optional<CallRewrite> asFull(const CallView &call) { return createdBy(call, "aten.full.default"); }
static std::optional<CallRewrite> asEmpty(const CallView &call) { return createdBy(call, "aten.empty.memory_format"); }

void addCreationRecords(OpRegistry &registry) {
  for (StringRef target : {"aten.arange.default", "aten.arange.start", "aten.arange.start_step"})
    registry.add({.target = target,
                  .rule = arangeRule,
                  .linearity = notLinear,
                  .cost = fillCost,
                  .localize = localizeArange,
                  .readsNoTensor = true});
  for (StringRef target : {"aten.zeros.default", "aten.ones.default", "aten.full.default", "aten.empty.memory_format"})
    registry.add({.target = target,
                  .rule = filledRule,
                  .linearity = notLinear,
                  .cost = fillCost,
                  .localize = localizeSizes<argument::size>,
                  .readsNoTensor = true});
  registry.add({.target = "aten.scalar_tensor.default",
                .rule = filledRule,
                .linearity = notLinear,
                .cost = fillCost,
                .readsNoTensor = true});

  struct FromOperand {
    StringRef suffix;
    std::optional<CallRewrite> (*dropUnread)(const CallView &);
    StringRef news, like;
  };
  static const FromOperand fromOperand[] = {
      {"zeros", asZeros, "aten.new_zeros.default", "aten.zeros_like.default"},
      {"ones", asOnes, "aten.new_ones.default", "aten.ones_like.default"},
      {"full", asFull, "aten.new_full.default", "aten.full_like.default"},
      {"empty", asEmpty, "aten.new_empty.default", "aten.empty_like.default"},
  };
  for (const FromOperand &op : fromOperand) {
    registry.add({.target = op.news,
                  .rule = filledRule,
                  .linearity = notLinear,
                  .cost = fillCost,
                  .localize = localizeSizes<argument::size>,
                  .dropUnread = op.dropUnread});
    registry.add({.target = op.like,
                  .rule = alignedRule,
                  .linearity = notLinear,
                  .cost = fillCost,
                  .dropUnread = op.dropUnread});
  }
  // The filled tensor gives only its shape, but it stays: a later view may need its memory.
  for (StringRef target : {"aten.fill.Scalar", "aten.fill.Tensor"})
    registry.add({.target = target, .rule = alignedRule, .linearity = notLinear, .cost = fillCost});
}

} // namespace meshplan
