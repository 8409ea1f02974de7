//===- written_attention.cpp - attention as separate operators ------------===//
//
// Reads the pattern softmax(f(query x key^T)) x value, in which f scales, caps and masks the scores. The calls are read
// backwards from the softmax, because there the shape tells batch, heads, queries and keys; f is a chain, and each
// reader of a call continues with the operand that has the shape of the scores. Steps are recorded when the recursion
// returns, so they are in program order.
//
// Example: softmax(where(m, (q @ k^T) / 8, -inf)) @ v is read as
//
//   where     step: fill where not m with -inf   (recorded last)
//   div       scale 1/8
//   matmul    query q, key k^T; the chain ends
//
// Anything else ends the attempt, and the operators stay as they are.

#include "compiler/transforms/import/attention/written_attention.h"
#include "compiler/sharding/families/random_ops.h"
#include "compiler/sharding/op_record.h"
#include "compiler/transforms/import/movement_chain.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

/// The type of the scores that a call computes.
static FloatType scoreType(plan::CallOp call) { return cast<FloatType>(typeOf(call.getResult(0)).getElementType()); }

bool meshplan::hasMergedHeads(ArrayRef<int64_t> shape, const WrittenAttention &attention) {
  int64_t merged = attention.batch * attention.heads;
  return shape.size() == 3 && shape[0] == merged && merged != attention.heads;
}

namespace {

class WrittenAttentionReader {
public:
  explicit WrittenAttentionReader(IndexFunctions &functions) : functions(functions) {}

  std::optional<WrittenAttention> read(plan::CallOp softmax);

private:
  bool isScores(Value value) const;
  Value sameScores(plan::CallOp call, const CallView &view) const;
  plan::CallOp findProduct(Value probabilities);
  bool readDropout(plan::CallOp call, const CallView &view);
  bool readScores(Value scores);
  bool readBefore(ScoreStep step, Value scores);

  // One function for each operator; `call` is the call that `readScores` visits.
  bool readSame(plan::CallOp call, const CallView &view);
  bool readProduct(plan::CallOp call, const CallView &view);
  bool readAddedProduct(plan::CallOp call, const CallView &view);
  bool readSum(plan::CallOp call, const CallView &view);
  bool readMultiple(plan::CallOp call, const CallView &view);
  bool readQuotient(plan::CallOp call, const CallView &view);
  bool readTanh(plan::CallOp call, const CallView &view);
  bool readMaskedFill(plan::CallOp call, const CallView &view);
  bool readWhere(plan::CallOp call, const CallView &view);

  bool scaleBy(Value scores, std::optional<double> number);
  std::optional<double> numberOf(plan::CallOp call, const CallView &view, StringRef name);
  void takeScale(Value &matrices);
  bool fitsOperands();

  IndexFunctions &functions;
  WrittenAttention found;
  /// The calls are read backwards, from the softmax. Once a scale has been read, no other step may come before it.
  bool isScaled = false;
  /// Number of calls that may still be visited. A sum does not tell on which side the scores are.
  int budget = 64;
};

} // namespace

/// True for a tensor with all scores in order. Batch and heads are two dims or one.
bool WrittenAttentionReader::isScores(Value value) const {
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  return isa<FloatType>(typeOf(value).getElementType()) &&
         (shape == ArrayRef<int64_t>{found.batch, found.heads, found.queries, found.keys} ||
          shape == ArrayRef<int64_t>{found.batch * found.heads, found.queries, found.keys});
}

/// The operand of a call that returns the same scores in another shape or precision; or null.
Value WrittenAttentionReader::sameScores(plan::CallOp call, const CallView &view) const {
  bool keeps =
      llvm::StringSwitch<bool>(view.target)
          .Cases({"aten.view.default", "aten._unsafe_view.default", "aten.reshape.default", "aten.expand.default",
                  "aten.contiguous.default", "aten.clone.default", "aten.alias.default"},
                 true)
          .Cases({"aten.to.dtype", "aten.to.dtype_layout", "aten._to_copy.default"}, true)
          .Default(false);
  std::optional<unsigned> self = view.getOperand("self");
  return keeps && self && isScores(call.getOperand(*self)) && isScores(call.getResult(0)) ? call.getOperand(*self)
                                                                                          : Value();
}

