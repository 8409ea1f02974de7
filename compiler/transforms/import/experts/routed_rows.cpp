//===- routed_rows.cpp - rows in a routed region --------------------------===//
//
// Products with the weights of experts, and operators on the rows of all pairs. See routed_region.cpp.

#include "compiler/transforms/import/experts/call_patterns.h"
#include "compiler/transforms/import/experts/region_reader.h"
#include "compiler/transforms/import/index_functions/call_reader.h"
#include "compiler/transforms/import/movement_chain.h"
#include "dialect/plan/call_builder.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The parameter [experts, .., ..] and whether its last two dims are exchanged in `value`.
std::optional<PairValue> RoutedRegionReader::weightOf(Value value) {
  if (!value || isInside(value) || rankOf(value) != 3 || !isExperts(shapeOf(value).front()))
    return std::nullopt;
  Indices straight = coordinatesOf(builder, shapeOf(value));
  if (llvm::is_contained(straight, nullptr))
    return std::nullopt;
  Indices flipped{straight[0], straight[2], straight[1]};
  PairValue found{PairMeaning::weights, {}, value};
  for (MovedRead at{value, straight};;) {
    std::optional<MovedRead> moved = readThroughMovement(builder, at.operand, at.indices);
    // A slice reads at the same indices, of a larger tensor.
    if (!moved || rankOf(moved->operand) != 3 ||
        typeOf(moved->operand).getNumElements() != typeOf(value).getNumElements() ||
        (moved->indices != straight && moved->indices != flipped))
      return found;
    at = std::move(*moved);
    found.weight = at.operand;
    found.isFlipped = at.indices != straight;
  }
}

/// A step for rows `input` [*pairs, in, with unit], or [*tokens, in], times their expert's part of `weight`; false if
/// shapes do not fit. The pairs of the result have the dims `leadShape`.
bool RoutedRegionReader::readProduct(plan::CallOp call, Value input, const PairValue &weight, bool transposed,
                                     ArrayRef<int64_t> leadShape) {
  const RoutedRows *rows = rowsOf(input);
  SmallVector<int64_t> features = featuresOf(input, *rows);
  RoutedRows made{rows->order, static_cast<unsigned>(leadShape.size()), rows->unit};
  Value result = call.getResult(0);
  ArrayRef<int64_t> shape = shapeOf(weight.weight);
  if (rankOf(result) - made.lead != rankOf(input) - rows->lead || shapeOf(result).take_front(made.lead) != leadShape ||
      features != shape.slice(transposed ? 1 : 2, 1) ||
      featuresOf(result, made) != shape.slice(transposed ? 2 : 1, 1) || elementOf(result) != elementOf(input) ||
      weight.element() != elementOf(input))
    return false;
  step(RoutedStep::product, call, result, input, weight.weight, transposed);
  define(result, made);
  return true;
}

/// rows [pairs, in] x weight [experts, in, out], with the rows in order of the experts.
bool RoutedRegionReader::readGroupedProduct(plan::CallOp call, const CallView &view) {
  region.multiplies = true;
  bool isOwn = view.target == "meshplan.grouped_mm";
  Value input = tensorArgument(call, view, isOwn ? "input" : "self");
  const RoutedRows *rows = rowsOf(input);
  std::optional<PairValue> weight = weightOf(tensorArgument(call, view, isOwn ? "weight" : "mat2"));
  if (!rows || !rows->order || !rows->isPlain(input, 1) || !weight || view.getOperand("bias") ||
      !readEndsOfRows(call, tensorArgument(call, view, "offs")))
    return false;
  return readProduct(call, input, *weight, !weight->isFlipped, pairs());
}

