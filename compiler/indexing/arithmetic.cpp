//===- arithmetic.cpp - integer expressions in normal form ----------------===//
//
// An integer expression is a constant plus terms. A term is a factor times an
// expression that is not itself a sum. Terms are in order of creation, so that
// equal sums are equal lists.
//
//===----------------------------------------------------------------------===//
//
// Why a normal form. An exported mask computes positions by views, slices and comparisons in many ways. If equal
// functions are the same pointer, a rule of classifyMask recognizes all of them. Completeness is not needed: what is
// not recognized stays an ordinary tensor.
//
// Example: a mask [6, 6] that is viewed as [36] and back reads element ((6 * d2 + d3) floordiv 6, (6 * d2 + d3) mod 6).
// In floorDivide the term 6 * d2 is a multiple of 6, and d3 in [0, 5] adds nothing: the result is d2. In modulo the
// multiple is dropped and d3 remains. So the view disappears.

#include "compiler/indexing/expr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <numeric>

namespace meshplan::indexing {

/// An integer expression as its constant and its terms.
struct ExprBuilder::Linear {
  struct Term {
    Expr operand;
    int64_t factor;
  };
  int64_t constant = 0;
  llvm::SmallVector<Term, 4> terms;

  static Linear of(Expr expr) {
    Linear linear;
    if (expr->isConstant() || expr->kind == ExprKind::Sum)
      linear.constant = expr->value;
    if (expr->kind == ExprKind::Sum)
      for (auto [operand, factor] : llvm::zip(expr->operands, expr->factors))
        linear.terms.push_back({operand, factor});
    else if (!expr->isConstant())
      linear.terms.push_back({expr, 1});
    return linear;
  }

  /// Adds `factor` times `other`; false on overflow.
  bool add(const Linear &other, int64_t factor) {
    int64_t product = 0;
    if (llvm::MulOverflow(other.constant, factor, product) || llvm::AddOverflow(constant, product, constant))
      return false;
    for (const Term &term : other.terms)
      if (llvm::MulOverflow(term.factor, factor, product) || !addTerm(term.operand, product))
        return false;
    return true;
  }

  bool addTerm(Expr operand, int64_t factor) {
    Term *found = llvm::find_if(terms, [&](const Term &term) { return term.operand == operand; });
    if (found == terms.end())
      terms.push_back({operand, factor});
    else if (llvm::AddOverflow(found->factor, factor, factor))
      return false;
    else
      found->factor = factor;
    llvm::erase_if(terms, [](const Term &term) { return term.factor == 0; });
    // Later rules negate factors.
    return factor != INT64_MIN;
  }

  /// Bounds of the value; false on overflow.
  bool bounds(int64_t &low, int64_t &high) const {
    low = high = constant;
    for (const Term &term : terms) {
      int64_t first = 0, second = 0;
      if (llvm::MulOverflow(term.operand->low, term.factor, first) ||
          llvm::MulOverflow(term.operand->high, term.factor, second) ||
          llvm::AddOverflow(low, std::min(first, second), low) ||
          llvm::AddOverflow(high, std::max(first, second), high))
        return false;
    }
    return true;
  }

  /// Replaces n * (x floordiv n) + (x mod n) by x. Returns true if it found such a pair.
  bool joinQuotientAndRemainder() {
    for (const Term &remainder : terms) {
      if (remainder.operand->kind != ExprKind::Mod)
        continue;
      Expr divided = remainder.operand->operands[0];
      int64_t divisor = remainder.operand->value, factor = remainder.factor;
      const Term *quotient = llvm::find_if(terms, [&](const Term &term) {
        return term.factor % divisor == 0 && term.factor / divisor == factor &&
               isQuotient(term.operand, divided, divisor);
      });
      if (quotient == terms.end())
        continue;
      Expr used[] = {quotient->operand, remainder.operand};
      llvm::erase_if(terms, [&](const Term &term) { return llvm::is_contained(used, term.operand); });
      // The new terms may complete another pair: the caller repeats until there is none. Each round replaces two terms
      // by less deep ones, so it ends.
      return add(of(divided), factor);
    }
    return false;
  }