/// True for products of two matrices without broadcasting.
static bool isProduct(const CallView &view) {
  return view.target == "aten.matmul.default" || view.target == "aten.bmm.default";
}

static std::optional<unsigned> rightOperand(const CallView &view) {
  return view.getOperand(view.get("mat2") ? "mat2" : "other");
}

/// Reads an active dropout, if it is the only one and its mask has no reader.
bool WrittenAttentionReader::readDropout(plan::CallOp call, const CallView &view) {
  bool isDropout = view.target == "aten.dropout.default" || view.target == "aten.native_dropout.default";
  if (!isDropout || !drawsRandomNumbers(view) || found.dropout != 0 || !isScores(call.getResult(0)))
    return false;
  found.dropout = view.getFloat("p", 0);
  return call.getNumResults() == 1 || call.getResult(1).use_empty();
}

/// The product with the values, if nothing else reads the probabilities, before and after dropout.
plan::CallOp WrittenAttentionReader::findProduct(Value probabilities) {
  while (probabilities.hasOneUse()) {
    auto call = dyn_cast<plan::CallOp>(*probabilities.user_begin());
    if (!call)
      return {};
    CallView view = CallView::of(call);
    if (readDropout(call, view)) {
      probabilities = call.getResult(0);
      continue;
    }
    if (call.getNumResults() != 1)
      return {};
    if (sameScores(call, view)) {
      probabilities = call.getResult(0);
      continue;
    }
    std::optional<unsigned> left = view.getOperand("self");
    bool reads = isProduct(view) && left && rightOperand(view) && call.getOperand(*left) == probabilities;
    return reads && isScores(probabilities) ? call : plan::CallOp();
  }
  return {};
}

/// The value of a literal argument, or of a tensor whose elements all have the same value.
std::optional<double> WrittenAttentionReader::numberOf(plan::CallOp call, const CallView &view, StringRef name) {
  if (std::optional<unsigned> operand = view.getOperand(name)) {
    Expr element = functions.of(call.getOperand(*operand));
    if (element && element->kind == ExprKind::Number)
      return element->number;
    return element && element->type == ExprType::Integer && element->isConstant()
               ? std::optional<double>(element->value)
               : std::nullopt;
  }
  Attribute argument = view.get(name);
  bool isNumber =
      isa_and_present<FloatAttr>(argument) || (isa_and_present<IntegerAttr>(argument) && !isa<BoolAttr>(argument));
  return isNumber ? std::optional(view.getFloat(name, 0)) : std::nullopt;
}

bool WrittenAttentionReader::readScores(Value scores) {
  auto call = scores.getDefiningOp<plan::CallOp>();
  if (!call || call.getNumResults() != 1 || !isScores(scores) || --budget < 0)
    return false;
  using Reader = bool (WrittenAttentionReader::*)(plan::CallOp, const CallView &);
  Reader reader =
      llvm::StringSwitch<Reader>(call.getTarget())
          .Cases({"aten.matmul.default", "aten.bmm.default"}, &WrittenAttentionReader::readProduct)
          .Case("aten.baddbmm.default", &WrittenAttentionReader::readAddedProduct)
          .Case("aten.add.Tensor", &WrittenAttentionReader::readSum)
          .Cases({"aten.mul.Tensor", "aten.mul.Scalar"}, &WrittenAttentionReader::readMultiple)
          .Cases({"aten.div.Tensor", "aten.div.Scalar"}, &WrittenAttentionReader::readQuotient)
          .Case("aten.tanh.default", &WrittenAttentionReader::readTanh)
          .Cases({"aten.masked_fill.Scalar", "aten.masked_fill.Tensor"}, &WrittenAttentionReader::readMaskedFill)
          .Cases({"aten.where.self", "aten.where.ScalarOther"}, &WrittenAttentionReader::readWhere)
          .Default(&WrittenAttentionReader::readSame);
  return (this->*reader)(call, CallView::of(call));
}

