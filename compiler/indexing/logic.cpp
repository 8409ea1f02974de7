//===- logic.cpp - boolean expressions and choices in normal form ---------===//
//
// Normal form of booleans: negations are pushed inwards to operands that cannot
// be negated themselves. Conjunctions and disjunctions are flat, without
// duplicates, in order of creation.
//
//===----------------------------------------------------------------------===//

#include "compiler/indexing/expr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include <optional>

namespace meshplan::indexing {

Expr ExprBuilder::asBoolean(Expr operand) {
  if (!operand || operand->type == ExprType::Boolean)
    return operand;
  return operand->type == ExprType::Integer ? logicalNot(isZero(operand)) : nullptr;
}

Expr ExprBuilder::logicalNot(Expr operand) {
  if (!operand || operand->type != ExprType::Boolean)
    return nullptr;
  if (operand->isConstant())
    return boolean(operand->value == 0);
  if (operand->kind == ExprKind::Not)
    return operand->operands[0];
  // not (e <= 0) is 1 - e <= 0 for integers.
  if (operand->kind == ExprKind::AtMostZero)
    if (Expr positive = atMostZero(combine(integer(1), 1, operand->operands[0], -1)))
      return positive;
  if (operand->kind == ExprKind::And || operand->kind == ExprKind::Or) {
    auto negated = llvm::map_to_vector(operand->operands, [&](Expr part) { return logicalNot(part); });
    return junction(operand->kind == ExprKind::And ? ExprKind::Or : ExprKind::And, negated);
  }
  return compare(ExprKind::Not, operand);
}

Expr ExprBuilder::junction(ExprKind kind, llvm::ArrayRef<Expr> operands) {
  bool isAnd = kind == ExprKind::And;
  llvm::SmallVector<Expr> flat;
  for (Expr operand : operands) {
    if (!operand || operand->type != ExprType::Boolean)
      return nullptr;
    // One false part of a conjunction decides it, and so does one true part of a disjunction.
    if (operand->isConstant(isAnd ? 0 : 1))
      return operand;
    if (operand->kind == kind)
      llvm::append_range(flat, operand->operands);
    else if (!operand->isConstant())
      flat.push_back(operand);
  }
  llvm::sort(flat, [](Expr left, Expr right) { return left->id < right->id; });
  flat.erase(llvm::unique(flat), flat.end());
  if (flat.empty())
    return boolean(isAnd);
  if (flat.size() == 1)
    return flat.front();
  ExprNode node;
  node.kind = kind;
  node.type = ExprType::Boolean;
  node.operands = flat;
  node.high = 1;
  return make(node);
}

namespace {
struct Pin {
  Expr coordinate;
  int64_t value;
};
} // namespace

/// A condition that holds for only one value of a coordinate, such as d0 == 3, or d0 <= 0 where d0 is at least 0.
static std::optional<Pin> pinnedBy(Expr condition) {
  if (condition->kind != ExprKind::AtMostZero && condition->kind != ExprKind::IsZero)
    return std::nullopt;
  Expr operand = condition->operands[0];
  bool isSum = operand->kind == ExprKind::Sum;
  Expr coordinate = isSum ? operand->operands[0] : operand;
  int64_t factor = isSum ? operand->factors[0] : 1, constant = isSum ? operand->value : 0;
  if (coordinate->kind != ExprKind::Coordinate || (isSum && operand->operands.size() != 1) ||
      (factor != 1 && factor != -1))
    return std::nullopt;
  // factor * d + constant is zero at d = -factor * constant (factor is 1 or -1). It is at most zero there and on one
  // side.
  int64_t zero = -factor * constant;
  bool onlyThere = condition->kind == ExprKind::IsZero || zero == (factor == 1 ? coordinate->low : coordinate->high);
  return onlyThere ? std::optional<Pin>({coordinate, zero}) : std::nullopt;
}

/// Returns `elsewhere` if both agree at the only value of a coordinate for which the condition holds, else null.
Expr ExprBuilder::mergePinned(Expr condition, Expr atPin, Expr elsewhere) {
  std::optional<Pin> pin = condition ? pinnedBy(condition) : std::nullopt;
  if (!pin)
    return nullptr;
  auto replace = [&](Expr coordinate) { return coordinate == pin->coordinate ? integer(pin->value) : coordinate; };
  Expr left = substitute(atPin, replace), right = substitute(elsewhere, replace);
  // For example, d0 == 0 ? 0 : d0 is d0.
  return left && left == right ? elsewhere : nullptr;
}

Expr ExprBuilder::select(Expr condition, Expr then, Expr otherwise) {
  if (!condition || !then || !otherwise || condition->type != ExprType::Boolean || then->type != otherwise->type)
    return nullptr;
  if (condition->isConstant())
    return condition->value ? then : otherwise;
  if (then == otherwise)
    return then;
  Expr negated = logicalNot(condition);
  // A choice between booleans is a formula, so that conjunctions of masks stay visible to classifyMask.
  if (then->type == ExprType::Boolean)
    return logicalOr({logicalAnd({condition, then}), logicalAnd({negated, otherwise})});
  if (Expr merged = mergePinned(condition, then, otherwise))
    return merged;
  if (Expr merged = mergePinned(negated, otherwise, then))
    return merged;
  Expr operands[] = {condition, then, otherwise};
  ExprNode node;
  node.kind = ExprKind::Select;
  node.type = then->type;
  node.operands = operands;
  node.low = std::min(then->low, otherwise->low);
  node.high = std::max(then->high, otherwise->high);
  return make(node);
}

} // namespace meshplan::indexing
