//===- fold_mask.cpp - folds an attention mask into properties ------------===//
//
// The mask of an attention is a tensor of the size of the scores, which a plan can hardly divide and a kernel must
// read. Most masks are functions of the positions. The folder reads the mask as an expression over batch b, head h,
// query q and key k, takes it apart into a conjunction, and keeps a tensor only for what remains:
//
//   part of the condition   becomes
//   k <= q                  causal
//   q - k < 4               window 4
//   %pad[b, k] != 0         key_mask, a tensor [batch, keys]
//   anything else           mask, a boolean tensor that exists in the program
//
// Each part must have exactly the effect of the mask, so a number that is added to hidden scores must make their
// weights zero (`hides`). Where anything is not understood, the mask stays as it is: that is correct, and only slower.

#include "compiler/transforms/import/attention/fold_mask.h"
#include "compiler/transforms/import/index_functions/real_bounds.h"
#include "dialect/plan/call_builder.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

/// True if a tensor of this shape, aligned at the last dim, broadcasts to the scores.
static bool broadcasts(ArrayRef<int64_t> shape, ArrayRef<int64_t> scores) {
  if (shape.size() > scores.size())
    return false;
  for (auto [extent, wanted] : llvm::zip(shape, scores.take_back(shape.size())))
    if (extent != 1 && extent != wanted)
      return false;
  return true;
}

std::optional<FoldedMask> MaskFolder::fold(Value mask, ScoreShape scores, plan::CallOp attention) {
  int64_t extents[] = {scores.batch, scores.heads, scores.queries, scores.keys};
  if (!broadcasts(typeOf(mask).getShape(), extents))
    return std::nullopt;
  SmallVector<Folded, 1> &known = done[mask];
  auto *found = llvm::find_if(known, [&](const Folded &folded) { return folded.scores == scores; });
  // All layers read the same mask: it is folded once.
  if (found != known.end())
    return found->mask;
  shape = scores;
  coordinates = coordinatesOf(functions.builder, extents);
  FoldedMask folded = foldWhole(mask, attention);
  known.push_back({scores, folded});
  return folded;
}

bool meshplan::hidesBesideOthers(double added, FloatType type) {
  // f16 is left out: its lowest number is -65504, and a score may be large enough that a hidden key keeps some weight.
  double lowest = APFloat::getLargest(type.getFloatSemantics(), /*Negative=*/true).convertToDouble();
  return added < 0 && (std::isinf(added) || (!type.isF16() && added == lowest));
}

/// True if keys at which the number is added have weight 0 in every row. In a row of only the lowest finite number the
/// softmax is uniform, so every query must see a key.
static bool hides(double added, FloatType type, bool everyQuerySeesAKey) {
  return hidesBesideOthers(added, type) && (std::isinf(added) || everyQuerySeesAKey);
}

/// The condition under which a query sees a key, and the number that is added elsewhere; nullopt if the mask does
/// something else or is not understood.
std::optional<AddedMask> MaskFolder::readMask(Value mask) {
  RankedTensorType type = typeOf(mask);
  Expr element = functions.at(mask, readExpanded(functions.builder, type.getShape(), coordinates));
  if (!element)
    return std::nullopt;
  if (isa<FloatType>(type.getElementType()))
    return asAddedMask(functions.builder, element);
  return element->type == ExprType::Boolean ? std::optional<AddedMask>({element, -INFINITY}) : std::nullopt;
}

bool meshplan::seesAKey(Expr condition, int64_t queries, int64_t keys) {
  return classifyMask(condition).seesItself() && keys >= queries;
}

FoldedMask MaskFolder::foldWhole(Value mask, plan::CallOp attention) {
  std::optional<AddedMask> read = readMask(mask);
  auto floatType = dyn_cast<FloatType>(typeOf(mask).getElementType());
  if (!read)
    return floatType ? foldAddends(mask, attention) : keep(mask, attention);
  // A finite number may leave a hidden key some weight; then only the mask itself is exact.
  bool mayShow = floatType && !read->condition->isTrue() &&
                 !hides(read->otherwise, floatType, seesAKey(read->condition, shape.queries, shape.keys));
  if (mayShow)
    return keep(mask, attention);
  return foldCondition(mask, read->condition, attention);
}

/// The tensor before copies and expansions.
static Value copiedFrom(Value value) {
  while (auto call = value.getDefiningOp<plan::CallOp>()) {
    bool copies = llvm::is_contained(
        {"aten.clone.default", "aten.contiguous.default", "aten.alias.default", "aten.expand.default"},
        call.getTarget());
    if (!copies)
      return value;
    value = call.getOperand(0);
  }
  return value;
}

