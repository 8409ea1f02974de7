//===- expr.h - elements of a tensor as functions of coordinates -*- C++ -*-===//
//
// An expression over integer coordinates for the value of an element of a
// tensor: `d3 <= d2` for a causal mask, `%7[d0, d3] != 0` for a padding mask.
// Expressions are kept in one normal form: two expressions that are equal by
// the rules below are the same pointer.
//
// Every integer expression has bounds of its value. An operation whose value or
// bounds do not fit 64 bits, or that nests too deeply, gives null ("not
// known"). Every function accepts null operands, and then returns null.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_INDEXING_EXPR_H
#define MESHPLAN_COMPILER_INDEXING_EXPR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/FoldingSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>

namespace meshplan::indexing {

enum class ExprType { Integer, Boolean, Real };

enum class ExprKind {
  Constant,   ///< `value`: an integer, or a boolean as 0 or 1
  Number,     ///< `number`: a real
  Coordinate, ///< d`value`, in [0, high]
  Element,    ///< the element of tensor `value` at the operands
  Sum,        ///< `value` plus each operand times its factor; booleans count as 0 and 1
  FloorDiv,   ///< the operand divided by `value` > 1, rounded down
  Mod,        ///< the operand minus its multiple of `value` > 1, never negative
  AtMostZero, ///< the operand is <= 0
  IsZero,     ///< the operand is 0
  Not,
  And,
  Or,
  Select, ///< of operands (condition, then, otherwise); integer or real
};

class ExprNode;
using Expr = const ExprNode *;

/// A node of an expression. Immutable, owned by its ExprBuilder.
class ExprNode : public llvm::FoldingSetNode {
public:
  ExprKind kind = ExprKind::Constant;
  ExprType type = ExprType::Integer;
  int64_t value = 0;
  double number = 0;
  llvm::ArrayRef<Expr> operands;
  llvm::ArrayRef<int64_t> factors; ///< of a Sum, one for each operand, none zero
  int64_t low = 0, high = 0;       ///< bounds of the value, both included; of a boolean within 0 and 1
  unsigned id = 0;                 ///< number in order of creation
  unsigned depth = 0;

  bool isConstant() const { return kind == ExprKind::Constant; }
  bool isConstant(int64_t wanted) const { return isConstant() && value == wanted; }
  bool isTrue() const { return type == ExprType::Boolean && isConstant(1); }
  bool isFalse() const { return type == ExprType::Boolean && isConstant(0); }

  void Profile(llvm::FoldingSetNodeID &profile) const;
};

/// Known facts about the elements of a tensor.
struct ElementRange {
  ExprType type = ExprType::Integer;
  int64_t low = INT64_MIN, high = INT64_MAX;
};

/// Creates expressions and owns them. Not thread safe.
class ExprBuilder {
public:
  ExprBuilder() = default;
  ExprBuilder(const ExprBuilder &) = delete;
  ExprBuilder &operator=(const ExprBuilder &) = delete;

  Expr integer(int64_t value);
  Expr boolean(bool value);
  Expr number(double value);
  /// Coordinate of a dim of `extent` >= 1 elements. For a dim of one element it is the constant 0.
  Expr coordinate(unsigned index, int64_t extent);
  Expr element(int64_t tensor, llvm::ArrayRef<Expr> indices, ElementRange range);

  /// Arithmetic on integers. Booleans count as 0 and 1.
  Expr add(Expr left, Expr right) { return combine(left, 1, right, 1); }
  Expr subtract(Expr left, Expr right) { return combine(left, 1, right, -1); }
  Expr multiply(Expr operand, int64_t factor);
  /// `divisor` >= 1.
  Expr floorDivide(Expr operand, int64_t divisor);
  Expr modulo(Expr operand, int64_t divisor);

  Expr atMost(Expr left, Expr right) { return atMostZero(subtract(left, right)); }
  Expr lessThan(Expr left, Expr right) { return atMostZero(add(subtract(left, right), integer(1))); }
  Expr equal(Expr left, Expr right);

  Expr logicalNot(Expr operand);
  Expr logicalAnd(llvm::ArrayRef<Expr> operands) { return junction(ExprKind::And, operands); }
  Expr logicalOr(llvm::ArrayRef<Expr> operands) { return junction(ExprKind::Or, operands); }
  /// `then` and `otherwise` have the same type.
  Expr select(Expr condition, Expr then, Expr otherwise);

  /// 0 or 1 for a boolean; an integer is returned as it is.
  Expr asInteger(Expr operand) { return operand ? combine(operand, 1, integer(0), 1) : nullptr; }
  /// True if an integer is not 0; a boolean is returned as it is.
  Expr asBoolean(Expr operand);

  /// Replaces each coordinate by the expression that `replace` returns for it.
  Expr substitute(Expr expr, llvm::function_ref<Expr(Expr coordinate)> replace);
  /// Replaces coordinate i by `values[i]`; null if a coordinate has no value.
  Expr substitute(Expr expr, llvm::ArrayRef<Expr> values);

private:
  struct Linear;

  Expr make(ExprNode node);
  Expr combine(Expr left, int64_t leftFactor, Expr right, int64_t rightFactor);
  Expr fromLinear(Linear linear);
  Expr atMostZero(Expr operand);
  Expr isZero(Expr operand);
  Expr junction(ExprKind kind, llvm::ArrayRef<Expr> operands);
  Expr compare(ExprKind kind, Expr operand);
  Expr mergePinned(Expr condition, Expr atPin, Expr elsewhere);
  Expr rebuild(Expr expr, llvm::ArrayRef<Expr> operands);

  llvm::BumpPtrAllocator allocator;
  llvm::FoldingSet<ExprNode> nodes;
  unsigned nextId = 0;
};

/// Calls `visit` for every node of the expression once.
void visitNodes(Expr expr, llvm::function_ref<void(Expr)> visit);

/// True if coordinate `index` occurs.
bool dependsOn(Expr expr, unsigned index);

llvm::raw_ostream &operator<<(llvm::raw_ostream &stream, const ExprNode &expr);

} // namespace meshplan::indexing

#endif // MESHPLAN_COMPILER_INDEXING_EXPR_H
