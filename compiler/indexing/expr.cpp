//===- expr.cpp - storage, substitution and text of expressions -----------===//

#include "compiler/indexing/expr.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace meshplan::indexing {

/// No mask nests this deep. The limit bounds the recursion of every walk.
static constexpr unsigned maxDepth = 200;

void ExprNode::Profile(llvm::FoldingSetNodeID &profile) const {
  profile.AddInteger(static_cast<int>(kind));
  profile.AddInteger(static_cast<int>(type));
  profile.AddInteger(value);
  profile.AddInteger(llvm::bit_cast<uint64_t>(number));
  // Two elements of one tensor with different known bounds are different nodes: rules decide by bounds.
  profile.AddInteger(low);
  profile.AddInteger(high);
  profile.AddInteger(operands.size());
  for (Expr operand : operands)
    profile.AddPointer(operand);
  for (int64_t factor : factors)
    profile.AddInteger(factor);
}

Expr ExprBuilder::make(ExprNode node) {
  for (Expr operand : node.operands)
    node.depth = std::max(node.depth, operand->depth + 1);
  if (node.depth > maxDepth)
    return nullptr;
  // Equal expressions are one node, so that comparing two expressions is comparing two pointers.
  llvm::FoldingSetNodeID profile;
  node.Profile(profile);
  void *position = nullptr;
  if (ExprNode *found = nodes.FindNodeOrInsertPos(profile, position))
    return found;
  // The lists of a new node must outlive those of the caller.
  node.operands = node.operands.copy(allocator);
  node.factors = node.factors.copy(allocator);
  node.id = nextId++;
  auto *made = new (allocator.Allocate<ExprNode>()) ExprNode(node);
  nodes.InsertNode(made, position);
  return made;
}

Expr ExprBuilder::integer(int64_t value) {
  ExprNode node;
  node.value = node.low = node.high = value;
  return make(node);
}

Expr ExprBuilder::boolean(bool value) {
  ExprNode node;
  node.type = ExprType::Boolean;
  node.value = node.low = node.high = value;
  return make(node);
}

Expr ExprBuilder::number(double value) {
  ExprNode node;
  node.kind = ExprKind::Number;
  node.type = ExprType::Real;
  node.number = value;
  return make(node);
}

Expr ExprBuilder::coordinate(unsigned index, int64_t extent) {
  // The only index of the dim.
  if (extent <= 1)
    return integer(0);
  ExprNode node;
  node.kind = ExprKind::Coordinate;
  node.value = index;
  node.high = extent - 1;
  return make(node);
}

Expr ExprBuilder::element(int64_t tensor, llvm::ArrayRef<Expr> indices, ElementRange range) {
  if (llvm::is_contained(indices, nullptr))
    return nullptr;
  ExprNode node;
  node.kind = ExprKind::Element;
  node.type = range.type;
  node.value = tensor;
  node.operands = indices;
  if (range.type != ExprType::Real) {
    node.low = range.type == ExprType::Boolean ? 0 : range.low;
    node.high = range.type == ExprType::Boolean ? 1 : range.high;
  }
  return make(node);
}

//===----------------------------------------------------------------------===//
// Substitution
//===----------------------------------------------------------------------===//

Expr ExprBuilder::rebuild(Expr expr, llvm::ArrayRef<Expr> operands) {
  switch (expr->kind) {
  case ExprKind::Constant:
  case ExprKind::Number:
  case ExprKind::Coordinate:
    return expr;
  case ExprKind::Element:
    return element(expr->value, operands, {expr->type, expr->low, expr->high});
  case ExprKind::Sum: {
    // Constructors simplify: the new operands may cancel, or make a condition constant.
    Expr sum = integer(expr->value);
    for (auto [operand, factor] : llvm::zip(operands, expr->factors))
      sum = combine(sum, 1, operand, factor);
    return sum;
  }
  case ExprKind::FloorDiv:
    return floorDivide(operands[0], expr->value);
  case ExprKind::Mod:
    return modulo(operands[0], expr->value);
  case ExprKind::AtMostZero:
    return atMostZero(operands[0]);
  case ExprKind::IsZero:
    return isZero(operands[0]);
  case ExprKind::Not:
    return logicalNot(operands[0]);
  case ExprKind::And:
  case ExprKind::Or:
    return junction(expr->kind, operands);
  case ExprKind::Select:
    return select(operands[0], operands[1], operands[2]);
  }
  return nullptr;
}

