//===- shape.cpp - records of changes of shape ----------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/reshape_factors.h"
#include "compiler/sharding/records/records.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace meshplan {

/// Result dim i is operand dim order[i]. Nothing is divided if `order` is not a permutation.
static FactorRule permutedRule(const CallView &call, ArrayRef<int64_t> order) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self"), result = builder.result();
  llvm::SmallDenseSet<int64_t> distinct(order.begin(), order.end());
  if (distinct.size() == order.size() && static_cast<int64_t>(order.size()) == self.getRank())
    for (auto [dim, from] : llvm::enumerate(order))
      builder.tie({self[from], result[dim]});
  return builder.finish();
}

static SmallVector<int64_t> identityOrder(const CallView &call) {
  int64_t rank = call.results.empty() ? 0 : call.results.front().getRank();
  return llvm::to_vector(llvm::seq<int64_t>(0, rank));
}

static SmallVector<int64_t> transposedOrder(const CallView &call) {
  SmallVector<int64_t> order = identityOrder(call);
  int64_t first = normalizeDim(call.getInt("dim0", 0), order.size());
  int64_t second = normalizeDim(call.getInt("dim1", 0), order.size());
  if (first >= 0 && second >= 0 && !order.empty())
    std::swap(order[first], order[second]);
  return order;
}

/// t and numpy_T.
static SmallVector<int64_t> reversedOrder(const CallView &call) {
  SmallVector<int64_t> order = identityOrder(call);
  std::reverse(order.begin(), order.end());
  return order;
}

static SmallVector<int64_t> permutedOrder(const CallView &call) {
  SmallVector<int64_t> order = call.getInts("dims").value_or(SmallVector<int64_t>());
  for (int64_t &dim : order)
    dim = normalizeDim(dim, order.size());
  return order;
}

using OrderOf = SmallVector<int64_t> (*)(const CallView &);

template <OrderOf Order> static FactorRule orderRule(const CallView &call) { return permutedRule(call, Order(call)); }

template <OrderOf Order> static Strides orderStrides(const CallView &call, unsigned) {
  return permutedStrides(call, Order(call));
}

/// unsqueeze and squeeze are reshapes, too: they add and remove dims of size 1, which have no factor.
static FactorRule reshapeRule(const CallView &call) {
  RuleBuilder builder(call);
  shareFactors(builder, builder.operand("self"), builder.result());
  return builder.finish();
}

/// A dim may have size 1 on a rank but not in the whole tensor; it must not be squeezed. So the dims to squeeze are
/// listed.
static LocalCall localizeSqueeze(const CallView &call, plan::MeshOp) {
  MLIRContext *context = call.args.getContext();
  SmallVector<Attribute> dims;
  for (auto [dim, size] : llvm::enumerate(call.operands.front().getShape()))
    if (size == 1)
      dims.push_back(intLiteral(context, dim));
  return {"aten.squeeze.dims", withArg(call.args, "dim", ArrayAttr::get(context, dims))};
}

/// squeeze.dim and squeeze.dims ignore a dim whose size in the whole tensor is not 1, so it is not listed.
static LocalCall localizeSqueezeDims(const CallView &call, plan::MeshOp) {
  MLIRContext *context = call.args.getContext();
  RankedTensorType self = call.operands.front();
  SmallVector<int64_t> named = call.getInts("dim").value_or(SmallVector<int64_t>{call.getInt("dim", 0)});
  SmallVector<Attribute> dims;
  for (int64_t dim : named) {
    int64_t index = normalizeDim(dim, self.getRank());
    if (index >= 0 && index < self.getRank() && self.getDimSize(index) == 1)
      dims.push_back(intLiteral(context, index));
  }
  return {"aten.squeeze.dims", withArg(call.args, "dim", ArrayAttr::get(context, dims))};
}

static Strides expandStrides(const CallView &call, unsigned result) {
  Strides strides = call.getStrides(0);
  return expandedStrides({call.operands.front().getShape(), strides}, call.results[result].getShape());
}

