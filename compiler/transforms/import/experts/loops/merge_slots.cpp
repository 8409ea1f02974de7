//===- merge_slots.cpp - loops over the slots of tokens -------------------===//
//
// A loop over slots around one over experts, or inside of it, computes each expert once for each slot:
//
//   out = zeros
//   for s, e: out = out + values[:, s] * (indices[:, s] == e) * experts[e](x)
//
// A token has an expert in one slot at most, so that all but one of the gates of an expert are 0. The results of an
// expert are the same for all slots, by the same operators on the same tensors. They are weighed by the sum of the
// gates instead, which has one addend:
//
//   for e: out = out + sum(values * (indices == e), -1) * experts[e](x)

#include "compiler/transforms/import/experts/loops/merge_slots.h"
#include "compiler/sharding/families/random_ops.h"
#include "compiler/transforms/import/experts/call_patterns.h"
#include "compiler/transforms/import/experts/gated_sum.h"
#include "compiler/transforms/import/movement_chain.h"
#include "dialect/plan/call_builder.h"
#include <map>

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

namespace {

/// A tensor [*token dims, slots] and a slot.
struct Column {
  Value tensor;
  int64_t slot = 0;
};

/// Compares what calls compute.
class Computations {
public:
  /// True if both values are computed by the same operators from the same tensors, without random numbers.
  bool areSame(Value left, Value right);

private:
  llvm::DenseSet<std::pair<Value, Value>> same;
};

/// The gated results of all slots, by expert and slot.
using SlotResults = std::map<std::pair<int64_t, int64_t>, GatedResult>;

} // namespace

bool Computations::areSame(Value left, Value right) {
  if (left == right || same.contains({left, right}))
    return true;
  plan::CallOp one = callOf(left), other = callOf(right);
  bool isSame = one && other && one.getTarget() == other.getTarget() && one.getArgs() == other.getArgs() &&
                one.getResultTypes() == other.getResultTypes() && one.getNumOperands() == other.getNumOperands() &&
                cast<OpResult>(left).getResultNumber() == cast<OpResult>(right).getResultNumber() &&
                !drawsRandomNumbers(CallView::of(one)) &&
                llvm::all_of(llvm::zip(one.getOperands(), other.getOperands()),
                             [&](auto operands) { return areSame(std::get<0>(operands), std::get<1>(operands)); });
  if (isSame)
    same.insert({left, right});
  return isSame;
}

/// The tensor of which `value` [*token dims, 1] is one column.
static std::optional<Column> columnOf(ExprBuilder &builder, Value value) {
  ArrayRef<int64_t> dims = shapeOf(value).drop_back();
  int64_t tokens = llvm::product_of(dims);
  Expr token = builder.coordinate(0, tokens);
  Indices indices = digitsOf(builder, token, tokens, dims);
  indices.push_back(builder.integer(0));
  std::optional<MovedRead> at = MovedRead{value, indices};
  for (; at && !llvm::is_contained(at->indices, nullptr); at = readThroughParts(builder, *at)) {
    ArrayRef<int64_t> shape = shapeOf(at->operand), lead = shape.empty() ? shape : shape.drop_back();
    if (shape.size() > 1 && shape.back() > 1 && llvm::product_of(lead) == tokens && at->indices.back()->isConstant() &&
        ArrayRef(at->indices).drop_back() == ArrayRef(digitsOf(builder, token, tokens, lead)))
      return Column{at->operand, at->indices.back()->value};
  }
  return std::nullopt;
}