/// weights [*pairs, out, in] x rows [*pairs, in, 1], or rows [*pairs, 1, in] x weights [*pairs, in, out].
bool RoutedRegionReader::readPairProducts(plan::CallOp call, const CallView &view) {
  Value left = tensorArgument(call, view, "self");
  Value right = tensorArgument(call, view, view.get("mat2") ? "mat2" : "other");
  const PairValue *weights = pairsOf(left, PairMeaning::weights);
  bool isLeft = weights != nullptr;
  weights = weights ? weights : pairsOf(right, PairMeaning::weights);
  Value input = isLeft ? right : left;
  if (!weights)
    return readGatedProduct(call, left, right);
  if (!input)
    return false;
  PairValue pair = *weights;
  ArrayRef<int64_t> leadShape = shapeOf(isLeft ? left : right).take_front(pair.lead);
  if (rankOf(input) != pair.lead + 2 || rankOf(isLeft ? left : right) != pair.lead + 2)
    return false;
  region.multiplies = true;
  std::optional<PairValue> weight = weightOf(pair.weight);
  if (!weight || (!isInside(input) && !readOutside(call, input, leadShape)))
    return false;
  weight->converted = pair.converted;
  const RoutedRows *rows = rowsOf(input);
  if (!rows || rows->order != pair.order || rows->lead != pair.lead || rows->unit != (isLeft ? -1 : -2))
    return false;
  // The weight [.., in, out] on the right is the transposed one.
  return readProduct(call, input, *weight, !isLeft != (pair.isFlipped != weight->isFlipped), leadShape);
}

bool RoutedRegionReader::readEinsum(plan::CallOp call, const CallView &) {
  std::optional<PairEinsum> pair = pairEinsumOf(call);
  if (!pair)
    return false;
  auto isWeight = [&](Value value) { return pairsOf(value, PairMeaning::weights) != nullptr; };
  if (isWeight(pair->leftValue) || (!isWeight(pair->rightValue) && pair->left.size() < pair->right.size())) {
    std::swap(pair->left, pair->right);
    std::swap(pair->leftValue, pair->rightValue);
  }
  return isWeight(pair->rightValue) ? readPairEinsum(call, *pair) : readGatedEinsum(call, *pair);
}

/// Rows of pairs or tokens times weights of pairs: `tki,tkoi->tko`, `ti,tkoi->tko`.
bool RoutedRegionReader::readPairEinsum(plan::CallOp call, const PairEinsum &pair) {
  PairValue weights = *pairsOf(pair.rightValue, PairMeaning::weights);
  StringRef input = pair.left, letters = pair.right, lead = letters.take_front(weights.lead);
  ArrayRef<int64_t> leadShape = shapeOf(pair.rightValue).take_front(weights.lead);
  std::optional<PairValue> weight = weightOf(weights.weight);
  if (!weight || letters.size() != weights.lead + 2 || input.empty())
    return false;
  region.multiplies = true;
  weight->converted = weights.converted;
  bool isTransposed = input.back() == letters[weights.lead];
  if ((!isTransposed && input.back() != letters.back()) ||
      pair.result != lead.str() + letters[weights.lead + (isTransposed ? 1 : 0)])
    return false;
  if (input.drop_back() == lead) {
    if (!isInside(pair.leftValue) && !readOutside(call, pair.leftValue, leadShape))
      return false;
    const RoutedRows *rows = rowsOf(pair.leftValue);
    if (!rows || rows->order != weights.order || rows->lead != weights.lead || rows->unit != 0)
      return false;
  } else if (weights.order || input.drop_back() != lead.drop_back() || !readTokenRows(call, pair.leftValue)) {
    return false;
  }
  return readProduct(call, pair.leftValue, *weight, isTransposed != (weights.isFlipped != weight->isFlipped),
                     leadShape);
}

/// The sum of the rows of each token times their gates: `tki,tk->ti`.
bool RoutedRegionReader::readGatedEinsum(plan::CallOp call, const PairEinsum &pair) {
  StringRef letters = pair.left, gates = pair.right;
  return letters.size() > 1 && letters.drop_back() == gates &&
         pair.result == gates.drop_back().str() + letters.back() && readGatedSum(call, pair.leftValue, pair.rightValue);
}

