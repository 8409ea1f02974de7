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

#include "compiler/transforms/import/experts/loops/chosen_rows.h"
#include "compiler/archive/data_extents.h"
#include "compiler/transforms/import/experts/call_patterns.h"
#include "compiler/transforms/import/experts/chosen_experts.h"
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

/// True for the numbers of one expert for each token, without a dim for the slot.
static bool isOneForToken(Value ids) {
  std::optional<Maxima> maxima = maximaOf(ids);
  return maxima && rankOf(ids) < rankOf(maxima->scores);
}

/// The choice of an expert whose number `read` gives at a pair; nullopt if views do not lead from there to a tensor
/// [*token dims, slots], or [*token dims] of one slot.
static std::optional<ExpertChoice> choiceAt(IndexFunctions &functions, const MovedRead &read, const PairIndex &pair,
                                            int64_t expert) {
  ExprBuilder &builder = functions.builder;
  for (std::optional<MovedRead> at = read; at && !llvm::is_contained(at->indices, nullptr);
       at = readThroughMovement(builder, at->operand, at->indices)) {
    ArrayRef<int64_t> shape = shapeOf(at->operand);
    if (!isa<IntegerType>(elementOf(at->operand)))
      return std::nullopt;
    if (typeOf(at->operand).getNumElements() != pair.tokens * pair.slots)
      continue;
    ExpertChoice choice{at->operand, pair.tokens, pair.slots, expert};
    // The number of a single expert may have no dim for its slot.
    choice.isDistinct = pair.slots == 1;
    if (choice.isDistinct && at->indices == digitsOf(builder, pair.token, pair.tokens, shape) &&
        (pair.tokenDims.empty() || (shape == pair.tokenDims && isOneForToken(at->operand))))
      return choice;
    if (shape.size() < 2 || shape.back() != pair.slots || at->indices.back() != pair.slot ||
        ArrayRef(at->indices).drop_back() != ArrayRef(digitsOf(builder, pair.token, pair.tokens, shape.drop_back())))
      continue;
    std::optional<ChosenExperts> chosen = findChosenExperts(functions, at->operand);
    choice.isDistinct = chosen && chosen->experts > 0;
    if (pair.tokenDims.empty() || (choice.isDistinct && shape.drop_back() == pair.tokenDims))
      return choice;
  }
  return std::nullopt;
}

/// The choice of which `mask` says whether a token has made it. `slotDim` is the dim of slots, `RowNumber::slot` if
/// there is none: all others number the tokens.
static std::optional<ExpertChoice> choiceOf(IndexFunctions &functions, Value mask, int64_t slotDim) {
  ExprBuilder &builder = functions.builder;
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
  if (slotDim == RowNumber::slot && maskShape.size() > 1)
    pair.tokenDims = maskShape;
  while (at && !llvm::is_contained(at->indices, nullptr)) {
    plan::CallOp call = callOf(at->operand);
    if (!call)
      return std::nullopt;
    CallView view = CallView::of(call);
    Value self = tensorArgument(call, view, "self");
    if (view.target == "aten.one_hot.default" && self) {
      Expr expert = at->indices.pop_back_val();
      return expert->isConstant() ? choiceAt(functions, {self, at->indices}, pair, expert->value) : std::nullopt;
    }
    if (view.target == "aten.eq.Scalar" && self && isa_and_present<IntegerAttr>(view.get("other")))
      return choiceAt(functions, {self, at->indices}, pair, view.getInt("other", 0));
    bool isAny = view.target == "aten.any.dim" && !view.getBool("keepdim", false);
    if (isAny && self && slotDim == RowNumber::slot) {
      std::optional<int64_t> dim = countedDim(view.getInt("dim", 0), rankOf(self));
      // A view may have merged the dims of the tokens.
      bool isOfToken = at->indices == digitsOf(builder, pair.token, pair.tokens, shapeOf(at->operand));
      return dim && isOfToken ? choiceOf(functions, self, *dim) : std::nullopt;
    }
    bool isTruth = llvm::is_contained({"aten.ne.Scalar", "aten.gt.Scalar"}, view.target) && self &&
                   view.getFloat("other", 1) == 0 && isa<IntegerType>(elementOf(self));
    at = isTruth ? MovedRead{self, at->indices} : readThroughMovement(builder, at->operand, at->indices);
  }
  return std::nullopt;
}

std::optional<RowNumber> meshplan::positionsIn(IndexFunctions &functions, Value mask, int64_t dim) {
  int64_t rank = rankOf(mask);
  for (int64_t slotDim : {RowNumber::slot, rank - 1, int64_t(0)}) {
    // A token has a dim.
    if (slotDim != RowNumber::slot && rank < 2)
      continue;
    std::optional<ExpertChoice> choice = choiceOf(functions, mask, slotDim);
    if (!choice)
      continue;
    choice->tokenDims.assign(shapeOf(mask).begin(), shapeOf(mask).end());
    if (slotDim != RowNumber::slot)
      choice->tokenDims.erase(choice->tokenDims.begin() + slotDim);
    if (dim == slotDim)
      return RowNumber{*choice, RowNumber::slot};
    return RowNumber{*choice, slotDim == 0 ? dim - 1 : dim};
  }
  return std::nullopt;
}