Expr ExprBuilder::substitute(Expr expr, llvm::function_ref<Expr(Expr)> replace) {
  if (!expr)
    return nullptr;
  // Nodes have several users. Without the table, a node would be rebuilt once for each path to it.
  llvm::DenseMap<Expr, Expr> done;
  // visitNodes visits operands before the nodes that use them.
  visitNodes(expr, [&](Expr node) {
    if (node->kind == ExprKind::Coordinate) {
      done[node] = replace(node);
      return;
    }
    llvm::SmallVector<Expr, 4> operands;
    for (Expr operand : node->operands)
      operands.push_back(done.lookup(operand));
    done[node] = llvm::is_contained(operands, nullptr) ? nullptr : rebuild(node, operands);
  });
  return done.lookup(expr);
}

Expr ExprBuilder::substitute(Expr expr, llvm::ArrayRef<Expr> values) {
  return substitute(expr, [&](Expr coordinate) {
    return static_cast<size_t>(coordinate->value) < values.size() ? values[coordinate->value] : nullptr;
  });
}

//===----------------------------------------------------------------------===//
// Queries and text
//===----------------------------------------------------------------------===//

static void visitNodes(Expr expr, llvm::DenseSet<Expr> &seen, llvm::function_ref<void(Expr)> visit) {
  if (!seen.insert(expr).second)
    return;
  for (Expr operand : expr->operands)
    visitNodes(operand, seen, visit);
  visit(expr);
}

void visitNodes(Expr expr, llvm::function_ref<void(Expr)> visit) {
  llvm::DenseSet<Expr> seen;
  visitNodes(expr, seen, visit);
}

bool dependsOn(Expr expr, unsigned index) {
  bool found = false;
  visitNodes(expr, [&](Expr node) { found |= node->kind == ExprKind::Coordinate && node->value == index; });
  return found;
}

static void printSum(llvm::raw_ostream &stream, const ExprNode &sum) {
  stream << "(";
  llvm::StringRef separator;
  for (auto [operand, factor] : llvm::zip(sum.operands, sum.factors)) {
    stream << separator;
    if (factor != 1)
      stream << factor << " * ";
    stream << *operand;
    separator = " + ";
  }
  if (sum.value != 0)
    stream << " + " << sum.value;
  stream << ")";
}

static void printJoined(llvm::raw_ostream &stream, llvm::ArrayRef<Expr> operands, llvm::StringRef separator) {
  llvm::interleave(operands, stream, [&](Expr operand) { stream << *operand; }, separator);
}

llvm::raw_ostream &operator<<(llvm::raw_ostream &stream, const ExprNode &expr) {
  switch (expr.kind) {
  case ExprKind::Constant:
    return expr.type == ExprType::Boolean ? stream << (expr.value ? "true" : "false") : stream << expr.value;
  case ExprKind::Number:
    return stream << expr.number;
  case ExprKind::Coordinate:
    return stream << "d" << expr.value;
  case ExprKind::Element:
    stream << "%" << expr.value << "[";
    printJoined(stream, expr.operands, ", ");
    return stream << "]";
  case ExprKind::Sum:
    printSum(stream, expr);
    return stream;
  case ExprKind::FloorDiv:
    return stream << "(" << *expr.operands[0] << " floordiv " << expr.value << ")";
  case ExprKind::Mod:
    return stream << "(" << *expr.operands[0] << " mod " << expr.value << ")";
  case ExprKind::AtMostZero:
    return stream << *expr.operands[0] << " <= 0";
  case ExprKind::IsZero:
    return stream << *expr.operands[0] << " == 0";
  case ExprKind::Not:
    return stream << "not (" << *expr.operands[0] << ")";
  case ExprKind::And:
  case ExprKind::Or:
    stream << "(";
    printJoined(stream, expr.operands, expr.kind == ExprKind::And ? " and " : " or ");
    return stream << ")";
  case ExprKind::Select:
    return stream << "(" << *expr.operands[0] << " ? " << *expr.operands[1] << " : " << *expr.operands[2] << ")";
  }
  return stream;
}

} // namespace meshplan::indexing