void addDimOrderRecords(OpRegistry &registry) {
  struct View {
    StringRef target;
    FactorRule (*rule)(const CallView &);
    Strides (*strides)(const CallView &, unsigned);
    LocalCall (*localize)(const CallView &, plan::MeshOp);
  };
  static const View views[] = {
      {"aten.transpose.int", orderRule<transposedOrder>, orderStrides<transposedOrder>, nullptr},
      {"aten.t.default", orderRule<reversedOrder>, orderStrides<reversedOrder>, nullptr},
      {"aten.numpy_T.default", orderRule<reversedOrder>, orderStrides<reversedOrder>, nullptr},
      {"aten.permute.default", orderRule<permutedOrder>, orderStrides<permutedOrder>, nullptr},
      {"aten.unsqueeze.default", reshapeRule, reshapedStrides, nullptr},
      {"aten.squeeze.default", reshapeRule, reshapedStrides, localizeSqueeze},
      {"aten.squeeze.dim", reshapeRule, reshapedStrides, localizeSqueezeDims},
      {"aten.squeeze.dims", reshapeRule, reshapedStrides, localizeSqueezeDims},
      // Dims of size 1, and leading dims, become new elements of the result, the same on every rank.
      {"aten.expand.default", alignedRule, expandStrides, localizeSizes<argument::size>},
  };
  for (const View &view : views)
    registry.add({.target = view.target,
                  .rule = view.rule,
                  .linearity = movesOperand,
                  .cost = viewCost,
                  .strides = view.strides,
                  .localize = view.localize});
}

/// A view of the whole tensor may not be possible for the part of a rank, which a collective or a kernel may have given
/// other strides. So all reshapes may copy.
static LocalCall localizeReshape(const CallView &call, plan::MeshOp) {
  if (!call.get("self"))
    return unchanged(call);
  NamedAttrList args;
  args.set("self", call.get("self"));
  // The sizes of the whole tensor are literals in the call; on a rank [4, 96, 576] -> [4, 96, 9, 64] over tp=3 has 3
  // heads.
  args.set("shape", localSizes(call, 0, call.results.front().getRank()));
  return {"aten.reshape.default", args.getDictionary(call.args.getContext())};
}

/// A view if the strides allow it, else a copy.
static OpCost reshapeCost(const CallView &call) {
  Strides strides = call.getStrides(0);
  bool isView = viewStrides({call.operands.front().getShape(), strides}, call.results.front().getShape()).has_value();
  return isView ? viewCost(call) : copyCost(call);
}

void addReshapeRecords(OpRegistry &registry) {
  for (StringRef target : {"aten.view.default", "aten._unsafe_view.default", "aten.reshape.default",
                           "aten.flatten.using_ints", "aten.unflatten.int"})
    registry.add({.target = target,
                  .rule = reshapeRule,
                  .linearity = movesOperand,
                  .cost = reshapeCost,
                  .strides = reshapedStrides,
                  .localize = localizeReshape});
}

//===----------------------------------------------------------------------===//
// Elements at other positions of their dims
//===----------------------------------------------------------------------===//

/// flip, roll and rot90 need the dims that they list whole; roll without dims needs all dims.
static FactorRule movedWithinRule(const CallView &call) {
  RuleBuilder builder(call);
  bool turns = call.target == "aten.rot90.default";
  SmallVector<int64_t> moved =
      call.getInts("dims").value_or(turns ? SmallVector<int64_t>{0, 1} : SmallVector<int64_t>());
  if (call.target == "aten.roll.default" && moved.empty())
    return builder.finish();
  for (int64_t &dim : moved)
    dim = normalizeDim(dim, builder.result().getRank());
  builder.tieAligned(moved);
  return builder.finish();
}

/// A quarter turn copies a flipped copy.
static OpCost turnCost(const CallView &call) {
  OpCost cost = copyCost(call);
  cost.workspaceBytes = call.getInt("k", 1) % 2 != 0 ? tensorBytes(call.results.front()) : 0;
  return cost;
}

