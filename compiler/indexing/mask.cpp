//===- mask.cpp - classification of attention masks -----------------------===//

#include "compiler/indexing/mask.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace meshplan::indexing {

namespace {
/// keyFactor * key + queryFactor * query + constant <= 0
struct Band {
  int64_t keyFactor = 0, queryFactor = 0, constant = 0;
};
} // namespace

/// The condition as a comparison of key and query position, if it depends on nothing else.
static std::optional<Band> asBand(Expr condition) {
  if (condition->kind != ExprKind::AtMostZero || condition->operands[0]->kind != ExprKind::Sum)
    return std::nullopt;
  Expr sum = condition->operands[0];
  Band band;
  band.constant = sum->value;
  for (auto [operand, factor] : llvm::zip(sum->operands, sum->factors)) {
    if (operand->kind != ExprKind::Coordinate || (operand->value != queryDim && operand->value != keyDim))
      return std::nullopt;
    (operand->value == keyDim ? band.keyFactor : band.queryFactor) = factor;
  }
  return band;
}

static bool readsTensor(Expr condition) {
  bool found = false;
  visitNodes(condition, [&](Expr node) { found |= node->kind == ExprKind::Element; });
  return found;
}

static void classifyPart(Expr condition, MaskForm &form) {
  std::optional<Band> band = asBand(condition);
  // key - query <= 0: a query reads the keys up to its own position.
  if (band && band->keyFactor == 1 && band->queryFactor == -1 && band->constant == 0) {
    form.causal = true;
  } else if (band && band->keyFactor == -1 && band->queryFactor == 1 && band->constant <= 0) {
    // query - key + constant <= 0: a query reads the key at its position and -constant keys before it. Of several
    // windows, the narrowest holds.
    int64_t window = 1 - band->constant;
    form.window = form.window == 0 ? window : std::min(form.window, window);
  } else if (readsTensor(condition) && !dependsOn(condition, headDim) && !dependsOn(condition, queryDim)) {
    form.keys.push_back(condition);
  } else {
    form.other.push_back(condition);
  }
}

MaskForm classifyMask(Expr condition) {
  MaskForm form;
  // Conjunctions are flat, so that the parts are not conjunctions themselves.
  if (condition->kind == ExprKind::And) {
    for (Expr part : condition->operands)
      classifyPart(part, form);
  } else if (!condition->isTrue()) {
    classifyPart(condition, form);
  }
  return form;
}

std::optional<AddedMask> asAddedMask(ExprBuilder &builder, Expr mask) {
  if (mask->kind == ExprKind::Number && mask->number == 0)
    return AddedMask{builder.boolean(true), 0};
  if (mask->kind != ExprKind::Select)
    return std::nullopt;
  Expr condition = mask->operands[0], then = mask->operands[1], otherwise = mask->operands[2];
  if (then->kind != ExprKind::Number || otherwise->kind != ExprKind::Number)
    return std::nullopt;
  if (then->number == 0)
    return AddedMask{condition, otherwise->number};
  if (otherwise->number == 0)
    return AddedMask{builder.logicalNot(condition), then->number};
  return std::nullopt;
}

} // namespace meshplan::indexing
