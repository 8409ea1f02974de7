//===- pointwise.cpp - elementwise calls ----------------------------------===//

#include "compiler/transforms/import/index_functions/call_reader.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

//===----------------------------------------------------------------------===//
// Conversions and movements
//===----------------------------------------------------------------------===//

static Expr convertSelf(CallReader &reader) { return reader.convert(reader.readBroadcast("self")); }

//===----------------------------------------------------------------------===//
// Arithmetic on integers
//===----------------------------------------------------------------------===//

/// left + alpha * right; a disjunction for booleans.
static Expr readSum(CallReader &reader) {
  auto [left, right] = reader.readSides("self", "other");
  return reader.convert(reader.builder.add(left, reader.builder.multiply(right, reader.call.getInt("alpha", 1))));
}

static Expr readDifference(CallReader &reader) {
  auto [left, right] = reader.readSides("self", "other");
  return reader.builder.subtract(left, reader.builder.multiply(right, reader.call.getInt("alpha", 1)));
}

static Expr readReversedDifference(CallReader &reader) {
  auto [left, right] = reader.readSides("self", "other");
  return reader.builder.subtract(right, reader.builder.multiply(left, reader.call.getInt("alpha", 1)));
}

static Expr readProduct(CallReader &reader) {
  auto [left, right] = reader.readSides("self", "other");
  if (!left || !right)
    return nullptr;
  // A product of two functions is not linear, and has no normal form; of booleans it is a conjunction.
  if (right->isConstant())
    return reader.convert(reader.builder.multiply(left, right->value));
  if (left->isConstant())
    return reader.convert(reader.builder.multiply(right, left->value));
  if (!reader.result.getElementType().isInteger(1))
    return nullptr;
  return reader.builder.logicalAnd({reader.builder.asBoolean(left), reader.builder.asBoolean(right)});
}

static Expr readNegation(CallReader &reader) { return reader.builder.multiply(reader.readBroadcast("self"), -1); }

static Expr readFloorDivision(CallReader &reader) {
  auto [left, right] = reader.readSides("self", "other");
  return right && right->isConstant() ? reader.builder.floorDivide(left, right->value) : nullptr;
}

static Expr readDivision(CallReader &reader) {
  auto mode = dyn_cast_or_null<StringAttr>(reader.call.get("rounding_mode"));
  return mode && mode.getValue() == "floor" ? readFloorDivision(reader) : nullptr;
}

static Expr readRemainder(CallReader &reader) {
  auto [left, right] = reader.readSides("self", "other");
  return right && right->isConstant() ? reader.builder.modulo(left, right->value) : nullptr;
}

//===----------------------------------------------------------------------===//
// Comparisons and logic
//===----------------------------------------------------------------------===//

using Comparison = Expr (*)(ExprBuilder &, Expr left, Expr right);

template <Comparison Compare> static Expr readComparison(CallReader &reader) {
  auto [left, right] = reader.readSides("self", "other");
  return Compare(reader.builder, left, right);
}

static Expr equal(ExprBuilder &builder, Expr left, Expr right) { return builder.equal(left, right); }
static Expr notEqual(ExprBuilder &builder, Expr left, Expr right) {
  return builder.logicalNot(builder.equal(left, right));
}
static Expr less(ExprBuilder &builder, Expr left, Expr right) { return builder.lessThan(left, right); }
static Expr lessOrEqual(ExprBuilder &builder, Expr left, Expr right) { return builder.atMost(left, right); }
static Expr greater(ExprBuilder &builder, Expr left, Expr right) { return builder.lessThan(right, left); }
static Expr greaterOrEqual(ExprBuilder &builder, Expr left, Expr right) { return builder.atMost(right, left); }

/// True if the result is boolean, so that bitwise operators are logical operators.
static bool isLogical(const CallReader &reader) { return reader.result.getElementType().isInteger(1); }

template <bool IsAnd> static Expr readJunction(CallReader &reader) {
  if (!isLogical(reader))
    return nullptr;
  Expr left = reader.builder.asBoolean(reader.readBroadcast("self"));
  Expr right = reader.builder.asBoolean(reader.readBroadcast("other"));
  return IsAnd ? reader.builder.logicalAnd({left, right}) : reader.builder.logicalOr({left, right});
}

