//===- call_reader.cpp - arguments of a call as expressions ---------------===//

#include "compiler/transforms/import/index_functions/call_reader.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

ElementRange meshplan::rangeOf(Type elementType) {
  auto type = dyn_cast<IntegerType>(elementType);
  if (!type)
    return {ExprType::Real};
  unsigned width = type.getWidth();
  if (width == 1)
    return {ExprType::Boolean};
  if (width >= 64)
    return {ExprType::Integer};
  if (type.isUnsigned())
    return {ExprType::Integer, 0, llvm::maxUIntN(width) > INT64_MAX ? INT64_MAX : int64_t(llvm::maxUIntN(width))};
  return {ExprType::Integer, llvm::minIntN(width), llvm::maxIntN(width)};
}

double meshplan::roundedTo(double number, FloatType type) {
  APFloat rounded(number);
  bool losesInfo = false;
  rounded.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return rounded.convertToDouble();
}

std::optional<int64_t> meshplan::countedDim(int64_t dim, int64_t rank) {
  dim += dim < 0 ? rank : 0;
  return dim >= 0 && dim < rank ? std::optional(dim) : std::nullopt;
}

CallReader::CallReader(IndexFunctions &functions, plan::CallOp op)
    : builder(functions.builder), call(CallView::of(op)), value(op.getResult(0)), operands(op.getOperands()),
      result(call.results.front()), coordinates(coordinatesOf(functions.builder, result.getShape())),
      functions(functions) {}

Value CallReader::tensor(StringRef name) const {
  std::optional<unsigned> operand = call.getOperand(name);
  return operand ? operands[*operand] : Value();
}

Expr CallReader::read(StringRef name, ArrayRef<Expr> indices) {
  Value value = tensor(name);
  return value ? read(value, indices) : nullptr;
}

Expr CallReader::literal(Attribute attribute) {
  if (auto flag = dyn_cast_or_null<BoolAttr>(attribute))
    return builder.boolean(flag.getValue());
  if (auto integer = dyn_cast_or_null<IntegerAttr>(attribute))
    return integer.getValue().isSignedIntN(64) ? builder.integer(integer.getValue().getSExtValue()) : nullptr;
  if (auto number = dyn_cast_or_null<FloatAttr>(attribute))
    return builder.number(number.getValueAsDouble());
  return nullptr;
}

Expr CallReader::readBroadcast(StringRef name) {
  Value value = tensor(name);
  if (!value)
    return literal(call.get(name));
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  return functions.at(value, readExpanded(builder, shape, coordinates));
}

/// True if an operator that computes in `type` would change the number, because the type cannot represent it.
static bool converts(Expr number, Type type) {
  ElementRange range = rangeOf(type);
  return range.type == ExprType::Integer && (number->low < range.low || number->high > range.high);
}

std::pair<Expr, Expr> CallReader::readSides(StringRef left, StringRef right) {
  Expr first = readBroadcast(left), second = readBroadcast(right);
  Value typed = tensor(left), other = tensor(right);
  if (!first || !second || !typed || first->type == ExprType::Real || second->type == ExprType::Real)
    return {};
  // A literal takes the type of the other side, if that is an integer; so does a tensor without dims beside one with
  // dims.
  auto type = cast<RankedTensorType>(typed.getType());
  auto otherType = other ? cast<RankedTensorType>(other.getType()) : RankedTensorType();
  // The type promotion of PyTorch: an operand without dims does not widen one with dims, so its number is converted,
  // and may wrap.
  bool secondYields = !other || (otherType.getRank() == 0 && type.getRank() > 0);
  bool firstYields = other && type.getRank() == 0 && otherType.getRank() > 0;
  if ((secondYields && converts(second, type.getElementType())) ||
      (firstYields && converts(first, otherType.getElementType())))
    return {};
  return {builder.asInteger(first), builder.asInteger(second)};
}

std::optional<int64_t> CallReader::dim(StringRef name, int64_t otherwise, int64_t rank) const {
  return countedDim(call.getInt(name, otherwise), rank);
}

/// Rounds a real expression of literals to a float type.
static Expr roundNumbers(ExprBuilder &builder, Expr expr, FloatType type) {
  if (expr->kind == ExprKind::Number)
    return builder.number(roundedTo(expr->number, type));
  if (expr->kind != ExprKind::Select)
    return nullptr;
  return builder.select(expr->operands[0], roundNumbers(builder, expr->operands[1], type),
                        roundNumbers(builder, expr->operands[2], type));
}

/// The condition that a real expression of literals is not 0.
static Expr isNonzero(ExprBuilder &builder, Expr expr) {
  if (expr->kind == ExprKind::Number)
    return builder.boolean(expr->number != 0);
  if (expr->kind != ExprKind::Select)
    return nullptr;
  return builder.select(expr->operands[0], isNonzero(builder, expr->operands[1]),
                        isNonzero(builder, expr->operands[2]));
}

Expr CallReader::convert(Expr element) {
  if (!element)
    return nullptr;
  Type target = result.getElementType();
  if (auto type = dyn_cast<FloatType>(target)) {
    if (element->type == ExprType::Boolean)
      return builder.select(element, builder.number(1), builder.number(0));
    // Integers become floats only as constants: a function of the indices would have to be a real expression, which has
    // no arithmetic.
    if (element->isConstant())
      return builder.number(roundedTo(static_cast<double>(element->value), type));
    return element->type == ExprType::Real ? roundNumbers(builder, element, type) : nullptr;
  }
  if (target.isInteger(1) && element->type == ExprType::Real)
    return isNonzero(builder, element);
  if (!isa<IntegerType>(target) || element->type == ExprType::Real)
    return nullptr;
  return target.isInteger(1) ? builder.asBoolean(element) : builder.asInteger(element);
}