/// The same as a product of matrices: gates [tokens, 1, slots] x rows [tokens, slots, features].
bool RoutedRegionReader::readGatedProduct(plan::CallOp call, Value gates, Value rows) {
  if (!gates || !rows || rankOf(gates) != rankOf(rows) || rankOf(gates) < 3 || isInside(gates) || !isInside(rows) ||
      shapeOf(gates).end()[-2] != 1 || shapeOf(gates).drop_back(2) != shapeOf(rows).drop_back(2) ||
      shapeOf(gates).back() != shapeOf(rows).end()[-2])
    return false;
  return readGatedSum(call, rows, reshaped(gates, shapeOf(rows).drop_back(), call));
}

/// The sum over the slots of rows `value` [*tokens, slots, features] times `gates` [*tokens, slots], which `call`
/// makes.
bool RoutedRegionReader::readGatedSum(plan::CallOp call, Value value, Value gates) {
  const RoutedRows *rows = isInside(value) ? rowsOf(value) : nullptr;
  Type type = elementOf(call.getResult(0));
  ArrayRef<int64_t> shape = shapeOf(value);
  if (!rows || rows->order || rows->unit != 0 || rows->lead < 2 || shape.size() != rows->lead + 1 ||
      shapeOf(gates) != shape.drop_back() || isInside(gates) || elementOf(value) != type || elementOf(gates) != type ||
      shape[rows->lead - 1] != region.chosen.slots)
    return false;
  RoutedRows made = *rows;
  SmallVector<int64_t> column(shapeOf(gates));
  column.push_back(1);
  Value wide = CallBuilder("aten.unsqueeze.default", call).tensor("self", gates).integer("dim", -1).build(column, type);
  Value product = CallBuilder("aten.mul.Tensor", call).tensor("self", value).tensor("other", wide).build(shape, type);
  auto place = cast<plan::CallOp>(product.getDefiningOp());
  if (!readOutside(place, wide, shape.take_front(made.lead)) || rowsOf(wide)->unit != -1)
    return false;
  step(RoutedStep::compute, place, {}, {});
  define(product, made);
  step(RoutedStep::combine, call, call.getResult(0), product);
  return true;
}

