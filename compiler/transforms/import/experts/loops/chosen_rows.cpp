//===- chosen_rows.cpp - which rows a loop over experts takes -------------===//
//
// An element of the mask, at a token and a slot, is followed to the comparison, and from there to the ids:
//
//   ids     [64, 2]       of 4 experts
//   hot     [64, 2, 4]    one_hot(ids)
//   moved   [4, 2, 64]    permute(hot, [2, 1, 0])
//   mask    [2, 64]       moved[1]
//
// mask[slot, token] is moved[1, slot, token], hot[token, slot, 1], and so ids[token, slot] == 1.
//
// Samples and positions may be two dims of the mask, [4, 16, 2]. Then the token is 16 * sample + position.
//
// A mask may also be `gates[:, e] > 0`, of gates that are 0 for experts that a token has not chosen. Those of the
// others have to be positive (positive_gates.h).

#include "compiler/transforms/import/experts/loops/chosen_rows.h"
#include "compiler/archive/data_extents.h"
#include "compiler/transforms/import/experts/call_patterns.h"
#include "compiler/transforms/import/experts/chosen_experts.h"
#include "compiler/transforms/import/experts/expert_gates.h"
#include "compiler/transforms/import/experts/loops/positive_gates.h"
#include "compiler/transforms/import/index_functions/call_reader.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

bool meshplan::hasChosenRows(Value value) { return llvm::any_of(shapeOf(value), archive::isDataExtent); }

namespace {

/// A token and a slot as indices.
struct PairIndex {
  Expr token, slot;
  int64_t tokens = 0, slots = 0;
  /// If not empty: the dims of the mask, of which the ids have to show that none is one of slots.
  ArrayRef<int64_t> tokenDims = {};
};

} // namespace

/// True if the last dim of the tensor are the slots of tokens, whose experts differ.
static bool hasSlots(IndexFunctions &functions, Value ids) {
  std::optional<ChosenExperts> chosen = findChosenExperts(functions, ids);
  return chosen && chosen->experts > 0 && rankOf(ids) > 1 && shapeOf(ids).back() == chosen->slots;
}

/// True for the numbers of one expert for each token, without a dim for the slot.
static bool isOneForToken(IndexFunctions &functions, Value ids) {
  if (std::optional<Maxima> maxima = maximaOf(ids))
    return rankOf(ids) < rankOf(maxima->scores);
  std::optional<Pick> pick = pickOf(functions.builder, ids, rankOf(ids));
  return pick && hasSlots(functions, pick->tensor);
}

/// The choice of an expert whose number `read` gives at a pair; nullopt if views do not lead from there to a tensor
/// [*token dims, slots], or [*token dims] of one slot.
static std::optional<ExpertChoice> choiceAt(SparseGatesReader &gates, const MovedRead &read, const PairIndex &pair,
                                            int64_t expert) {
  IndexFunctions &functions = gates.functions;
  ExprBuilder &builder = functions.builder;
  auto isOfToken = [&](ArrayRef<Expr> indices, ArrayRef<int64_t> dims) {
    return llvm::product_of(dims) == pair.tokens &&
           indices == ArrayRef(digitsOf(builder, pair.token, pair.tokens, dims));
  };
  for (std::optional<MovedRead> at = read; at && !llvm::is_contained(at->indices, nullptr);
       at = readThroughMovement(builder, at->operand, at->indices)) {
    ArrayRef<int64_t> shape = shapeOf(at->operand);
    if (!isa<IntegerType>(elementOf(at->operand)))
      return std::nullopt;
    // One slot of several.
    if (pair.slots == 1 && shape.size() > 1 && shape.back() > 1 && at->indices.back()->isConstant() &&
        isOfToken(ArrayRef(at->indices).drop_back(), shape.drop_back()) && hasSlots(functions, at->operand) &&
        (pair.tokenDims.empty() || shape.drop_back() == pair.tokenDims)) {
      ExpertChoice choice{gates.ofSlot(at->operand, at->indices.back()->value), pair.tokens, 1, expert};
      choice.isDistinct = true;
      return choice;
    }
    if (typeOf(at->operand).getNumElements() != pair.tokens * pair.slots)
      continue;
    ExpertChoice choice{at->operand, pair.tokens, pair.slots, expert};
    // The number of a single expert may have no dim for its slot.
    choice.isDistinct = pair.slots == 1;
    if (choice.isDistinct && isOfToken(at->indices, shape) &&
        (pair.tokenDims.empty() || (shape == pair.tokenDims && isOneForToken(functions, at->operand))))
      return choice;
    if (shape.size() < 2 || shape.back() != pair.slots || at->indices.back() != pair.slot ||
        !isOfToken(ArrayRef(at->indices).drop_back(), shape.drop_back()))
      continue;
    std::optional<ChosenExperts> chosen = findChosenExperts(functions, at->operand);
    choice.isDistinct = chosen && chosen->experts > 0;
    if (pair.tokenDims.empty() || (choice.isDistinct && shape.drop_back() == pair.tokenDims))
      return choice;
  }
  return std::nullopt;
}

