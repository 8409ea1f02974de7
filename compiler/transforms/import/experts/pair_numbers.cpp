//===- pair_numbers.cpp - numbers of pairs in a routed region -------------===//
//
// Integer tensors that are computed from the chosen experts, and what is looked up by them. See routed_region.cpp.

#include "compiler/transforms/import/experts/region_reader.h"
#include "compiler/transforms/import/index_functions/call_reader.h"
#include "compiler/transforms/import/index_functions/lookup.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

//===----------------------------------------------------------------------===//
// Numbers of pairs
//===----------------------------------------------------------------------===//

bool RoutedRegionReader::readSort(plan::CallOp call, const CallView &view) {
  Value self = tensorArgument(call, view, "self"), order = call.getResults().back();
  bool isFlat = self && llvm::all_of(call.getResults(), [&](Value result) { return isOfPairs(result, {}); });
  if (view.getBool("descending", false) || !isFlat)
    return false;
  if (pairsOf(self, PairMeaning::order)) {
    define(order, PairValue{PairMeaning::inverse, self});
    return true;
  }
  const PairValue *sorted = pairsOf(self, PairMeaning::ids);
  if (!sorted || sorted->order)
    return false;
  define(order, PairValue{PairMeaning::order, order});
  if (call.getNumResults() == 2)
    define(call.getResult(0), PairValue{PairMeaning::ids, order});
  return true;
}

/// The token of a pair is its number divided by the slots.
bool RoutedRegionReader::readQuotient(plan::CallOp call, const CallView &view) {
  Value self = tensorArgument(call, view, "self");
  const PairValue *order = pairsOf(self, PairMeaning::order);
  auto mode = dyn_cast_or_null<StringAttr>(view.get("rounding_mode"));
  bool rounds =
      view.target == "aten.floor_divide.default" || (mode && llvm::is_contained({"floor", "trunc"}, mode.getValue()));
  if (!order || !rounds || !isa_and_present<IntegerAttr>(view.get("other")) ||
      view.getInt("other", 0) != region.chosen.slots || call.getResult(0).getType() != self.getType())
    return false;
  define(call.getResult(0), PairValue{PairMeaning::tokens, order->order});
  return true;
}

/// Numbers keep their meaning in types that are exact for them. Weights may be converted once: the parameter is,
/// instead.
bool RoutedRegionReader::readConversion(plan::CallOp call, const CallView &view) {
  Value self = tensorArgument(call, view, "self");
  if (rowsOf(self))
    return readPointwise(call, view);
  auto found = numbers.find(self);
  Type type = elementOf(call.getResult(0));
  if (found != numbers.end() && found->second.meaning == PairMeaning::weights) {
    PairValue same = found->second;
    if (same.converted || !isa<FloatType>(type))
      return false;
    same.converted = type;
    define(call.getResult(0), same);
    return true;
  }
  bool isExact = type.isF32() || type.isF64() || type.isInteger(32) || type.isInteger(64);
  if (found == numbers.end() || !isExact)
    return false;
  // f32 counts to 2^24. Numbers of experts are below that of all experts, others may be that of all pairs.
  if (type.isF32() && (found->second.meaning == PairMeaning::ids ? experts : pairs()) >= (1 << 24))
    return false;
  PairValue same = found->second;
  define(call.getResult(0), same);
  return true;
}

bool RoutedRegionReader::readCounts(plan::CallOp call, const CallView &view) {
  if (!pairsOf(tensorArgument(call, view, "self"), PairMeaning::ids) || rankOf(call.getResult(0)) != 1 ||
      !isExperts(shapeOf(call.getResult(0)).front()))
    return false;
  // A histogram with the numbers from 0 to experts - 1 as bounds counts each of them in a bin of its own.
  bool counts = view.target == "aten.histc.default"
                    ? view.getInt("bins", 100) == experts && view.getFloat("min", 0) == 0 &&
                          view.getFloat("max", 0) == static_cast<double>(experts - 1)
                    : view.getInt("minlength", 0) == experts && !view.getOperand("weights");
  if (!counts)
    return false;
  define(call.getResult(0), PairValue{PairMeaning::counts});
  return true;
}

bool RoutedRegionReader::readEnds(plan::CallOp call, const CallView &view) {
  if (!pairsOf(tensorArgument(call, view, "self"), PairMeaning::counts) || countedDim(view.getInt("dim", 1), 1) != 0)
    return false;
  define(call.getResult(0), PairValue{PairMeaning::ends});
  return true;
}