/// The last two dims of weights exchanged. Rows cannot exchange theirs.
bool RoutedRegionReader::readExchange(plan::CallOp call, const CallView &view) {
  Value self = tensorArgument(call, view, "self");
  const PairValue *weights = pairsOf(self, PairMeaning::weights);
  if (!weights || rankOf(self) != weights->lead + 2 || !exchangesLastDims(builder, call.getResult(0)))
    return false;
  PairValue flipped = *weights;
  flipped.isFlipped = !flipped.isFlipped;
  define(call.getResult(0), flipped);
  return true;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Rows plus the bias of their expert, or another sum.
bool RoutedRegionReader::readSum(plan::CallOp call, const CallView &view) {
  Value self = tensorArgument(call, view, "self"), other = tensorArgument(call, view, "other"),
        result = call.getResult(0);
  if (pairsOf(self, PairMeaning::weights))
    std::swap(self, other);
  const PairValue *bias = pairsOf(other, PairMeaning::weights);
  if (!bias)
    return readPointwise(call, view);
  const RoutedRows *rows = rowsOf(self);
  if (!rows || rows->unit != 0 || rows->lead != bias->lead || rankOf(self) != rows->lead + 1 ||
      rows->order != bias->order || view.getFloat("alpha", 1) != 1 || other.getType() != result.getType() ||
      shapeOf(self) != shapeOf(result) || !isExactIn(elementOf(self), elementOf(result)))
    return false;
  RoutedRows made = *rows;
  step(RoutedStep::bias, call, result, self, bias->weight);
  define(result, made);
  return true;
}

/// The sum of the rows of each token, or of the features of each row.
bool RoutedRegionReader::readReduction(plan::CallOp call, const CallView &view) {
  Value self = tensorArgument(call, view, "self"), result = call.getResult(0);
  const RoutedRows *rows = rowsOf(self);
  std::optional<SmallVector<int64_t>> dims = view.getInts("dim");
  if (!rows || !dims || dims->size() != 1)
    return false;
  int64_t rank = rankOf(self), lead = rows->lead;
  std::optional<int64_t> dim = countedDim(dims->front(), rank);
  if (dim == rank - 1 && rank > lead && rows->unit == 0) {
    RoutedRows made = *rows;
    if (rankOf(result) < lead || shapeOf(result).take_front(lead) != shapeOf(self).take_front(lead))
      return false;
    step(RoutedStep::compute, call, {}, {});
    define(result, made);
    return true;
  }
  // A single slot looks like a dim of size 1 that is not a feature.
  bool isLastLead = lead > 1 && rows->unit == 0 && dim == lead - 1, isUnit = rows->unit == -2 && dim == lead;
  SmallVector<int64_t> summed(shapeOf(self));
  if (dim)
    summed.erase(summed.begin() + *dim);
  bool isOverSlots = !rows->order && (isLastLead || isUnit) && shapeOf(self)[*dim] == region.chosen.slots &&
                     featuresOf(self, *rows).size() == 1 && shapeOf(result) == ArrayRef(summed);
  if (isOverSlots)
    step(RoutedStep::combine, call, result, self);
  return isOverSlots;
}

/// The sum of the rows of each token, added at the number of the token to zeros, or to something else of the tokens.
bool RoutedRegionReader::readAddedRows(plan::CallOp call, const CallView &view) {
  bool isScatter = view.target == "aten.scatter_add.default";
  Value self = tensorArgument(call, view, "self"), source = tensorArgument(call, view, isScatter ? "src" : "source"),
        index = tensorArgument(call, view, "index"), result = call.getResult(0);
  const RoutedRows *rows = rowsOf(source);
  if (!rows || !rows->isPlain(source, 1) || !index || !self || isInside(self) || self.getType() != result.getType() ||
      (isScatter && shapeOf(index) != shapeOf(source)))
    return false;
  const PairValue *tokens = pairsOf(isScatter ? rowNumbersOf(index) : index, PairMeaning::tokens);
  // The tokens of the pairs in their own order do not follow from the choice.
  Indices at = coordinatesOf(builder, shapeOf(index));
  bool areTokens = tokens ? tokens->order == rows->order
                          : !rows->order && !at.empty() && at.front() && shapeOf(index).front() == pairs() &&
                                functions.at(index, at) == builder.floorDivide(at.front(), region.chosen.slots);
  if (!areTokens || countedDim(view.getInt("dim", 0), 2) != 0 || view.getFloat("alpha", 1) != 1 ||
      elementOf(result) != elementOf(source) ||
      shapeOf(result) != ArrayRef({region.chosen.tokens, shapeOf(source).back()}))
    return false;
  step(RoutedStep::combine, call, result, source, isZero(functions, self) ? Value() : self);
  return true;
}

/// Features of each row that are taken or split.
bool RoutedRegionReader::readSlice(plan::CallOp call, const CallView &view) {
  Value self = tensorArgument(call, view, "self");
  const RoutedRows *rows = rowsOf(self);
  std::optional<int64_t> dim = self ? countedDim(view.getInt("dim", 0), rankOf(self)) : std::nullopt;
  if (!rows || rows->unit != 0 || !dim || *dim < rows->lead)
    return false;
  RoutedRows made = *rows;
  for (Value result : call.getResults())
    if (rankOf(result) != rankOf(self) || shapeOf(result).take_front(made.lead) != shapeOf(self).take_front(made.lead))
      return false;
  step(RoutedStep::compute, call, {}, {});
  for (Value result : call.getResults())
    define(result, made);
  return true;
}

/// Numbers of pairs, or parts of weights, whose pairs may get other dims.
bool RoutedRegionReader::readViewOfNumbers(Value self, Value result) {
  auto found = numbers.find(self);
  if (found == numbers.end())
    return false;
  PairValue same = found->second;
  if (self.getType() != result.getType()) {
    bool isOfParts = same.meaning == PairMeaning::weights;
    ArrayRef<int64_t> shape = shapeOf(result),
                      features = shapeOf(self).drop_front(isOfParts ? same.lead : rankOf(self));
    if ((!isOfParts && same.meaning != PairMeaning::ids) || same.order || shape.size() <= features.size() ||
        shape.take_back(features.size()) != features || llvm::product_of(shape.drop_back(features.size())) != pairs())
      return false;
    same.lead = shape.size() - features.size();
  }
  define(result, same);
  return true;
}

/// A view that keeps the features, and splits or joins the dims of the pairs, or adds or removes a dim of size 1.
bool RoutedRegionReader::readView(plan::CallOp call, const CallView &) {
  Value self = call.getOperand(0), result = call.getResult(0);
  const RoutedRows *rows = rowsOf(self);
  if (!rows)
    return readViewOfNumbers(self, result);
  RoutedRows made = *rows;
  SmallVector<int64_t> features = featuresOf(self, *rows);
  ArrayRef<int64_t> shape = shapeOf(result);
  // The same dims of the pairs, if possible.
  SmallVector<unsigned> leads{rows->lead};
  llvm::append_range(leads, llvm::seq<unsigned>(1, shape.size() + 1));
  for (unsigned lead : leads) {
    made.lead = lead;
    // Positions in another order than that of the pairs are not tokens and slots.
    bool isLead =
        lead <= shape.size() && llvm::product_of(shape.take_front(lead)) == pairs() && (!made.order || lead == 1);
    for (made.unit = 0; isLead && made.unit >= -2; --made.unit) {
      int64_t rest = shape.size() - made.lead;
      bool hasUnit = made.unit == 0 || (-made.unit <= rest && shape.end()[made.unit] == 1);
      if (!hasUnit || featuresOf(result, made) != features)
        continue;
      step(RoutedStep::same, call, result, self);
      define(result, made);
      return true;
    }
  }
  return false;
}

/// An operator on each element, of rows and of tensors that broadcast to them.
bool RoutedRegionReader::readPointwise(plan::CallOp call, const CallView &) {
  const RoutedRows *rows = nullptr;
  Value first;
  for (Value operand : call.getOperands())
    if (const RoutedRows *found = isInside(operand) ? rowsOf(operand) : nullptr; found && !rows) {
      rows = found;
      first = operand;
    }
  if (!rows || !computesEachElement(call) || (dropsElements(call) && featuresOf(first, *rows).size() != 1))
    return false;
  RoutedRows made{rows->order, rows->lead};
  int64_t rank = rankOf(first);
  // A dim of size 1 that all operands have stays one.
  bool keepsUnit = llvm::all_of(call.getOperands(), [&](Value operand) {
    const RoutedRows *other = isInside(operand) ? rowsOf(operand) : nullptr;
    return other && other->unit == rows->unit;
  });
  made.unit = keepsUnit ? rows->unit : 0;
  for (Value operand : call.getOperands()) {
    if (isInside(operand)) {
      const RoutedRows *other = rowsOf(operand);
      // A dim of size 1 in front of the features would be between pairs and features.
      if (!other || other->order != made.order || other->lead != made.lead || rankOf(operand) != rank ||
          (!keepsUnit && other->unit == -2))
        return false;
      continue;
    }
    // Dims of the operand that align with those of the pairs.
    int64_t lead = std::max<int64_t>(rankOf(operand) - (rank - static_cast<int64_t>(made.lead)), 0);
    if (llvm::all_of(shapeOf(operand).take_front(lead), [](int64_t size) { return size == 1; }))
      continue;
    if (made.order || lead != made.lead || !readOutside(call, operand, shapeOf(first).take_front(lead)) ||
        rowsOf(operand)->unit == -2)
      return false;
  }
  for (Value result : call.getResults())
    if (rankOf(result) != rank || shapeOf(result).take_front(made.lead) != shapeOf(first).take_front(made.lead))
      return false;
  step(RoutedStep::compute, call, {}, {});
  for (Value result : call.getResults())
    define(result, made);
  return true;
}
