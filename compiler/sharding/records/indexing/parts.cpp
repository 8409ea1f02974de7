//===- parts.cpp - records of lookups in a part of a dim ------------------===//
//
// The calls into which compositions (compiler/compositions) turn operators that
// need a whole dim. `positions` has the indices of the elements along the dim, so
// that a rank knows its own elements however the dim is divided.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

/// The tensors of these names have the dims of `self`. `dim` of self, which is also that of `positions`, has the kind
/// `kind`.
static FactorRule partRule(const CallView &call, std::initializer_list<StringRef> alike, FactorKind kind) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self");
  int64_t along = normalizeDim(call.getInt("dim", 0), self.getRank());
  for (int64_t dim = 0; dim < self.getRank(); ++dim) {
    SmallVector<DimRef> dims{self[dim]};
    for (StringRef name : alike)
      if (TensorRef tensor = builder.operand(name))
        dims.push_back(tensor[dim]);
    for (unsigned index = 0; index < call.results.size(); ++index)
      dims.push_back(builder.result(index)[dim]);
    if (dim != along)
      builder.tie(dims);
  }
  builder.tie({self[along], builder.operand("positions")[0]}, kind);
  return builder.finish();
}

static FactorRule extremePositionRule(const CallView &call) { return partRule(call, {"extreme"}, FactorKind::max); }
static FactorRule topkRule(const CallView &call) { return partRule(call, {"values", "indices"}, FactorKind::max); }

/// Like aten.gather; the dim that is chosen from may be divided, too.
static FactorRule gatherPartRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self"), index = builder.operand("index"), result = builder.result();
  int64_t chosen = normalizeDim(call.getInt("dim", 0), result.getRank());
  for (int64_t dim = 0; dim < result.getRank(); ++dim)
    if (dim == chosen)
      builder.tie({index[dim], result[dim]});
    else if (self[dim].size == index[dim].size)
      builder.tie({self[dim], index[dim], result[dim]});
  builder.tie({self[chosen], builder.operand("positions")[0]}, FactorKind::sum);
  return builder.finish();
}

/// Like aten.scatter; the dim that is written along may be divided, too.
static FactorRule scatterPartRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self"), index = builder.operand("index"), src = builder.operand("src");
  TensorRef result = builder.result();
  int64_t written = normalizeDim(call.getInt("dim", 0), result.getRank());
  for (int64_t dim = 0; dim < result.getRank(); ++dim)
    if (dim == written)
      builder.tie({self[dim], builder.operand("positions")[0], result[dim]});
    else if (self[dim].size == index[dim].size && (!src || src[dim].size == index[dim].size))
      builder.tie({self[dim], index[dim], src ? src[dim] : DimRef(), result[dim]});
  return builder.finish();
}

/// Like meshplan.scatter_sum, for a dim divided like that of `like`, which is used for nothing else.
static FactorRule scatterSumPartRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef source = builder.operand("source"), index = builder.operand("index"), result = builder.result();
  TensorRef like = builder.operand("like");
  auto ofLike = [&](int64_t dim) { return like ? like[dim] : DimRef(); };
  int64_t written = normalizeDim(call.getInt("dim", 0), result.getRank());
  for (int64_t dim = 0; dim < result.getRank(); ++dim)
    if (dim == written)
      builder.tie({source[dim], index[dim]}, FactorKind::sum);
    else if (result[dim].size == index[dim].size)
      builder.tie({source[dim], index[dim], ofLike(dim), result[dim]});
  builder.tie({builder.operand("positions")[0], ofLike(written), result[written]});
  return builder.finish();
}

/// Not linear with a literal value other than 0: it would count once on each rank.
static Linearity scatterLinearity(const CallView &call) {
  bool isZero = !call.getBool("adds", false) && call.getFloat("value", 0) == 0;
  return call.getOperand("src") ? linearIn(call, {{"self", "src"}}) : isZero ? inSelf(call) : notLinear(call);
}

/// Flags of all elements.
static OpCost extremePositionCost(const CallView &call) {
  OpCost cost = copyCost(call);
  int64_t elements = call.operands.front().getNumElements();
  cost.flops = 3 * elements;
  cost.workspaceBytes = 2 * elements + 24 * call.results.front().getNumElements();
  return cost;
}

/// For each index: its position among `positions`, the element found there, and whether it matches.
static OpCost gatherCost(const CallView &call) {
  OpCost cost;
  cost.bytes = 2 * tensorBytes(call.results.front());
  cost.flops = 20 * call.results.front().getNumElements();
  cost.workspaceBytes = 25 * call.results.front().getNumElements();
  return cost;
}

/// For each index as in gather, and the source without elements of other ranks. Half types are summed in float.
static OpCost scatterSumPartCost(const CallView &call) {
  OpCost cost = copyCost(call);
  RankedTensorType source = call.operands.front(), result = call.results.front();
  int64_t bytes = plan::elementBytes(source.getElementType());
  cost.workspaceBytes = (17 + bytes) * source.getNumElements();
  if (bytes < 4)
    cost.workspaceBytes += 4 * (source.getNumElements() + result.getNumElements());
  return cost;
}

/// For each index as in gather; the result and one more element. 16-bit types that are added to are in f32.
static OpCost scatterPartCost(const CallView &call) {
  OpCost cost = copyCost(call);
  RankedTensorType result = call.results.front();
  if (std::optional<unsigned> index = call.getOperand("index"))
    cost.workspaceBytes = 17 * call.operands[*index].getNumElements();
  cost.workspaceBytes += tensorBytes(result);
  if (isa<FloatType>(result.getElementType()) && result.getElementTypeBitWidth() < 32)
    cost.workspaceBytes += 4 * result.getNumElements();
  return cost;
}

/// Flags of the positions, and one row at a time.
static OpCost topkCost(const CallView &call) {
  OpCost cost = copyCost(call);
  RankedTensorType self = call.operands.front();
  cost.flops = 4 * self.getNumElements();
  Strides strides = call.getStrides(0);
  int64_t dim = normalizeDim(call.getInt("dim", 0), strides.size());
  bool isAdjacent = dim >= 0 && dim < static_cast<int64_t>(strides.size()) && strides[dim] == 1;
  if (std::optional<unsigned> positions = call.getOperand("positions"))
    cost.workspaceBytes = 2 * call.operands[*positions].getNumElements();
  cost.workspaceBytes += isAdjacent ? 0 : tensorBytes(self);
  return cost;
}

void addPartRecords(OpRegistry &registry) {
  registry.add({.target = "meshplan.extreme_position",
                .rule = extremePositionRule,
                .linearity = notLinear,
                .cost = extremePositionCost});
  registry.add({.target = "meshplan.gather_part",
                .rule = gatherPartRule,
                .linearity = inSelf,
                .cost = gatherCost,
                .picksElements = true});
  registry.add({.target = "meshplan.scatter_part",
                .rule = scatterPartRule,
                .linearity = scatterLinearity,
                .cost = scatterPartCost});
  registry.add({.target = "meshplan.scatter_sum_part",
                .rule = scatterSumPartRule,
                .linearity = inSource,
                .cost = scatterSumPartCost,
                .localize = localizeSizes<argument::size>,
                .dropShape = withoutLike});
  registry.add({.target = "meshplan.topk_part", .rule = topkRule, .linearity = notLinear, .cost = topkCost});
}

} // namespace meshplan