/// The inverse of an order: the position of each pair is written to the index of its number. No element of self
/// remains.
bool RoutedRegionReader::readInverse(plan::CallOp call, const CallView &view) {
  Value values = tensorArgument(call, view, view.target == "aten.scatter.src" ? "src" : "values"), index;
  if (view.target == "aten.scatter.src") {
    index = tensorArgument(call, view, "index");
  } else {
    SmallVector<std::optional<unsigned>> indices = view.getOperands("indices");
    if (indices.size() == 1 && indices.front() && !view.getBool("accumulate", false))
      index = call.getOperand(*indices.front());
  }
  const PairValue *order = pairsOf(index, PairMeaning::order);
  if (!order || !values || shapeOf(values) != ArrayRef<int64_t>(pairs()) ||
      shapeOf(call.getResult(0)) != ArrayRef<int64_t>(pairs()))
    return false;
  Expr position = builder.coordinate(0, pairs());
  if (functions.at(values, {position}) != position)
    return false;
  define(call.getResult(0), PairValue{PairMeaning::inverse, order->order});
  return true;
}

//===----------------------------------------------------------------------===//
// Lookups
//===----------------------------------------------------------------------===//

bool RoutedRegionReader::readLookup(plan::CallOp call, const CallView &view) {
  Value self = tensorArgument(call, view, "self"), index = tensorArgument(call, view, "index");
  if (!self || rankOf(self) < 1)
    return false;
  if (view.target == "aten.index_select.default") {
    if (countedDim(view.getInt("dim", 0), rankOf(self)) != 0)
      return false;
  } else {
    std::optional<Lookup> lookup = describeLookup(view, rankOf(self));
    if (!lookup || llvm::count_if(lookup->operands, [](auto operand) { return operand.has_value(); }) != 1 ||
        !lookup->operands.front())
      return false;
    index = call.getOperand(*lookup->operands.front());
  }
  auto found = numbers.find(index);
  if (found == numbers.end() || rankOf(index) != found->second.lead)
    return false;
  PairValue by = found->second;
  if (isInside(self))
    return readReordered(call, self, by);
  switch (by.meaning) {
  case PairMeaning::tokens:
    return readTokens(call, self, by.order);
  case PairMeaning::order:
    return readOfPairs(call, self, by.order);
  case PairMeaning::ids:
    return readParts(call, self, index);
  default:
    return false;
  }
}

/// What is there for each pair, in another order.
bool RoutedRegionReader::readReordered(plan::CallOp call, Value self, const PairValue &index) {
  bool sorts = index.meaning == PairMeaning::order;
  if (!sorts && index.meaning != PairMeaning::inverse)
    return false;
  Value from = sorts ? Value() : index.order, to = sorts ? index.order : Value();
  if (const RoutedRows *rows = rowsOf(self)) {
    RoutedRows moved = *rows;
    if (moved.lead != 1 || moved.order != from || call.getResult(0).getType() != self.getType())
      return false;
    moved.order = to;
    step(RoutedStep::same, call, call.getResult(0), self);
    define(call.getResult(0), moved);
    return true;
  }
  PairValue moved = numbers.lookup(self);
  if (moved.order != from ||
      !llvm::is_contained({PairMeaning::ids, PairMeaning::tokens, PairMeaning::weights}, moved.meaning))
    return false;
  moved.order = to;
  define(call.getResult(0), moved);
  return true;
}

/// Rows of tokens that come from outside.
bool RoutedRegionReader::readTokens(plan::CallOp call, Value self, Value order) {
  ArrayRef<int64_t> shape = shapeOf(self);
  if (shape.size() != 2 || shape[0] != region.chosen.tokens || shape[1] < 1 || !isa<FloatType>(elementOf(self)) ||
      !isOfPairs(call.getResult(0), shape.drop_front()))
    return false;
  Expr token = builder.coordinate(0, shape[0]), feature = builder.coordinate(1, shape[1]);
  Value tensor = findTokenSource(functions, {{self, {token, feature}}, token, shape[0], {feature}, {shape[1]}});
  if (!tensor)
    return false;
  step(RoutedStep::dispatch, call, call.getResult(0), tensor);
  define(call.getResult(0), RoutedRows{order});
  return true;
}

