//===- chosen_experts.cpp - which experts tokens choose -------------------===//
//
// A token may choose an expert once only, because a routed value has one row for each token and expert. That is proven
// from the operator that makes the numbers:
//
//   topk, sort, argsort   positions in a row are all different
//   remainder             a number for each token alone, of one slot
//   cat of maxima         each part is the position of a maximum of scores in which the positions of the parts before
//                         it are replaced by minus infinity
//
// Example: ids = view(topk(scores [4, 16, 8], 2)#1) [128]. Pair p reads position [p / 32, p / 2 mod 16, p mod 2], which
// are the digits of token p / 2, and slot p mod 2 along the dim of the topk. So there are 64 tokens, 2 slots and 8
// experts.

#include "compiler/transforms/import/experts/chosen_experts.h"
#include "compiler/transforms/import/experts/call_patterns.h"
#include "compiler/transforms/import/index_functions/call_reader.h"
#include "compiler/transforms/import/index_functions/lookup.h"
#include <limits>

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

/// The operand of a conversion between integer types that can hold any number of an expert; or null.
static Value convertedInteger(Value value) {
  plan::CallOp call = callOf(value);
  if (!call || !convertsElements(call))
    return {};
  auto from = dyn_cast<IntegerType>(elementOf(call.getOperand(0))), to = dyn_cast<IntegerType>(elementOf(value));
  return from && to && from.getWidth() >= 32 && to.getWidth() >= 32 ? Value(call.getOperand(0)) : Value();
}

Indices meshplan::digitsOf(ExprBuilder &builder, Expr number, int64_t count, ArrayRef<int64_t> shape) {
  return readReshaped(builder, shape, {count}, {number});
}

static bool isCompleteProduct(ArrayRef<int64_t> shape, int64_t count) {
  for (int64_t size : shape) {
    if (size < 1 || count % size != 0)
      return false;
    count /= size;
  }
  return count == 1;
}

/// The same read through a call that only moves elements, or that looks them up at numbers that follow from their
/// position: `x[arange(6) // 2]` has those of `x.repeat_interleave(2, 0)`.
static std::optional<MovedRead> readMoved(IndexFunctions &functions, const MovedRead &read) {
  ExprBuilder &builder = functions.builder;
  if (std::optional<MovedRead> moved = readThroughMovement(builder, read.operand, read.indices))
    return moved;
  plan::CallOp call = callOf(read.operand);
  if (!call)
    return std::nullopt;
  CallView view = CallView::of(call);
  Value self = tensorArgument(call, view, "self"), index = tensorArgument(call, view, "index");
  std::optional<int64_t> dim;
  if (view.target == "aten.index_select.default" && self) {
    dim = countedDim(view.getInt("dim", 0), rankOf(self));
  } else if (view.target == "aten.index.Tensor" && self) {
    std::optional<Lookup> lookup = describeLookup(view, rankOf(self));
    const auto *first =
        lookup ? llvm::find_if(lookup->operands, [](auto operand) { return operand.has_value(); }) : nullptr;
    if (!lookup || llvm::count_if(lookup->operands, [](auto operand) { return operand.has_value(); }) != 1)
      return std::nullopt;
    dim = first - lookup->operands.begin();
    index = call.getOperand(**first);
  }
  if (!dim || !index || rankOf(read.operand) != rankOf(self) - 1 + rankOf(index))
    return std::nullopt;
  auto begin = read.indices.begin() + *dim, end = begin + rankOf(index);
  Expr number = withinDim(builder, functions.at(index, ArrayRef<Expr>(begin, end)), shapeOf(self)[*dim]);
  if (!number)
    return std::nullopt;
  MovedRead moved{self, Indices(read.indices.begin(), begin)};
  moved.indices.push_back(number);
  moved.indices.append(end, read.indices.end());
  return moved;
}

Value meshplan::findTokenTensor(IndexFunctions &functions, TokenRead goal) {
  Value found, single;
  std::optional<MovedRead> at = std::move(goal.read);
  for (; at && !llvm::is_contained(at->indices, nullptr); at = readMoved(functions, *at)) {
    ArrayRef<int64_t> shape = shapeOf(at->operand);
    if (shape.size() <= goal.rest.size() || (found && shape.size() <= shapeOf(found).size()))
      continue;
    ArrayRef<int64_t> dims = shape.drop_back(goal.rest.size());
    if (!isCompleteProduct(dims, goal.tokens) || shape.take_back(goal.rest.size()) != ArrayRef(goal.restShape))
      continue;
    Indices wanted = digitsOf(functions.builder, goal.token, goal.tokens, dims);
    llvm::append_range(wanted, goal.rest);
    if (at->indices != wanted)
      continue;
    // A dim of size 1 after those of the tokens may have been added for their slots.
    (dims.size() > 1 && dims.back() == 1 ? single : found) = at->operand;
  }
  return found ? found : single;
}