/// The gate of one expert that `read` gives at a token, possibly of those of all experts.
static std::optional<ExpertGate> gateAt(SparseGatesReader &gates, const MovedRead &read, const PairIndex &pair) {
  ArrayRef<int64_t> shape = shapeOf(read.operand);
  auto isOfToken = [&](ArrayRef<Expr> indices, ArrayRef<int64_t> dims) {
    return llvm::product_of(dims) == pair.tokens &&
           indices == ArrayRef(digitsOf(gates.functions.builder, pair.token, pair.tokens, dims));
  };
  if (isOfToken(read.indices, shape))
    return isa<FloatType>(elementOf(read.operand)) ? readExpertGate(gates, read.operand) : std::nullopt;
  if (shape.size() < 2 || !read.indices.back()->isConstant() ||
      !isOfToken(ArrayRef(read.indices).drop_back(), shape.drop_back()))
    return std::nullopt;
  std::optional<SparseGates> sparse = gates.read(read.operand);
  bool isMask = sparse && !sparse->values && sparse->number > 0;
  if (!sparse || sparse->fill != 0 || (!sparse->values && !isMask))
    return std::nullopt;
  return ExpertGate{sparse->indices, sparse->values, read.indices.back()->value};
}

/// The choice of an expert whose gate, or mask, `read` gives at a token.
static std::optional<ExpertChoice> choiceOfGate(SparseGatesReader &gates, const MovedRead &read,
                                                const PairIndex &pair) {
  std::optional<ExpertGate> gate = gateAt(gates, read, pair);
  std::optional<ChosenExperts> chosen = gate ? findChosenExperts(gates.functions, gate->indices) : std::nullopt;
  if (!chosen || chosen->experts == 0 || chosen->tokens != pair.tokens ||
      shapeOf(gate->indices).back() != chosen->slots || (gate->values && !isPositive(gates, gate->values)))
    return std::nullopt;
  ExpertChoice choice{gate->indices, chosen->tokens, chosen->slots, gate->expert};
  choice.isDistinct = true;
  return choice;
}

/// The operand of a call that is true, or not 0, where its result is, if nothing in it is negative; or null.
static Value sameTruthOf(plan::CallOp call, const CallView &view) {
  Value self = tensorArgument(call, view, "self");
  bool isComparison =
      llvm::is_contained({"aten.ne.Scalar", "aten.gt.Scalar"}, view.target) && self && view.getFloat("other", 1) == 0;
  // A float that becomes an integer other than a truth value is rounded to 0.
  bool isConversion = self && convertsElements(call) &&
                      (elementOf(call.getResult(0)).isInteger(1) || isa<IntegerType>(elementOf(self)) ||
                       (isa<FloatType>(elementOf(self)) && isa<FloatType>(elementOf(call.getResult(0)))));
  return isComparison || isConversion ? self : Value();
}