static Expr readExclusiveOr(CallReader &reader) {
  if (!isLogical(reader))
    return nullptr;
  Expr left = reader.builder.asBoolean(reader.readBroadcast("self"));
  Expr right = reader.builder.asBoolean(reader.readBroadcast("other"));
  return reader.builder.select(left, reader.builder.logicalNot(right), right);
}

static Expr readLogicalNot(CallReader &reader) {
  if (!isLogical(reader))
    return nullptr;
  return reader.builder.logicalNot(reader.builder.asBoolean(reader.readBroadcast("self")));
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

static Expr choose(CallReader &reader, Expr condition, StringRef then, StringRef otherwise) {
  return reader.builder.select(condition, reader.convert(reader.readBroadcast(then)),
                               reader.convert(reader.readBroadcast(otherwise)));
}

static Expr readWhere(CallReader &reader) {
  return choose(reader, reader.builder.asBoolean(reader.readBroadcast("condition")), "self", "other");
}

static Expr readMaskedFill(CallReader &reader) {
  return choose(reader, reader.builder.asBoolean(reader.readBroadcast("mask")), "value", "self");
}

/// Keeps the triangle on one side of a diagonal of the last two dims; zero elsewhere.
template <bool Upper> static Expr readTriangle(CallReader &reader) {
  size_t rank = reader.coordinates.size();
  if (rank < 2)
    return nullptr;
  ExprBuilder &builder = reader.builder;
  Expr above = builder.subtract(reader.coordinates[rank - 1], reader.coordinates[rank - 2]);
  Expr diagonal = builder.integer(reader.call.getInt("diagonal", 0));
  Expr keep = Upper ? builder.atMost(diagonal, above) : builder.atMost(above, diagonal);
  return builder.select(keep, reader.readBroadcast("self"), reader.convert(builder.integer(0)));
}

void meshplan::addPointwiseFunctions(CallFunctions &functions) {
  auto add = [&](std::initializer_list<StringRef> targets, CallFunction function) {
    for (StringRef target : targets)
      functions[target] = function;
  };
  add({"aten.to.dtype", "aten.to.dtype_layout", "aten.to.device", "aten.to.other", "aten._to_copy.default",
       "aten.type_as.default", "aten.detach.default"},
      convertSelf);
  add({"aten.add.Tensor", "aten.add.Scalar"}, readSum);
  add({"aten.sub.Tensor", "aten.sub.Scalar"}, readDifference);
  add({"aten.rsub.Scalar", "aten.rsub.Tensor"}, readReversedDifference);
  add({"aten.mul.Tensor", "aten.mul.Scalar"}, readProduct);
  add({"aten.neg.default"}, readNegation);
  add({"aten.floor_divide.default", "aten.floor_divide.Scalar"}, readFloorDivision);
  add({"aten.div.Tensor_mode", "aten.div.Scalar_mode"}, readDivision);
  add({"aten.remainder.Scalar", "aten.remainder.Tensor"}, readRemainder);
  add({"aten.eq.Tensor", "aten.eq.Scalar"}, readComparison<equal>);
  add({"aten.ne.Tensor", "aten.ne.Scalar"}, readComparison<notEqual>);
  add({"aten.lt.Tensor", "aten.lt.Scalar"}, readComparison<less>);
  add({"aten.le.Tensor", "aten.le.Scalar"}, readComparison<lessOrEqual>);
  add({"aten.gt.Tensor", "aten.gt.Scalar"}, readComparison<greater>);
  add({"aten.ge.Tensor", "aten.ge.Scalar"}, readComparison<greaterOrEqual>);
  add({"aten.__and__.Tensor", "aten.bitwise_and.Tensor", "aten.logical_and.default"}, readJunction<true>);
  add({"aten.__or__.Tensor", "aten.bitwise_or.Tensor", "aten.logical_or.default"}, readJunction<false>);
  add({"aten.__xor__.Tensor", "aten.bitwise_xor.Tensor", "aten.logical_xor.default"}, readExclusiveOr);
  add({"aten.logical_not.default", "aten.bitwise_not.default"}, readLogicalNot);
  add({"aten.where.self", "aten.where.Scalar", "aten.where.ScalarSelf", "aten.where.ScalarOther"}, readWhere);
  add({"aten.masked_fill.Scalar", "aten.masked_fill.Tensor"}, readMaskedFill);
  add({"aten.triu.default"}, readTriangle<true>);
  add({"aten.tril.default"}, readTriangle<false>);
}