/// Reads the scores to which `step` is applied.
bool WrittenAttentionReader::readBefore(ScoreStep step, Value scores) {
  if (isScaled || !readScores(scores))
    return false;
  found.steps.push_back(step);
  return true;
}

bool WrittenAttentionReader::readSame(plan::CallOp call, const CallView &view) {
  Value same = sameScores(call, view);
  return same && readScores(same);
}

bool WrittenAttentionReader::readProduct(plan::CallOp call, const CallView &view) {
  std::optional<unsigned> left = view.getOperand("self"), right = rightOperand(view);
  if (!left || !right)
    return false;
  found.query = call.getOperand(*left);
  found.key = call.getOperand(*right);
  return true;
}

/// beta * self + alpha * (batch1 x batch2)
bool WrittenAttentionReader::readAddedProduct(plan::CallOp call, const CallView &view) {
  std::optional<unsigned> self = view.getOperand("self"), left = view.getOperand("batch1"),
                          right = view.getOperand("batch2");
  double beta = view.getFloat("beta", 1);
  bool isAdded = beta == 1 && !isScaled;
  if (!self || !left || !right || (!isAdded && beta != 0))
    return false;
  found.query = call.getOperand(*left);
  found.key = call.getOperand(*right);
  found.scale *= view.getFloat("alpha", 1);
  if (isAdded)
    found.steps.push_back({ScoreStep::add, call.getOperand(*self), scoreType(call)});
  return true;
}

bool WrittenAttentionReader::readSum(plan::CallOp call, const CallView &view) {
  std::optional<unsigned> self = view.getOperand("self"), other = view.getOperand("other");
  if (!self || !other || view.getFloat("alpha", 1) != 1)
    return false;
  // If the first side does not lead to the scores, what it has read is discarded.
  WrittenAttention before = found;
  bool wasScaled = isScaled;
  Value left = call.getOperand(*self), right = call.getOperand(*other);
  // Both sides may have the shape of the scores, as with a bias for each head.
  for (auto [scores, addend] : {std::pair(left, right), std::pair(right, left)}) {
    if (readBefore({ScoreStep::add, addend, scoreType(call)}, scores))
      return true;
    found = before;
    isScaled = wasScaled;
  }
  return false;
}

bool WrittenAttentionReader::scaleBy(Value scores, std::optional<double> number) {
  if (!number || *number == 0 || !std::isfinite(*number))
    return false;
  found.scale *= *number;
  isScaled = true;
  return readScores(scores);
}

bool WrittenAttentionReader::readMultiple(plan::CallOp call, const CallView &view) {
  std::optional<unsigned> self = view.getOperand("self");
  return self && scaleBy(call.getOperand(*self), numberOf(call, view, "other"));
}

bool WrittenAttentionReader::readQuotient(plan::CallOp call, const CallView &view) {
  std::optional<unsigned> self = view.getOperand("self");
  std::optional<double> divisor = numberOf(call, view, "other");
  return self && divisor && scaleBy(call.getOperand(*self), 1 / *divisor);
}

/// The result is multiplied by the cap; the operand is divided by it and scaled.
bool WrittenAttentionReader::readTanh(plan::CallOp call, const CallView &view) {
  std::optional<unsigned> self = view.getOperand("self");
  if (!self || found.softcap != 0)
    return false;
  // Reading backwards, what has been read is the factor after tanh: the cap. The quotient before tanh divides the scale
  // by it again, so that the scale ends as that of the product: cap * tanh(s * x / cap).
  found.softcap = found.scale;
  isScaled = true;
  return readScores(call.getOperand(*self));
}

bool WrittenAttentionReader::readMaskedFill(plan::CallOp call, const CallView &view) {
  std::optional<unsigned> self = view.getOperand("self"), mask = view.getOperand("mask");
  std::optional<double> number = numberOf(call, view, "value");
  return self && mask && number &&
         readBefore({ScoreStep::fillWhere, call.getOperand(*mask), scoreType(call), *number}, call.getOperand(*self));
}