/// Splits a sum into masks that hide keys and other addends. Nullopt if more than one addend is not such a mask.
std::optional<MaskAddends> MaskFolder::splitIntoAddends(Value mask) {
  MaskAddends addends;
  SmallVector<Value> open{mask};
  while (!open.empty()) {
    // Each step looks for the largest part that is a mask as a whole before it takes a sum apart.
    Value value = copiedFrom(open.pop_back_val());
    // As an addend, a boolean is the number 0 or 1, not a mask.
    if (typeOf(value).getElementType().isInteger(1))
      return std::nullopt;
    auto call = value.getDefiningOp<plan::CallOp>();
    CallView view = call ? CallView::of(call) : CallView();
    if (std::optional<AddedMask> read = readMask(value)) {
      addends.masks.push_back(*read);
    } else if (view.target == "aten.add.Tensor" && call.getNumOperands() == 2 && view.getFloat("alpha", 1) == 1) {
      // The left operand is visited first.
      open.append({call.getOperand(1), call.getOperand(0)});
    } else if (std::optional<AddedMask> fill = readFill(call, view)) {
      addends.masks.push_back(*fill);
      open.push_back(call.getOperand(*view.getOperand("self")));
    } else if (!addends.bias) {
      addends.bias = value;
    } else {
      return std::nullopt;
    }
  }
  return addends;
}

/// The mask of a call that replaces some elements of a tensor by a number.
std::optional<AddedMask> MaskFolder::readFill(plan::CallOp call, const CallView &view) {
  if (!call)
    return std::nullopt;
  bool fills = view.target == "aten.masked_fill.Scalar", keeps = view.target == "aten.where.ScalarOther";
  std::optional<unsigned> self = view.getOperand("self"), mask = view.getOperand(fills ? "mask" : "condition");
  if ((!fills && !keeps) || !self || !mask)
    return std::nullopt;
  std::optional<AddedMask> read = readMask(call.getOperand(*mask));
  Expr seen = read && fills ? functions.builder.logicalNot(read->condition) : read ? read->condition : nullptr;
  return seen ? std::optional<AddedMask>({seen, view.getFloat(fills ? "value" : "other", 0)}) : std::nullopt;
}

/// Folds those addends that hide keys into properties; one other addend may remain.
FoldedMask MaskFolder::foldAddends(Value mask, plan::CallOp attention) {
  std::optional<MaskAddends> addends = splitIntoAddends(mask);
  if (!addends || addends->masks.empty())
    return keep(mask, attention);
  Expr condition = functions.builder.logicalAnd(
      llvm::map_to_vector(addends->masks, [](const AddedMask &added) { return added.condition; }));
  if (!condition)
    return keep(mask, attention);
  // A finite number hides a key only beside a visible one, and only if the other addend cannot outweigh it.
  bool sees =
      seesAKey(condition, shape.queries, shape.keys) && (!addends->bias || isModerate(addends->bias, functions));
  auto type = cast<FloatType>(typeOf(mask).getElementType());
  for (const AddedMask &added : addends->masks)
    if (!added.condition->isTrue() && !hides(added.otherwise, type, sees))
      return keep(mask, attention);
  FoldedMask folded = foldCondition(mask, condition, attention);
  if (!addends->bias)
    return folded;
  // The op has a single mask operand: a boolean rest and another addend do not fit together.
  if (folded.mask)
    return keep(mask, attention);
  folded.mask = keep(addends->bias, attention).mask;
  return folded;
}

/// Keeps the mask as an operand, with four dims.
FoldedMask MaskFolder::keep(Value mask, plan::CallOp attention) {
  RankedTensorType type = typeOf(mask);
  FoldedMask kept;
  kept.mask = mask;
  if (type.getRank() == 4)
    return kept;
  SmallVector<int64_t> extents(4 - type.getRank(), 1);
  llvm::append_range(extents, type.getShape());
  kept.mask = CallBuilder("aten.reshape.default", attention)
                  .tensor("self", mask)
                  .integers("shape", extents)
                  .build(extents, type.getElementType());
  return kept;
}

FoldedMask MaskFolder::foldCondition(Value mask, Expr condition, plan::CallOp attention) {
  MaskForm form = classifyMask(condition);
  FoldedMask folded;
  folded.causal = form.causal;
  folded.window = form.window;
  if (!form.other.empty()) {
    folded.mask = findMask(mask, functions.builder.logicalAnd(form.other));
    if (!folded.mask)
      return keep(mask, attention);
  }
  if (!form.keys.empty()) {
    folded.keyMask = makeKeyMask(mask, form.keys, attention);
    if (!folded.keyMask)
      return keep(mask, attention);
  }
  return folded;
}