Value meshplan::findTokenSource(IndexFunctions &functions, const TokenRead &goal) {
  if (Value own = findTokenTensor(functions, goal))
    return own;
  std::optional<MovedRead> at = goal.read;
  while (at && !llvm::is_contained(at->indices, nullptr)) {
    plan::CallOp call = callOf(at->operand);
    if (call && convertsElements(call))
      return isa<FloatType>(elementOf(at->operand)) && isa<FloatType>(elementOf(call.getOperand(0)))
                 ? findTokenTensor(
                       functions,
                       {{call.getOperand(0), at->indices}, goal.token, goal.tokens, goal.rest, goal.restShape})
                 : Value();
    at = readMoved(functions, *at);
  }
  return {};
}

Value meshplan::findTokenRows(IndexFunctions &functions, Value rows) {
  ArrayRef<int64_t> shape = shapeOf(rows), dims = shape.drop_back();
  int64_t tokens = llvm::product_of(dims);
  Expr token = functions.builder.coordinate(0, tokens), feature = functions.builder.coordinate(1, shape.back());
  Indices at = digitsOf(functions.builder, token, tokens, dims);
  at.push_back(feature);
  return findTokenSource(functions, {{rows, at}, token, tokens, {feature}, {shape.back()}});
}

Value meshplan::findPairValues(IndexFunctions &functions, Value values, const ChosenExperts &chosen) {
  ExprBuilder &builder = functions.builder;
  int64_t pairs = chosen.tokens * chosen.slots;
  Expr pair = builder.coordinate(0, pairs);
  Expr token = builder.floorDivide(pair, chosen.slots), slot = builder.modulo(pair, chosen.slots);
  MovedRead read{values, digitsOf(builder, pair, pairs, shapeOf(values))};
  return findTokenTensor(functions, {read, token, chosen.tokens, {slot}, {chosen.slots}});
}

namespace {

/// A tensor whose elements are positions along a dim of another tensor.
struct Positions {
  int64_t dim = 0, extent = 0;
};

} // namespace

/// Positions that differ along the dim: results of a sort. nullopt for anything else.
static std::optional<Positions> sortedPositions(Value value) {
  auto call = value.getDefiningOp<plan::CallOp>();
  if (!call)
    return std::nullopt;
  StringRef target = call.getTarget();
  bool isSecond = llvm::is_contained({"aten.topk.default", "aten.sort.default", "aten.sort.stable"}, target) &&
                  call.getNumResults() == 2 && value == call.getResult(1);
  if (!isSecond && !llvm::is_contained({"aten.argsort.default", "aten.argsort.stable"}, target))
    return std::nullopt;
  CallView view = CallView::of(call);
  std::optional<unsigned> self = view.getOperand("self");
  if (!self)
    return std::nullopt;
  ArrayRef<int64_t> shape = view.operands[*self].getShape();
  std::optional<int64_t> dim = countedDim(view.getInt("dim", -1), shape.size());
  if (!dim || shape.size() != shapeOf(value).size())
    return std::nullopt;
  return Positions{*dim, shape[*dim]};
}

std::optional<Maxima> meshplan::maximaOf(Value positions) {
  plan::CallOp call = callOf(positions);
  if (!call || positions != call.getResults().back())
    return std::nullopt;
  CallView view = CallView::of(call);
  bool isTopk = view.target == "aten.topk.default" && view.getInt("k", 0) == 1 && view.getBool("largest", true);
  bool isMaximum = llvm::is_contained({"aten.max.dim", "aten.argmax.default"}, view.target) && view.get("dim");
  Value scores = tensorArgument(call, view, "self");
  if (!scores || (!isTopk && !isMaximum))
    return std::nullopt;
  // Without a dim, argmax is over all elements, and topk along the last dim.
  int64_t rank = rankOf(scores);
  std::optional<int64_t> dim = countedDim(view.getInt("dim", isTopk ? -1 : rank), rank);
  return dim ? std::optional(Maxima{scores, *dim}) : std::nullopt;
}

/// The scores whose maxima along the last dim, which is kept, are at these positions; or null.
static Value maximizedScores(Value positions) {
  std::optional<Maxima> maxima = maximaOf(positions);
  bool isLast = maxima && maxima->dim == rankOf(maxima->scores) - 1 && rankOf(positions) == rankOf(maxima->scores);
  return isLast ? maxima->scores : Value();
}

/// Removes the last replacement of scores by minus infinity at positions of the last dim; null if there is none.
static Value withoutHidden(Value scores, SmallVectorImpl<Value> &hidden) {
  auto call = scores.getDefiningOp<plan::CallOp>();
  if (!call || call.getTarget() != "aten.scatter.value")
    return {};
  CallView view = CallView::of(call);
  std::optional<unsigned> self = view.getOperand("self"), index = view.getOperand("index");
  int64_t rank = typeOf(scores).getRank();
  if (!self || !index || countedDim(view.getInt("dim", 0), rank) != rank - 1 ||
      view.getFloat("value", 0) != -std::numeric_limits<double>::infinity())
    return {};
  hidden.push_back(call.getOperand(*index));
  return call.getOperand(*self);
}