/// The results by expert and slot, and the choice and the values of all slots; false if some are missing, or differ
/// between the slots.
static bool readSlots(SparseGatesReader &gates, const GatedSum &sum, Value total, SlotResults &slots, ExpertGate &all) {
  Type type;
  for (const GatedResult &result : sum.results) {
    if (shapeOf(result.read.indices).back() != 1 || shapeOf(result.read.values).back() != 1)
      return false;
    std::optional<Column> indices = columnOf(gates.functions.builder, result.read.indices),
                          values = columnOf(gates.functions.builder, result.read.values);
    Value made = result.after.empty() ? result.product->getResult(0) : result.after.back()->getResult(0);
    if (!indices || !values || indices->slot != values->slot || shapeOf(indices->tensor) != shapeOf(values->tensor) ||
        (all.indices && (all.indices != indices->tensor || all.values != values->tensor)) ||
        (type && made.getType() != type) || shapeOf(made) != shapeOf(total) ||
        !isExactIn(elementOf(made), elementOf(total)))
      return false;
    type = made.getType();
    all.indices = indices->tensor;
    all.values = values->tensor;
    if (!slots.try_emplace({result.read.expert, indices->slot}, result).second)
      return false;
  }
  std::optional<ChosenExperts> chosen = all.indices ? findChosenExperts(gates.functions, all.indices) : std::nullopt;
  if (!chosen || chosen->experts < 2 || shapeOf(all.indices).back() != chosen->slots ||
      static_cast<int64_t>(slots.size()) != chosen->experts * chosen->slots)
    return false;
  Computations computations;
  return llvm::all_of(slots, [&](const auto &entry) {
    auto [expert, slot] = entry.first;
    auto first = slots.find({expert, 0});
    if (expert >= chosen->experts || first == slots.end())
      return false;
    const GatedResult &own = entry.second, &other = first->second;
    return own.gate.getType() == other.gate.getType() && computations.areSame(own.result, other.result) &&
           llvm::equal(own.after, other.after, [](plan::CallOp left, plan::CallOp right) {
             return left.getTarget() == right.getTarget() && left.getArgs() == right.getArgs() &&
                    left.getResultTypes() == right.getResultTypes() && !drawsRandomNumbers(CallView::of(left));
           });
  });
}

/// The result of an expert times the sum of its gates, in the dtype of `sum` and before it.
static Value weigh(GatedResult result, const ExpertGate &all, plan::CallOp sum) {
  OpBuilder place(sum);
  auto make = [&](StringRef target) { return CallBuilder::at(target, result.product, place); };
  ArrayRef<int64_t> shape = shapeOf(all.indices);
  Type type = elementOf(all.values);
  Value mask = make("aten.eq.Scalar")
                   .tensor("self", all.indices)
                   .integer("other", result.read.expert)
                   .build(shape, IntegerType::get(sum.getContext(), 1));
  Value masked = make("aten.mul.Tensor").tensor("self", all.values).tensor("other", mask).build(shape, type);
  SmallVector<int64_t> column(shape);
  column.back() = 1;
  Value gate = make("aten.sum.dim_IntList")
                   .tensor("self", masked)
                   .integers("dim", {-1})
                   .flag("keepdim", true)
                   .build(column, type);
  gate = reshaped(converted(gate, elementOf(result.gate), sum), shapeOf(result.gate), sum);
  auto product = cast<plan::CallOp>(place.clone(*result.product));
  product->setOperands(result.product.getOperand(0) == result.result ? SmallVector<Value>{result.result, gate}
                                                                     : SmallVector<Value>{gate, result.result});
  Value made = product.getResult(0);
  for (plan::CallOp after : result.after) {
    auto own = cast<plan::CallOp>(place.clone(*after));
    own->setOperands(made);
    made = own.getResult(0);
  }
  return converted(made, elementOf(sum.getResult(0)), sum);
}

/// Replaces a sum of results of all slots. Returns the calls that made it; none if it is something else.
static SmallVector<Operation *> mergeSlotsOf(SparseGatesReader &gates, plan::CallOp sum) {
  std::optional<GatedSum> gated = readGatedAddends(gates, sum);
  SlotResults slots;
  ExpertGate all;
  Value result = sum.getResult(0);
  if (!gated || gated->results.size() < 4 || !readSlots(gates, *gated, result, slots, all))
    return {};
  Value total = gated->base;
  if (total && total.getType() != result.getType())
    return {};
  for (const auto &[numbers, gatedResult] : slots) {
    if (numbers.second != 0)
      continue;
    Value weighted = weigh(gatedResult, all, sum);
    total = total ? CallBuilder("aten.add.Tensor", sum)
                        .tensor("self", total)
                        .tensor("other", weighted)
                        .build(shapeOf(result), elementOf(result))
                  : weighted;
  }
  result.replaceAllUsesWith(total);
  return gated->calls;
}

void meshplan::mergeSlots(Block &block) {
  IndexFunctions functions;
  SparseGatesReader gates(functions);
  SmallVector<plan::CallOp> sums;
  for (auto call : block.getOps<plan::CallOp>())
    if (call.getTarget() == "aten.add.Tensor")
      sums.push_back(call);
  // The last sum of a chain has the results of all slots, unless it adds more than one tensor that is not of an expert.
  llvm::DenseSet<Operation *> merged;
  for (plan::CallOp sum : llvm::reverse(sums))
    if (!merged.contains(sum))
      merged.insert_range(mergeSlotsOf(gates, sum));
}