  /// True if the expression is `divided` floordiv `divisor`, also where `divided` is a quotient: (x floordiv a)
  /// floordiv b is x floordiv (a * b).
  static bool isQuotient(Expr expr, Expr divided, int64_t divisor) {
    if (expr->kind != ExprKind::FloorDiv)
      return false;
    bool isOfSame = expr->operands[0] == divided && expr->value == divisor;
    return isOfSame || (divided->kind == ExprKind::FloorDiv && expr->operands[0] == divided->operands[0] &&
                        expr->value / divisor == divided->value && expr->value % divisor == 0);
  }

  /// Splits off the multiples of `divisor`: before = divisor * result + this, with the constant of this in [0,
  /// divisor).
  Linear takeMultiples(int64_t divisor) {
    Linear quotient;
    quotient.constant = llvm::divideFloorSigned(constant, divisor);
    constant = llvm::mod(constant, divisor);
    for (const Term &term : terms)
      if (term.factor % divisor == 0)
        quotient.terms.push_back({term.operand, term.factor / divisor});
    llvm::erase_if(terms, [&](const Term &term) { return term.factor % divisor == 0; });
    return quotient;
  }
};

Expr ExprBuilder::fromLinear(Linear linear) {
  while (linear.joinQuotientAndRemainder()) {
  }
  if (linear.terms.empty())
    return integer(linear.constant);
  if (linear.terms.size() == 1 && linear.constant == 0 && linear.terms[0].factor == 1 &&
      linear.terms[0].operand->type == ExprType::Integer)
    return linear.terms[0].operand;
  llvm::sort(linear.terms,
             [](const Linear::Term &left, const Linear::Term &right) { return left.operand->id < right.operand->id; });
  ExprNode node;
  node.kind = ExprKind::Sum;
  node.value = linear.constant;
  // INT64_MIN is refused, too: rules negate constants and bounds.
  if (!linear.bounds(node.low, node.high) || node.low == INT64_MIN || linear.constant == INT64_MIN)
    return nullptr;
  if (node.low == node.high)
    return integer(node.low);
  auto operands = llvm::map_to_vector(linear.terms, [](const Linear::Term &term) { return term.operand; });
  auto factors = llvm::map_to_vector(linear.terms, [](const Linear::Term &term) { return term.factor; });
  node.operands = operands;
  node.factors = factors;
  return make(node);
}

Expr ExprBuilder::combine(Expr left, int64_t leftFactor, Expr right, int64_t rightFactor) {
  if (!left || !right || left->type == ExprType::Real || right->type == ExprType::Real)
    return nullptr;
  Linear sum;
  return sum.add(Linear::of(left), leftFactor) && sum.add(Linear::of(right), rightFactor) ? fromLinear(std::move(sum))
                                                                                          : nullptr;
}

Expr ExprBuilder::multiply(Expr operand, int64_t factor) { return combine(operand, factor, integer(0), 1); }

/// The largest g > 1 that divides `divisor` such that the terms that g does not divide sum to a value in [0, g). Then
/// (g * a + r) floordiv (g * n) = a floordiv n, and (g * a + r) mod (g * n) = g * (a mod n) + r. Returns 1 if there is
/// none.
template <typename LinearT> static int64_t commonDivisor(const LinearT &linear, int64_t divisor) {
  int64_t best = 1;
  for (const auto &term : linear.terms) {
    int64_t common = std::gcd(term.factor, divisor);
    LinearT rest = linear;
    rest.takeMultiples(common);
    int64_t low = 0, high = 0;
    if (common > best && common < divisor && rest.bounds(low, high) && low >= 0 && high < common)
      best = common;
  }
  return best;
}

Expr ExprBuilder::floorDivide(Expr operand, int64_t divisor) {
  if (!operand || operand->type == ExprType::Real || divisor < 1)
    return nullptr;
  if (divisor == 1)
    return asInteger(operand);
  Linear rest = Linear::of(operand);
  Expr multiples = fromLinear(rest.takeMultiples(divisor));
  int64_t common = commonDivisor(rest, divisor);
  if (common > 1)
    return add(multiples, floorDivide(fromLinear(rest.takeMultiples(common)), divisor / common));
  Expr divided = fromLinear(std::move(rest));
  if (!divided)
    return nullptr;
  int64_t both = 0;
  // (x floordiv a) floordiv b = x floordiv (a * b): chains of views become one division.
  if (divided->kind == ExprKind::FloorDiv && !llvm::MulOverflow(divided->value, divisor, both))
    return add(multiples, floorDivide(divided->operands[0], both));
  ExprNode node;
  node.kind = ExprKind::FloorDiv;
  node.value = divisor;
  node.operands = divided;
  node.low = llvm::divideFloorSigned(divided->low, divisor);
  node.high = llvm::divideFloorSigned(divided->high, divisor);
  // Bounds may decide: a value in [0, n) divided by n is 0.
  return add(multiples, node.low == node.high ? integer(node.low) : make(node));
}

Expr ExprBuilder::modulo(Expr operand, int64_t divisor) {
  if (!operand || operand->type == ExprType::Real || divisor < 1)
    return nullptr;
  Linear rest = Linear::of(operand);
  rest.takeMultiples(divisor);
  int64_t common = commonDivisor(rest, divisor);
  if (common > 1) {
    Expr multiples = modulo(fromLinear(rest.takeMultiples(common)), divisor / common);
    return combine(multiples, common, fromLinear(std::move(rest)), 1);
  }
  Expr divided = fromLinear(std::move(rest));
  // The remainder of a value in [0, n) is the value.
  if (!divided || (divided->low >= 0 && divided->high < divisor))
    return asInteger(divided);
  ExprNode node;
  node.kind = ExprKind::Mod;
  node.value = divisor;
  node.operands = divided;
  node.high = divisor - 1;
  return make(node);
}

//===----------------------------------------------------------------------===//
// Comparison with zero
//===----------------------------------------------------------------------===//

Expr ExprBuilder::compare(ExprKind kind, Expr operand) {
  ExprNode node;
  node.kind = kind;
  node.type = ExprType::Boolean;
  node.operands = operand;
  node.high = 1;
  return make(node);
}

/// The boolean b of an operand of the form factor * b + constant, or null.
static Expr scaledBoolean(Expr operand) {
  bool single = operand->kind == ExprKind::Sum && operand->operands.size() == 1;
  return single && operand->operands[0]->type == ExprType::Boolean ? operand->operands[0] : nullptr;
}

Expr ExprBuilder::atMostZero(Expr operand) {
  if (!operand || operand->high <= 0 || operand->low > 0)
    return operand ? boolean(operand->high <= 0) : nullptr;
  // The operand has two values. The bounds did not decide, so exactly one of them is at most zero.
  if (Expr scaled = scaledBoolean(operand))
    return operand->value <= 0 ? logicalNot(scaled) : scaled;
  Linear linear = Linear::of(operand);
  int64_t common = 0;
  for (const Linear::Term &term : linear.terms)
    common = std::gcd(common, term.factor);
  if (common <= 1)
    return compare(ExprKind::AtMostZero, operand);
  // common * t + c <= 0 is equivalent to t <= floor(-c / common).
  int64_t rest = llvm::mod(linear.constant, common);
  Expr divided = fromLinear(linear.takeMultiples(common));
  return divided ? compare(ExprKind::AtMostZero, rest ? add(divided, integer(1)) : divided) : nullptr;
}

Expr ExprBuilder::isZero(Expr operand) {
  if (!operand || operand->low > 0 || operand->high < 0)
    return operand ? boolean(false) : nullptr;
  if (operand->isConstant())
    return boolean(operand->value == 0);
  if (Expr scaled = scaledBoolean(operand)) {
    if (operand->value == 0)
      return logicalNot(scaled);
    return operand->value == -operand->factors[0] ? scaled : boolean(false);
  }
  Linear linear = Linear::of(operand);
  int64_t common = 0;
  for (const Linear::Term &term : linear.terms)
    common = std::gcd(common, term.factor);
  // All terms are multiples of `common`, so their sum never is minus the constant.
  if (linear.constant % common != 0)
    return boolean(false);
  // t == 0 and -t == 0 are one condition; the first term gets a positive factor.
  if (linear.terms.front().factor < 0)
    common = -common;
  Linear scaled;
  scaled.constant = linear.constant / common;
  for (const Linear::Term &term : linear.terms)
    scaled.terms.push_back({term.operand, term.factor / common});
  Expr normal = fromLinear(std::move(scaled));
  return normal ? compare(ExprKind::IsZero, normal) : nullptr;
}

Expr ExprBuilder::equal(Expr left, Expr right) {
  if (!left || left != right)
    return isZero(subtract(left, right));
  return left->type == ExprType::Real ? nullptr : boolean(true);
}

} // namespace meshplan::indexing
