//===- evaluate.cpp - values of expressions -------------------------------===//

#include "evaluate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstdlib>

namespace meshplan::indexing {

int64_t evaluate(Expr expr, const Coordinates &coordinates, const TensorValues &tensors) {
  std::vector<int64_t> operands;
  for (Expr operand : expr->operands)
    operands.push_back(evaluate(operand, coordinates, tensors));
  switch (expr->kind) {
  case ExprKind::Constant:
    return expr->value;
  case ExprKind::Number:
    abort();
  case ExprKind::Coordinate:
    return coordinates[expr->value];
  case ExprKind::Element:
    return tensors(expr->value, operands);
  case ExprKind::Sum: {
    int64_t sum = expr->value;
    for (auto [operand, factor] : llvm::zip(operands, expr->factors))
      sum += operand * factor;
    return sum;
  }
  case ExprKind::FloorDiv:
    return llvm::divideFloorSigned(operands[0], expr->value);
  case ExprKind::Mod:
    return llvm::mod(operands[0], expr->value);
  case ExprKind::AtMostZero:
    return operands[0] <= 0;
  case ExprKind::IsZero:
    return operands[0] == 0;
  case ExprKind::Not:
    return !operands[0];
  case ExprKind::And:
    return llvm::all_of(operands, [](int64_t value) { return value != 0; });
  case ExprKind::Or:
    return llvm::any_of(operands, [](int64_t value) { return value != 0; });
  case ExprKind::Select:
    return operands[0] ? operands[1] : operands[2];
  }
  abort();
}

void forEachElement(llvm::ArrayRef<int64_t> shape, const std::function<void(const Coordinates &)> &visit) {
  Coordinates at(shape.size(), 0);
  if (llvm::is_contained(shape, 0))
    return;
  while (true) {
    visit(at);
    size_t dim = shape.size();
    while (dim > 0 && ++at[dim - 1] == shape[dim - 1])
      at[--dim] = 0;
    if (dim == 0)
      return;
  }
}

std::string text(Expr expr) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  if (expr)
    stream << *expr;
  else
    stream << "null";
  return result;
}

} // namespace meshplan::indexing
