//===- shape.cpp - derivatives of operators that move elements ------------===//
//
// The gradient moves back: each rule applies the inverse of what the operator does to positions. Where the operator
// copies an element, the gradients of the copies are summed: over the dims that broadcast by `give`, over other copies
// by sumCopies.
//
//===----------------------------------------------------------------------===//

#include "compiler/derivatives/arithmetic.h"
#include "compiler/derivatives/derivative_rules.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include <numeric>

using namespace mlir;
using namespace meshplan;

/// The same elements in the operand's shape.
static void reshapeRule(Derivation &derivation) {
  derivation.give(0,
                  Arithmetic(derivation).reshape(derivation.gradient(), shapeOf(derivation.getCall().getOperand(0))));
}

/// Copies of an element are summed by give().
static void expandRule(Derivation &derivation) { derivation.give("self", derivation.gradient()); }

static void permuteRule(Derivation &derivation) {
  std::optional<SmallVector<int64_t>> order = derivation.getView().getInts("dims");
  int64_t rank = rankOf(derivation.result());
  SmallVector<int64_t> inverse(rank);
  for (auto [position, dim] : llvm::enumerate(order.value_or(SmallVector<int64_t>())))
    inverse[normalizeDim(dim, rank)] = position;
  derivation.give("self", Arithmetic(derivation).permute(derivation.gradient(), inverse));
}

static void exchange(Derivation &derivation, int64_t left, int64_t right) {
  SmallVector<int64_t> order(rankOf(derivation.result()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[left], order[right]);
  derivation.give("self", Arithmetic(derivation).permute(derivation.gradient(), order));
}

static void transposeRule(Derivation &derivation) {
  int64_t rank = rankOf(derivation.result());
  if (rank < 2)
    return derivation.give("self", derivation.gradient());
  exchange(derivation, normalizeDim(derivation.getView().getInt("dim0", 0), rank),
           normalizeDim(derivation.getView().getInt("dim1", 1), rank));
}

static void tRule(Derivation &derivation) {
  if (rankOf(derivation.result()) < 2)
    return derivation.give("self", derivation.gradient());
  exchange(derivation, 0, 1);
}

static void reverseDimsRule(Derivation &derivation) {
  SmallVector<int64_t> order(rankOf(derivation.result()));
  std::iota(order.rbegin(), order.rend(), 0);
  derivation.give("self", Arithmetic(derivation).permute(derivation.gradient(), order));
}

/// Sums over copies: each dim of the result is `count` copies of the operand's dim. Copies of the whole dim follow each
/// other ([count, size]), or copies of an element are adjacent if `beside` ([size, count]).
static void sumCopies(Derivation &derivation, ArrayRef<int64_t> counts, bool beside) {
  Arithmetic math(derivation);
  ArrayRef<int64_t> shape = shapeOf(derivation.operand("self"));
  // For example, [3] repeated twice is x0 x1 x2 x0 x1 x2: as [2, 3] the copies are summed over dim 0. Interleaved it is
  // x0 x0 x1 x1 x2 x2: as [3, 2] they are summed over dim 1. The reshape only splits dims, so that these may stay
  // divided.
  size_t lead = counts.size() - shape.size();
  SmallVector<int64_t> split, copies;
  for (auto [dim, count] : llvm::enumerate(counts)) {
    int64_t size = dim < lead ? 1 : shape[dim - lead];
    if (count == 1) {
      split.push_back(size);
      continue;
    }
    if (beside)
      split.push_back(size);
    copies.push_back(split.size());
    split.push_back(count);
    if (!beside)
      split.push_back(size);
  }
  Value summed = math.sum(math.reshape(derivation.gradient(), split), copies, /*keeps=*/false);
  derivation.give("self", math.reshape(summed, shape));
}

static void repeatRule(Derivation &derivation) {
  std::optional<SmallVector<int64_t>> repeats = derivation.getView().getInts("repeats");
  if (!repeats)
    return differentiateAtRunTime(derivation);
  sumCopies(derivation, *repeats, /*beside=*/false);
}

static void repeatInterleaveRule(Derivation &derivation) {
  int64_t rank = rankOf(derivation.operand("self"));
  int64_t dim = normalizeDim(derivation.getView().getInt("dim", -1), rank);
  if (!derivation.getView().get("dim") || dim < 0)
    return differentiateAtRunTime(derivation);
  SmallVector<int64_t> counts(rank, 1);
  counts[dim] = derivation.getView().getInt("repeats", 1);
  sumCopies(derivation, counts, /*beside=*/true);
}

static void flipRule(Derivation &derivation) {
  Value gradient = derivation.gradient();
  derivation.give("self", derivation.make("aten.flip.default")
                              .tensor("self", gradient)
                              .literal("dims", derivation.getView().get("dims"))
                              .build(shapeOf(gradient), elementOf(gradient)));
}

static void rollRule(Derivation &derivation) {
  std::optional<SmallVector<int64_t>> shifts = derivation.getView().getInts("shifts");
  Value gradient = derivation.gradient();
  if (!shifts)
    return differentiateAtRunTime(derivation);
  for (int64_t &shift : *shifts)
    shift = -shift;
  derivation.give("self", derivation.make("aten.roll.default")
                              .tensor("self", gradient)
                              .integers("shifts", *shifts)
                              .literal("dims", derivation.getView().get("dims"))
                              .build(shapeOf(gradient), elementOf(gradient)));
}

void meshplan::addShapeDerivatives(DerivativeTable &table) {
  for (StringRef target : {"view.default", "reshape.default", "_unsafe_view.default", "flatten.using_ints",
                           "unflatten.int", "squeeze.default", "squeeze.dim", "squeeze.dims", "unsqueeze.default"})
    table[("aten." + target).str()] = reshapeRule;
  table["aten.expand.default"] = expandRule;
  table["aten.permute.default"] = permuteRule;
  table["aten.transpose.int"] = transposeRule;
  table["aten.t.default"] = tRule;
  table["aten.numpy_T.default"] = reverseDimsRule;
  table["aten.repeat.default"] = repeatRule;
  table["aten.repeat_interleave.self_int"] = repeatInterleaveRule;
  table["aten.flip.default"] = flipRule;
  table["aten.roll.default"] = rollRule;
}
