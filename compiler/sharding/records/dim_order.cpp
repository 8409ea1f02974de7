//===- dim_order.cpp - records of transposes and dims of size 1 -----------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
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

static FactorRule transposeRule(const CallView &call) {
  SmallVector<int64_t> order = identityOrder(call);
  int64_t first = normalizeDim(call.getInt("dim0", 0), order.size());
  int64_t second = normalizeDim(call.getInt("dim1", 0), order.size());
  if (first >= 0 && second >= 0 && !order.empty())
    std::swap(order[first], order[second]);
  return permutedRule(call, order);
}

/// t and numpy_T.
static FactorRule reversedRule(const CallView &call) {
  SmallVector<int64_t> order = identityOrder(call);
  std::reverse(order.begin(), order.end());
  return permutedRule(call, order);
}

static FactorRule permuteRule(const CallView &call) {
  SmallVector<int64_t> order = call.getInts("dims").value_or(SmallVector<int64_t>());
  for (int64_t &dim : order)
    dim = normalizeDim(dim, order.size());
  return permutedRule(call, order);
}

/// unsqueeze and squeeze only add and remove dims of size 1, which have no factor.
static FactorRule unitDimsRule(const CallView &call) {
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

static constexpr char size[] = "size";

void addDimOrderRecords(OpRegistry &registry) {
  struct View {
    StringRef target;
    FactorRule (*rule)(const CallView &);
    LocalCall (*localize)(const CallView &, plan::MeshOp);
  };
  static const View views[] = {
      {"aten.transpose.int", transposeRule, nullptr},
      {"aten.t.default", reversedRule, nullptr},
      {"aten.numpy_T.default", reversedRule, nullptr},
      {"aten.permute.default", permuteRule, nullptr},
      {"aten.unsqueeze.default", unitDimsRule, nullptr},
      {"aten.squeeze.default", unitDimsRule, localizeSqueeze},
      {"aten.squeeze.dim", unitDimsRule, localizeSqueezeDims},
      {"aten.squeeze.dims", unitDimsRule, localizeSqueezeDims},
      {"aten.expand.default", expandRule, localizeSizes<size>},
  };
  for (const View &view : views)
    registry.add({.target = view.target,
                  .rule = view.rule,
                  .linearity = movesOperand,
                  .cost = viewCost,
                  .localize = view.localize});
}

} // namespace meshplan
