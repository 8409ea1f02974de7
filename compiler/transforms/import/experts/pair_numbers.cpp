//===- pair_numbers.cpp - numbers of pairs in a routed region -------------===//
//
// Integer tensors that are computed from the chosen experts, and what is looked up by them. See routed_region.cpp.

#include "compiler/support/layer_names.h"
#include "compiler/transforms/import/experts/expert_counts.h"
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

/// True if these are the ends of the rows of each expert. Says what is not, if not.
bool RoutedRegionReader::readEndsOfRows(plan::CallOp product, Value ends) {
  SparseGatesReader gates(functions);
  CountedExperts counted = readEnds(gates, ends);
  bool areOfChoice = counted.ids && shapeOf(ends).front() == experts &&
                     (pairsOf(counted.ids, PairMeaning::ids) ||
                      sourceOfNumbers(counted.ids) == sourceOfNumbers(region.chosen.indices));
  plan::CallOp last = callOf(counted.understood);
  if (!areOfChoice && last)
    refuse(product,
           operatorText(product.getTarget(), product.getModule()) +
               " takes rows by counts that are not provably those of the chosen experts: they are made by " +
               operatorText(last.getTarget(), last.getModule()),
           "help: count the numbers of the experts that are sorted, as by 'torch.bincount(ids, minlength=experts)' or "
           "'one_hot(ids, experts).sum(0)'");
  return areOfChoice;
}

/// True for a call that only moves numbers, whose result has no meaning of its own yet.
bool RoutedRegionReader::isMovementOfNumbers(plan::CallOp call) const {
  return call && call.getNumResults() == 1 && call.getNumOperands() == 1 && isInside(call.getOperand(0)) &&
         isa<IntegerType>(elementOf(call.getResult(0))) && !rowsOf(call.getOperand(0)) &&
         readThroughMovement(builder, call.getResult(0), coordinatesOf(builder, shapeOf(call.getResult(0))));
}

/// The numbers [rows] that `index` [rows, ..] has in each element of a row, as of `gather` and `scatter`; or null.
Value RoutedRegionReader::rowNumbersOf(Value index) {
  if (!index || rankOf(index) < 2)
    return index;
  Indices indices = coordinatesOf(builder, shapeOf(index));
  const Expr row = indices.empty() ? nullptr : indices.front();
  for (std::optional<MovedRead> at = MovedRead{index, indices}; at && row && !llvm::is_contained(at->indices, nullptr);
       at = readThroughMovement(builder, at->operand, at->indices))
    if (at->indices.size() == 1 && at->indices.front() == row)
      return at->operand;
  return {};
}

/// What is written to the index of the pair at each position, over all elements of `self`: positions, which give the
/// inverse of the order, or rows, which are then in the order of pairs.
bool RoutedRegionReader::readWritten(plan::CallOp call, const CallView &view) {
  Value self = tensorArgument(call, view, "self"), values, index;
  bool isPut = view.target == "aten.index_put.default";
  if (isPut) {
    values = tensorArgument(call, view, "values");
    SmallVector<std::optional<unsigned>> indices = view.getOperands("indices");
    if (indices.size() == 1 && indices.front() && !view.getBool("accumulate", false))
      index = call.getOperand(*indices.front());
  } else if (self && countedDim(view.getInt("dim", 0), rankOf(self)) == 0) {
    bool isScatter = view.target == "aten.scatter.src";
    values = tensorArgument(call, view, isScatter ? "src" : "source");
    index = tensorArgument(call, view, "index");
    if (isScatter && (!values || !index || shapeOf(index) != shapeOf(values)))
      return false;
    index = isScatter ? rowNumbersOf(index) : index;
  }
  const PairValue *order = pairsOf(index, PairMeaning::order);
  Value result = call.getResult(0);
  if (!order || !values || isInside(self) || values.getType() != result.getType())
    return false;
  if (const RoutedRows *rows = rowsOf(values)) {
    RoutedRows moved = *rows;
    if (moved.lead != 1 || moved.order != order->order)
      return false;
    moved.order = {};
    step(RoutedStep::same, call, result, values);
    define(result, moved);
    return true;
  }
  Expr position = builder.coordinate(0, pairs());
  if (!isOfPairs(values, {}) || functions.at(values, {position}) != position)
    return false;
  define(result, PairValue{PairMeaning::inverse, order->order});
  return true;
}

//===----------------------------------------------------------------------===//
// Lookups
//===----------------------------------------------------------------------===//

bool RoutedRegionReader::readLookup(plan::CallOp call, const CallView &view) {
  Value self = tensorArgument(call, view, "self"), index = tensorArgument(call, view, "index");
  if (!self || rankOf(self) < 1)
    return false;
  if (view.target != "aten.index.Tensor") {
    if (countedDim(view.getInt("dim", 0), rankOf(self)) != 0)
      return false;
    if (view.target == "aten.gather.default") {
      if (!index || rankOf(index) != rankOf(self) || shapeOf(index).drop_front() != shapeOf(self).drop_front())
        return false;
      index = rowNumbersOf(index);
    }
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