/// The choice of which `mask` says whether a token has made it. `slotDim` is the dim of slots, `RowNumber::slot` if
/// there is none: all others number the tokens.
static std::optional<ExpertChoice> choiceOf(SparseGatesReader &gates, Value mask, int64_t slotDim) {
  ExprBuilder &builder = gates.functions.builder;
  ArrayRef<int64_t> maskShape = shapeOf(mask);
  if (maskShape.empty() || llvm::is_contained(maskShape, 0))
    return std::nullopt;
  const Indices coordinates = coordinatesOf(builder, maskShape);
  std::optional<MovedRead> at = MovedRead{mask, coordinates};
  PairIndex pair{builder.integer(0), builder.integer(0), 1, 1};
  for (auto [dim, size] : llvm::enumerate(maskShape)) {
    if (static_cast<int64_t>(dim) == slotDim) {
      pair.slot = coordinates[dim];
      pair.slots = size;
      continue;
    }
    pair.token = builder.add(builder.multiply(pair.token, size), coordinates[dim]);
    pair.tokens *= size;
  }
  bool isOfPairs = slotDim != RowNumber::slot;
  if (!isOfPairs && maskShape.size() > 1)
    pair.tokenDims = maskShape;
  while (at && !llvm::is_contained(at->indices, nullptr)) {
    plan::CallOp call = callOf(at->operand);
    if (!call)
      return std::nullopt;
    CallView view = CallView::of(call);
    Value self = tensorArgument(call, view, "self");
    if (std::optional<ExpertChoice> choice = isOfPairs ? std::nullopt : choiceOfGate(gates, *at, pair))
      return choice;
    if (view.target == "aten.one_hot.default" && self) {
      Expr expert = at->indices.pop_back_val();
      return expert->isConstant() ? choiceAt(gates, {self, at->indices}, pair, expert->value) : std::nullopt;
    }
    if (view.target == "aten.eq.Scalar" && self && isa_and_present<IntegerAttr>(view.get("other")))
      return choiceAt(gates, {self, at->indices}, pair, view.getInt("other", 0));
    // True, or not 0, for a choice in any slot.
    if (llvm::is_contained({"aten.any.dim", "aten.sum.dim_IntList"}, view.target)) {
      int64_t dim = 0;
      while (dim < rankOf(self) && !isAlong(call, dim))
        ++dim;
      if (isOfPairs || dim == rankOf(self) || view.getBool("keepdim", false))
        return std::nullopt;
      isOfPairs = true;
      pair.tokenDims = {};
      pair.slots = shapeOf(self)[dim];
      pair.slot = builder.coordinate(maskShape.size(), pair.slots);
      at->indices.insert(at->indices.begin() + dim, pair.slot);
      at->operand = self;
      continue;
    }
    Value same = sameTruthOf(call, view);
    at = same ? MovedRead{same, at->indices} : readThroughMovement(builder, at->operand, at->indices);
  }
  return std::nullopt;
}

std::optional<RowNumber> meshplan::positionsIn(SparseGatesReader &gates, Value mask, int64_t dim) {
  int64_t rank = rankOf(mask);
  for (int64_t slotDim : {RowNumber::slot, rank - 1, int64_t(0)}) {
    // A token has a dim.
    if (slotDim != RowNumber::slot && rank < 2)
      continue;
    std::optional<ExpertChoice> choice = choiceOf(gates, mask, slotDim);
    if (!choice)
      continue;
    choice->tokenDims.assign(shapeOf(mask).begin(), shapeOf(mask).end());
    choice->isBySlot = slotDim == 0;
    if (slotDim != RowNumber::slot)
      choice->tokenDims.erase(choice->tokenDims.begin() + slotDim);
    if (dim == slotDim)
      return RowNumber{*choice, RowNumber::slot};
    return RowNumber{*choice, slotDim == 0 ? dim - 1 : dim};
  }
  return std::nullopt;
}

std::optional<MovedRead> meshplan::readPositionList(ExprBuilder &builder, Value value, Indices indices) {
  std::optional<MovedRead> at = MovedRead{value, std::move(indices)};
  while (at && !llvm::is_contained(at->indices, nullptr)) {
    plan::CallOp call = callOf(at->operand);
    if (!call || llvm::is_contained({"aten.nonzero.default", "aten.argwhere.default"}, call.getTarget()))
      return call ? at : std::nullopt;
    at = readThroughParts(builder, *at);
  }
  return std::nullopt;
}