bool WrittenAttentionReader::readWhere(plan::CallOp call, const CallView &view) {
  std::optional<unsigned> self = view.getOperand("self"), condition = view.getOperand("condition");
  std::optional<double> number = numberOf(call, view, "other");
  return self && condition && number &&
         readBefore({ScoreStep::fillWhereNot, call.getOperand(*condition), scoreType(call), *number},
                    call.getOperand(*self));
}

/// True if query, key and value have shapes that fit the scores.
bool WrittenAttentionReader::fitsOperands() {
  for (Value matrices : {found.query, found.key, found.value}) {
    ArrayRef<int64_t> shape = typeOf(matrices).getShape(), batch = shape.drop_back(std::min<size_t>(shape.size(), 2));
    if (batch != ArrayRef<int64_t>{found.batch, found.heads} && batch != ArrayRef<int64_t>{found.batch * found.heads})
      return false;
  }
  ArrayRef<int64_t> query = typeOf(found.query).getShape(), key = typeOf(found.key).getShape(),
                    value = typeOf(found.value).getShape();
  Type element = typeOf(found.query).getElementType();
  return query.end()[-2] == found.queries && query.back() == key.end()[-2] && key.back() == found.keys &&
         value.end()[-2] == found.keys && element == typeOf(found.key).getElementType() &&
         element == typeOf(found.value).getElementType() &&
         element == typeOf(found.product.getResult(0)).getElementType();
}

/// The batch and heads that the first dim of `matrices` merges, according to the views that merge them.
static std::pair<int64_t, int64_t> splitHeads(Value matrices) {
  MovementChain chain = movementChainOf(matrices);
  int64_t merged = typeOf(matrices).getDimSize(0);
  ArrayRef<unsigned> digits = chain.digits.dim(0);
  int64_t batch = digits.size() > 1 ? chain.digits.size(digits.front()) : 1;
  return {batch, merged / batch};
}

/// Moves factors of a matrix before the product into the scale.
void WrittenAttentionReader::takeScale(Value &matrices) {
  while (auto call = matrices.getDefiningOp<plan::CallOp>()) {
    CallView view = CallView::of(call);
    bool multiplies = llvm::is_contained({"aten.mul.Tensor", "aten.mul.Scalar"}, view.target),
         divides = llvm::is_contained({"aten.div.Tensor", "aten.div.Scalar"}, view.target);
    std::optional<unsigned> self = view.getOperand("self");
    std::optional<double> number = multiplies || divides ? numberOf(call, view, "other") : std::nullopt;
    if (!self || !number || *number == 0 || !std::isfinite(*number) ||
        call.getOperand(*self).getType() != matrices.getType())
      return;
    found.scale *= divides ? 1 / *number : *number;
    matrices = call.getOperand(*self);
  }
}

std::optional<WrittenAttention> WrittenAttentionReader::read(plan::CallOp softmax) {
  CallView view = CallView::of(softmax);
  std::optional<unsigned> self = view.getOperand("self");
  ArrayRef<int64_t> shape = view.results[0].getShape();
  int64_t rank = shape.size(), dim = view.getInt("dim", 0);
  if (!self || (rank != 3 && rank != 4) || (dim != rank - 1 && dim != -1))
    return std::nullopt;
  found.batch = rank == 4 ? shape[0] : 1;
  found.heads = shape.end()[-3];
  found.queries = shape.end()[-2];
  found.keys = shape.end()[-1];
  found.product = findProduct(softmax.getResult(0));
  if (!found.product)
    return std::nullopt;
  found.value = found.product.getOperand(*rightOperand(CallView::of(found.product)));
  if (rank == 3 && typeOf(found.value).getRank() == 3 && shape[0] != 0)
    // Three dims: batch and heads are merged. The views that merged them tell how many of each.
    std::tie(found.batch, found.heads) = splitHeads(found.value);
  if (!readScores(softmax.getOperand(*self)))
    return std::nullopt;
  takeScale(found.query);
  takeScale(found.key);
  return fitsOperands() ? std::optional(found) : std::nullopt;
}

std::optional<WrittenAttention> meshplan::readWrittenAttention(plan::CallOp softmax, IndexFunctions &functions) {
  return WrittenAttentionReader(functions).read(softmax);
}
