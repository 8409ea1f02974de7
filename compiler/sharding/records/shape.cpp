//===- shape.cpp - records of the same elements in another shape ----------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/reshape_factors.h"
#include "compiler/sharding/records/records.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace meshplan {

/// Result dim i is operand dim order[i]. An order that is none divides nothing.
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

/// unsqueeze and squeeze are reshapes too: they add and remove dims of size 1, which have no factor.
static FactorRule reshapeRule(const CallView &call) {
  RuleBuilder builder(call);
  shareFactors(builder, builder.operand("self"), builder.result());
  return builder.finish();
}

/// A squeezed dim that happens to be 1 on a rank only must stay: the dims that are 1 in the whole are named.
static LocalCall localizeSqueeze(const CallView &call, plan::MeshOp) {
  MLIRContext *context = call.args.getContext();
  SmallVector<Attribute> dims;
  for (auto [dim, size] : llvm::enumerate(call.operands.front().getShape()))
    if (size == 1)
      dims.push_back(intLiteral(context, dim));
  return {"aten.squeeze.dims", withArg(call.args, "dim", ArrayAttr::get(context, dims))};
}

/// squeeze.dim and squeeze.dims of a dim that is not 1 in the whole do nothing, so it is not named.
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

/// Dims of the operand that are 1 and the leading dims are new elements of the result, the same on every rank.
static FactorRule expandRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self"), result = builder.result();
  int64_t rank = result.getRank();
  for (int64_t dim = 0; dim < rank; ++dim)
    builder.tie({self[dim - rank], result[dim]});
  return builder.finish();
}

static Strides expandStrides(const CallView &call, unsigned result) {
  Strides strides = call.getStrides(0);
  return expandedStrides({call.operands.front().getShape(), strides}, call.results[result].getShape());
}

static constexpr char size[] = "size";

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
      {"aten.expand.default", expandRule, expandStrides, localizeSizes<size>},
  };
  for (const View &view : views)
    registry.add({.target = view.target,
                  .rule = view.rule,
                  .linearity = movesOperand,
                  .cost = viewCost,
                  .strides = view.strides,
                  .localize = view.localize});
}

/// What a view of the whole is may not be one of the rank's part: a collective or a kernel of the runtime has laid it
/// out otherwise. All reshapes copy where they must.
static LocalCall localizeReshape(const CallView &call, plan::MeshOp) {
  if (!call.get("self"))
    return unchanged(call);
  NamedAttrList args;
  args.set("self", call.get("self"));
  args.set("shape", localSizes(call, 0, call.results.front().getRank()));
  return {"aten.reshape.default", args.getDictionary(call.args.getContext())};
}

/// A view where strides allow it, else a copy.
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

} // namespace meshplan