/// Something that comes from outside for each pair, read in the order of experts.
bool RoutedRegionReader::readOfPairs(plan::CallOp call, Value self, Value order) {
  Value result = call.getResult(0);
  if (self.getType() != result.getType() || shapeOf(self).front() != pairs())
    return false;
  if (isa<IntegerType>(elementOf(self)) && rankOf(self) == 1) {
    Expr pair = builder.coordinate(0, pairs());
    if (functions.at(self, {pair}) != builder.floorDivide(pair, region.chosen.slots))
      return false;
    define(result, PairValue{PairMeaning::tokens, order});
    return true;
  }
  if (!readOutside(call, self, pairs()))
    return false;
  RoutedRows rows = *rowsOf(self);
  rows.order = order;
  step(RoutedStep::same, call, result, self);
  define(result, rows);
  return true;
}

/// The part of a parameter for the expert of each pair.
bool RoutedRegionReader::readParts(plan::CallOp call, Value self, Value index) {
  SmallVector<int64_t> shape(shapeOf(index));
  llvm::append_range(shape, shapeOf(self).drop_front());
  if (rankOf(self) < 2 || !isa<FloatType>(elementOf(self)) || !isExperts(shapeOf(self).front()) ||
      shapeOf(call.getResult(0)) != ArrayRef(shape))
    return false;
  PairValue parts{PairMeaning::weights, numbers.lookup(index).order, self};
  parts.lead = rankOf(index);
  define(call.getResult(0), parts);
  return true;
}

/// Gives rows of tokens [*token dims, features] a step before `place`.
bool RoutedRegionReader::readTokenRows(plan::CallOp place, Value value) {
  RoutedRows rows{{}, static_cast<unsigned>(rankOf(value) - 1)};
  if (const RoutedRows *before = rowsOf(value))
    return !isInside(value) && before->lead == rows.lead && before->unit == 0;
  bool isOfTokens = !isInside(value) && rankOf(value) > 1 && isa<FloatType>(elementOf(value)) &&
                    llvm::product_of(shapeOf(value).drop_back()) == region.chosen.tokens;
  Value tensor = isOfTokens ? findTokenRows(functions, value) : Value();
  if (!tensor)
    return false;
  step(RoutedStep::dispatch, place, value, tensor);
  region.rows[value] = rows;
  return true;
}

/// Gives rows in the order of pairs that come from outside the region a step before `place`. The first dims of `value`
/// number the pairs: they are those of `leadShape`, or of size 1.
bool RoutedRegionReader::readOutside(plan::CallOp place, Value value, ArrayRef<int64_t> leadShape) {
  RoutedRows rows{{}, static_cast<unsigned>(leadShape.size())};
  if (const RoutedRows *before = rowsOf(value))
    return !isInside(value) && before->lead == rows.lead;
  ArrayRef<int64_t> shape = shapeOf(value), features = shape.drop_front(rows.lead);
  if (!isa<FloatType>(elementOf(value)))
    return false;
  if (!features.empty() && features.back() == 1)
    rows.unit = -1;
  else if (features.size() == 2 && features.front() == 1)
    rows.unit = -2;
  Expr pair = builder.coordinate(0, pairs());
  Expr token = builder.floorDivide(pair, region.chosen.slots), slot = builder.modulo(pair, region.chosen.slots);
  Indices at = digitsOf(builder, pair, pairs(), leadShape), rest;
  for (auto [dim, size] : llvm::enumerate(leadShape)) {
    if (shape[dim] == 1)
      at[dim] = builder.integer(0);
    else if (shape[dim] != size)
      return false;
  }
  for (auto [dim, size] : llvm::enumerate(features)) {
    at.push_back(builder.coordinate(dim + 1, size));
    if (static_cast<int>(dim) - static_cast<int>(features.size()) != rows.unit)
      rest.push_back(at.back());
  }
  Value tensor;
  RoutedStep::Kind kind = rest.empty() ? RoutedStep::dispatchGates : RoutedStep::dispatch;
  if (rest.empty())
    tensor = findTokenTensor(functions, {{value, at}, token, region.chosen.tokens, {slot}, {region.chosen.slots}});
  else if (rest.size() == 1)
    tensor = findTokenSource(functions, {{value, at}, token, region.chosen.tokens, rest, featuresOf(value, rows)});
  if (!tensor)
    return false;
  step(kind, place, value, tensor);
  region.rows[value] = rows;
  return true;
}