/// Positions of maxima, concatenated along the last dim, each of scores without the positions before it.
static std::optional<Positions> successiveMaxima(Value value) {
  auto call = value.getDefiningOp<plan::CallOp>();
  if (!call || call.getTarget() != "aten.cat.default")
    return std::nullopt;
  CallView view = CallView::of(call);
  int64_t rank = typeOf(value).getRank(), extent = 0;
  if (countedDim(view.getInt("dim", 0), rank) != rank - 1)
    return std::nullopt;
  SmallVector<Value> before;
  for (std::optional<unsigned> operand : view.getOperands("tensors")) {
    Value part = operand ? Value(call.getOperand(*operand)) : Value(), scores = part ? maximizedScores(part) : Value();
    if (!scores || (extent != 0 && shapeOf(scores).back() != extent))
      return std::nullopt;
    extent = shapeOf(scores).back();
    SmallVector<Value> hidden;
    while (scores)
      scores = withoutHidden(scores, hidden);
    if (!llvm::all_of(before, [&](Value position) { return llvm::is_contained(hidden, position); }))
      return std::nullopt;
    before.push_back(part);
  }
  return Positions{rank - 1, extent};
}

/// The number below which all elements are that a remainder makes; 0 for anything else.
static int64_t divisorOf(Value value) {
  plan::CallOp call = callOf(value, "aten.remainder.Scalar");
  CallView view = call ? CallView::of(call) : CallView();
  return call && isa_and_present<IntegerAttr>(view.get("other")) ? std::max<int64_t>(view.getInt("other", 0), 0) : 0;
}

/// True if the read, of pair `pair`, is one of token `pair / slots` at `pair mod slots`, possibly shifted, along `dim`.
static bool readsSlots(ExprBuilder &builder, const MovedRead &read, Expr pair, const ChosenExperts &chosen,
                       int64_t dim) {
  SmallVector<int64_t> others(shapeOf(read.operand));
  Indices indices = read.indices;
  Expr slot = builder.subtract(indices[dim], builder.modulo(pair, chosen.slots));
  others.erase(others.begin() + dim);
  indices.erase(indices.begin() + dim);
  return slot && slot->isConstant() && isCompleteProduct(others, chosen.tokens) &&
         indices == digitsOf(builder, builder.floorDivide(pair, chosen.slots), chosen.tokens, others);
}

std::optional<ChosenExperts> meshplan::findChosenExperts(IndexFunctions &functions, Value ids) {
  ExprBuilder &builder = functions.builder;
  int64_t pairs = typeOf(ids).getNumElements();
  if (rankOf(ids) < 1 || pairs < 1 || !isa<IntegerType>(elementOf(ids)))
    return std::nullopt;
  Expr pair = builder.coordinate(0, pairs);
  ChosenExperts chosen;
  MovedRead at{ids, digitsOf(builder, pair, pairs, shapeOf(ids))};
  SmallVector<MovedRead> starts{at};
  while (true) {
    // The slots are the last dim of the first tensor that has more dims.
    if (chosen.slots == 0 && typeOf(at.operand).getRank() > 1)
      chosen = {{}, pairs / std::max<int64_t>(shapeOf(at.operand).back(), 1), shapeOf(at.operand).back()};
    std::optional<Positions> positions = sortedPositions(at.operand);
    if (!positions)
      positions = successiveMaxima(at.operand);
    // A single expert differs from no other: its number needs no dim of its own.
    if (std::optional<Maxima> maxima = chosen.slots == 1 ? maximaOf(at.operand) : std::nullopt)
      chosen.experts = shapeOf(maxima->scores)[maxima->dim];
    if (int64_t divisor = chosen.slots == 1 ? divisorOf(at.operand) : 0)
      chosen.experts = divisor;
    if (positions && chosen.slots > 0 && readsSlots(builder, at, pair, chosen, positions->dim))
      chosen.experts = positions->extent;
    std::optional<MovedRead> moved = readThroughMovement(builder, at.operand, at.indices);
    if (Value same = moved ? Value() : convertedInteger(at.operand)) {
      moved = MovedRead{same, at.indices};
      starts.push_back(*moved);
    }
    if (!moved || llvm::is_contained(moved->indices, nullptr))
      break;
    at = std::move(*moved);
  }
  if (chosen.slots < 1 || chosen.tokens * chosen.slots != pairs)
    return std::nullopt;
  Expr token = builder.floorDivide(pair, chosen.slots), slot = builder.modulo(pair, chosen.slots);
  // Movements end at a conversion. The tensor nearest to the ids is the one that has been converted.
  for (const MovedRead &start : starts)
    if (!chosen.indices)
      chosen.indices = findTokenTensor(functions, {start, token, chosen.tokens, {slot}, {chosen.slots}});
  return chosen.indices ? std::optional(chosen) : std::nullopt;
}
