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
};

} // namespace

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
    if (choice.isDistinct && at->indices == digitsOf(builder, pair.token, pair.tokens, shape))
      return choice;
    if (shape.size() < 2 || shape.back() != pair.slots || at->indices.back() != pair.slot ||
        ArrayRef(at->indices).drop_back() != ArrayRef(digitsOf(builder, pair.token, pair.tokens, shape.drop_back())))
      continue;
    std::optional<ChosenExperts> chosen = findChosenExperts(functions, at->operand);
    choice.isDistinct = chosen && chosen->experts > 0;
    return choice;
  }
  return std::nullopt;
}

/// The choice of which `mask` says whether a token has made it. `tokenDim` is the dim of tokens.
static std::optional<ExpertChoice> choiceOf(IndexFunctions &functions, Value mask, int64_t tokenDim) {
  ExprBuilder &builder = functions.builder;
  int64_t rank = rankOf(mask);
  if (rank < 1 || rank > 2 || llvm::is_contained(shapeOf(mask), 0))
    return std::nullopt;
  std::optional<MovedRead> at = MovedRead{mask, coordinatesOf(builder, shapeOf(mask))};
  PairIndex pair{at->indices[tokenDim], builder.integer(0), shapeOf(mask)[tokenDim], 1};
  if (rank == 2) {
    pair.slot = at->indices[1 - tokenDim];
    pair.slots = shapeOf(mask)[1 - tokenDim];
  }
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
    if (isAny && self && rank == 1 && rankOf(self) == 2) {
      std::optional<int64_t> dim = countedDim(view.getInt("dim", 0), 2);
      return dim && at->indices == Indices{pair.token} ? choiceOf(functions, self, 1 - *dim) : std::nullopt;
    }
    bool isTruth = llvm::is_contained({"aten.ne.Scalar", "aten.gt.Scalar"}, view.target) && self &&
                   view.getFloat("other", 1) == 0 && isa<IntegerType>(elementOf(self));
    at = isTruth ? MovedRead{self, at->indices} : readThroughMovement(builder, at->operand, at->indices);
  }
  return std::nullopt;
}

std::optional<RowNumber> meshplan::positionsIn(IndexFunctions &functions, Value mask, int64_t dim) {
  for (int64_t tokenDim = 0; tokenDim < std::min<int64_t>(rankOf(mask), 2); ++tokenDim)
    if (std::optional<ExpertChoice> choice = choiceOf(functions, mask, tokenDim))
      return RowNumber{*choice, dim == tokenDim};
  return std::nullopt;
}