/// A tensor from which `mask` is computed and that equals this condition on its own.
Value MaskFolder::findMask(Value mask, Expr condition) {
  int64_t extents[] = {shape.batch, shape.heads, shape.queries, shape.keys};
  for (Value candidate : functions.sourcesOf(mask)) {
    RankedTensorType type = typeOf(candidate);
    // Only tensors that the program has already: building one would cost what folding is to save.
    if (candidate == mask || type.getRank() != 4 || !type.getElementType().isInteger(1) ||
        !broadcasts(type.getShape(), extents))
      continue;
    if (functions.at(candidate, readExpanded(functions.builder, type.getShape(), coordinates)) == condition)
      return candidate;
  }
  return {};
}

/// Combines all conditions into one tensor [batch, keys]; null if that is not possible.
Value MaskFolder::makeKeyMask(Value mask, ArrayRef<Expr> conditions, plan::CallOp attention) {
  if (Value found = findKeyMask(mask, functions.builder.logicalAnd(conditions), attention))
    return found;
  // No tensor has the whole conjunction; combine tensors that have its parts.
  Value all;
  for (Expr condition : conditions) {
    Value part = findKeyMask(mask, condition, attention);
    if (!part)
      return {};
    all = !all ? part
               : CallBuilder("aten.logical_and.default", attention)
                     .tensor("self", all)
                     .tensor("other", part)
                     .build({shape.batch, shape.keys}, typeOf(part).getElementType());
  }
  return all;
}

Value MaskFolder::findKeyMask(Value mask, Expr condition, plan::CallOp attention) {
  SmallVector<Value> found;
  llvm::copy_if(functions.sourcesOf(mask), std::back_inserter(found),
                [&](Value candidate) { return isKeyMask(candidate, condition); });
  if (found.empty())
    return {};
  int64_t extents[] = {shape.batch, shape.keys};
  // The exact shape needs no reshape and expand.
  auto *exact = llvm::find_if(found, [&](Value value) { return typeOf(value).getShape() == ArrayRef(extents); });
  return shapeKeyMask(exact == found.end() ? found.front() : *exact, !dependsOn(condition, batchDim), attention);
}

/// The dims of a tensor with more than one element.
static SmallVector<int64_t> longDims(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> dims;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (extent != 1)
      dims.push_back(dim);
  return dims;
}

/// True if the tensor equals the condition on batch and key: its dims of more than one element are those two, in this
/// order.
bool MaskFolder::isKeyMask(Value candidate, Expr condition) {
  RankedTensorType type = typeOf(candidate);
  SmallVector<int64_t> dims = longDims(type.getShape());
  if (!type.getElementType().isInteger(1) || dims.size() > 2)
    return false;
  Indices indices(type.getRank(), functions.builder.integer(0));
  Expr batch = coordinates[batchDim], key = coordinates[keyDim];
  if (dims.size() == 2) {
    if (type.getDimSize(dims[0]) != shape.batch || type.getDimSize(dims[1]) != shape.keys)
      return false;
    indices[dims[0]] = batch;
    indices[dims[1]] = key;
  } else if (dims.size() == 1) {
    bool byKey = !dependsOn(condition, batchDim);
    if (type.getDimSize(dims[0]) != (byKey ? shape.keys : shape.batch))
      return false;
    indices[dims[0]] = byKey ? key : batch;
  }
  return functions.at(candidate, indices) == condition;
}

/// Reshapes the tensor to [batch, keys]. A single dim of more than one element is the keys if `byKey`, else the batch.
Value MaskFolder::shapeKeyMask(Value found, bool byKey, plan::CallOp attention) {
  RankedTensorType type = typeOf(found);
  Type element = type.getElementType();
  int64_t extents[] = {shape.batch, shape.keys};
  if (type.getShape() == ArrayRef(extents))
    return found;
  SmallVector<int64_t> dims = longDims(type.getShape());
  SmallVector<int64_t> flat{1, 1};
  if (dims.size() == 2)
    flat = {shape.batch, shape.keys};
  else if (dims.size() == 1)
    flat[byKey] = type.getDimSize(dims[0]);
  if (type.getShape() != ArrayRef(flat))
    found = CallBuilder("aten.reshape.default", attention)
                .tensor("self", found)
                .integers("shape", flat)
                .build(flat, element);
  if (ArrayRef(flat) == ArrayRef(extents))
    return found;
  return CallBuilder("aten.expand.default", attention)
      .tensor("self", found)
      .integers("size", extents)
      .build(extents, element);
}