/// Each dim is rolled into a copy, and all copies live to the end. Without dims the elements are rolled as one row.
static OpCost rollCost(const CallView &call) {
  OpCost cost = copyCost(call);
  int64_t dims = call.getInts("dims").value_or(SmallVector<int64_t>()).size();
  cost.workspaceBytes = dims == 0 ? contiguousBytes(call) : (dims - 1) * tensorBytes(call.results.front());
  return cost;
}

/// Ties all dims except the last `count`.
static void tieLeading(RuleBuilder &builder, int64_t count) {
  TensorRef self = builder.operand("self"), result = builder.result();
  for (int64_t dim = 0; dim + count < self.getRank() && self.getRank() == result.getRank(); ++dim)
    builder.tie({self[dim], result[dim]});
}

/// Adds a factor to each of the dims, minor to those that it has.
static void addFactor(RuleBuilder &builder, int64_t size, FactorKind kind, ArrayRef<DimRef> dims) {
  if (size <= 1)
    return;
  unsigned factor = builder.add(size, kind);
  for (const DimRef &dim : dims)
    builder.append(dim, factor);
}

/// packed [.., features * scale * scale, h, w] and image [.., features, h * scale, w * scale]. Rows and columns of the
/// image are (position, neighbour); only features and positions can be divided.
static FactorRule pixelsRule(const CallView &call, int64_t scale, bool packs) {
  RuleBuilder builder(call);
  TensorRef packed = packs ? builder.result() : builder.operand("self");
  TensorRef image = packs ? builder.operand("self") : builder.result();
  tieLeading(builder, 3);
  if (scale < 1 || scale > image[-1].size)
    return builder.finish();
  addFactor(builder, image[-3].size, FactorKind::parallel, {packed[-3], image[-3]});
  // The order of the dims of size `scale` decides the order of the features: those of a feature are scale * scale,
  // first the row neighbours, then the column neighbours. The features must be added before, as the most major factor.
  for (int64_t dim : {-2, -1}) {
    addFactor(builder, packed[dim].size, FactorKind::parallel, {packed[dim], image[dim]});
    addFactor(builder, scale, FactorKind::whole, {packed[-3], image[dim]});
  }
  return builder.finish();
}

static FactorRule pixelShuffleRule(const CallView &call) {
  return pixelsRule(call, call.getInt("upscale_factor", 1), /*packs=*/false);
}
static FactorRule pixelUnshuffleRule(const CallView &call) {
  return pixelsRule(call, call.getInt("downscale_factor", 1), /*packs=*/true);
}

/// The features, dim 1, are permuted as a whole.
static FactorRule channelShuffleRule(const CallView &call) {
  RuleBuilder builder(call);
  builder.tieAligned({1});
  return builder.finish();
}

static OpCost shuffleCost(const CallView &call) {
  OpCost cost = copyCost(call);
  cost.workspaceBytes = imageBytes(call, "self");
  return cost;
}

void addMovementRecords(OpRegistry &registry) {
  registry.add({.target = "aten.flip.default",
                .rule = movedWithinRule,
                .linearity = movesOperand,
                .cost = copyCost,
                .strides = likeCopy});
  registry.add({.target = "aten.rot90.default", .rule = movedWithinRule, .linearity = movesOperand, .cost = turnCost});
  registry.add({.target = "aten.roll.default", .rule = movedWithinRule, .linearity = movesOperand, .cost = rollCost});
  struct Shuffle {
    StringRef target;
    FactorRule (*rule)(const CallView &);
  };
  for (Shuffle shuffle : {Shuffle{"aten.pixel_shuffle.default", pixelShuffleRule},
                          Shuffle{"aten.pixel_unshuffle.default", pixelUnshuffleRule},
                          Shuffle{"aten.channel_shuffle.default", channelShuffleRule}})
    registry.add({.target = shuffle.target,
                  .rule = shuffle.rule,
                  .linearity = movesOperand,
                  .cost = shuffleCost,
                  .strides = likeImage});
}

} // namespace meshplan
