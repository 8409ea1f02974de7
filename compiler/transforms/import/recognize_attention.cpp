//===- recognize_attention.cpp - recognizes separate attention ops --------===//
//
// See RecognizeAttention in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/op_record.h"
#include "compiler/transforms/import/attention/fold_mask.h"
#include "compiler/transforms/import/attention/hidden_rows.h"
#include "compiler/transforms/import/attention/written_attention.h"
#include "compiler/transforms/import/erase_unread.h"
#include "compiler/transforms/import/passes.h"
#include "dialect/plan/call_builder.h"

namespace meshplan {
#define GEN_PASS_DEF_RECOGNIZEATTENTION
#include "compiler/transforms/import/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

/// The tensor of `shape` [batch, heads, rows, columns] from which `matrices` is moved; or null. `matrices` has the same
/// elements, with batch and heads in one or two dims, and rows and columns in this order or transposed.
static Value findHeads(ExprBuilder &builder, Value matrices, ArrayRef<int64_t> shape, bool transposed) {
  Indices coordinates = coordinatesOf(builder, shape), inner{coordinates[2], coordinates[3]};
  if (llvm::is_contained(coordinates, nullptr))
    return {};
  if (transposed)
    std::swap(inner[0], inner[1]);
  Indices indices{coordinates[0], coordinates[1]};
  if (typeOf(matrices).getRank() == 3)
    indices = {builder.add(builder.multiply(coordinates[0], shape[1]), coordinates[1])};
  llvm::append_range(indices, inner);
  MovedRead at{matrices, indices};
  while (typeOf(at.operand).getShape() != shape || at.indices != coordinates) {
    std::optional<MovedRead> moved = readThroughMovement(builder, at.operand, at.indices);
    if (!moved)
      return {};
    at = std::move(*moved);
  }
  return at.operand;
}

namespace {

/// Replaces the steps of one attention by meshplan.attention, before its last product.
class AttentionWriter {
public:
  AttentionWriter(const WrittenAttention &attention, IndexFunctions &functions)
      : attention(attention), functions(functions), builder(functions.builder), last(attention.product) {}

  void write();

private:
  Value heads(Value matrices, int64_t rows, int64_t columns, bool transposed);
  std::optional<Value> makeMask();
  Value add(Value mask, Value addend);
  Value hiddenBy(const ScoreStep &step);
  Value fill(Value mask, const ScoreStep &step);
  Value withoutHiddenRows(Value query);
  Value withFourDims(Value tensor);
  void replaceProduct(Value out);

  const WrittenAttention &attention;
  IndexFunctions &functions;
  ExprBuilder &builder;
  plan::CallOp last;
  Value hidden; ///< positions at which any step replaces the score; null: none
};

} // namespace

/// `matrices` in the shape [batch, heads, rows, columns].
Value AttentionWriter::heads(Value matrices, int64_t rows, int64_t columns, bool transposed) {
  int64_t shape[] = {attention.batch, attention.heads, rows, columns};
  // Preferred to a reshape of merged heads: batch and heads stay separate dims, each of which the plan may divide.
  if (Value found = findHeads(builder, matrices, shape, transposed))
    return found;
  Type element = typeOf(matrices).getElementType();
  if (transposed) {
    SmallVector<int64_t> order(typeOf(matrices).getShape());
    std::swap(order.end()[-1], order.end()[-2]);
    matrices = CallBuilder("aten.transpose.int", last)
                   .tensor("self", matrices)
                   .integer("dim0", -2)
                   .integer("dim1", -1)
                   .build(order, element);
  }
  if (typeOf(matrices).getRank() == 4)
    return matrices;
  return CallBuilder("aten.reshape.default", last)
      .tensor("self", matrices)
      .integers("shape", shape)
      .build(shape, element);
}

/// Views batch and heads as two dims, as in masks.
Value AttentionWriter::withFourDims(Value tensor) {
  RankedTensorType type = typeOf(tensor);
  if (!hasMergedHeads(type.getShape(), attention))
    return tensor;
  int64_t shape[] = {attention.batch, attention.heads, type.getDimSize(1), type.getDimSize(2)};
  return CallBuilder("aten.reshape.default", last)
      .tensor("self", tensor)
      .integers("shape", shape)
      .build(shape, type.getElementType());
}

/// The broadcast shape of two compatible tensors.
static SmallVector<int64_t> broadcastShape(ArrayRef<int64_t> left, ArrayRef<int64_t> right) {
  if (left.size() < right.size())
    std::swap(left, right);
  SmallVector<int64_t> shape(left);
  for (size_t fromEnd = 1; fromEnd <= right.size(); ++fromEnd)
    if (shape.end()[-fromEnd] == 1)
      shape.end()[-fromEnd] = right.end()[-fromEnd];
  return shape;
}

Value AttentionWriter::add(Value mask, Value addend) {
  addend = withFourDims(addend);
  if (!mask)
    return addend;
  Type left = typeOf(mask).getElementType(), right = typeOf(addend).getElementType();
  return CallBuilder("aten.add.Tensor", last)
      .tensor("self", mask)
      .tensor("other", addend)
      .build(broadcastShape(typeOf(mask).getShape(), typeOf(addend).getShape()),
             left.getIntOrFloatBitWidth() < right.getIntOrFloatBitWidth() ? right : left);
}

/// The positions at which the step replaces scores.
Value AttentionWriter::hiddenBy(const ScoreStep &step) {
  Value tensor = withFourDims(step.tensor);
  if (step.kind == ScoreStep::fillWhere)
    return tensor;
  return CallBuilder("aten.logical_not.default", last)
      .tensor("self", tensor)
      .build(typeOf(tensor).getShape(), typeOf(tensor).getElementType());
}

/// Adds the step's number to the mask at the positions that it hides.
Value AttentionWriter::fill(Value mask, const ScoreStep &step) {
  Value here = hiddenBy(step);
  ArrayRef<int64_t> shape = typeOf(here).getShape();
  hidden = !hidden ? here
                   : CallBuilder("aten.logical_or.default", last)
                         .tensor("self", hidden)
                         .tensor("other", here)
                         .build(broadcastShape(typeOf(hidden).getShape(), shape), typeOf(here).getElementType());
  if (!mask)
    mask = CallBuilder("aten.zeros.default", last)
               .integers("size", shape)
               .type("dtype", step.type)
               .build(shape, step.type);
  else if (typeOf(mask).getElementType() != step.type)
    mask = CallBuilder("aten.to.dtype", last)
               .tensor("self", mask)
               .type("dtype", step.type)
               .build(typeOf(mask).getShape(), step.type);
  return CallBuilder("aten.masked_fill.Scalar", last)
      .tensor("self", mask)
      .tensor("mask", here)
      .number("value", step.number)
      .build(broadcastShape(typeOf(mask).getShape(), shape), step.type);
}

/// Combines all steps into one additive mask; null if there are none, nullopt if that is not possible.
std::optional<Value> AttentionWriter::makeMask() {
  for (const ScoreStep &step : attention.steps) {
    RankedTensorType type = typeOf(step.tensor);
    bool isAdded = step.kind == ScoreStep::add;
    if (isAdded ? !isa<FloatType>(type.getElementType()) : !type.getElementType().isInteger(1))
      return std::nullopt;
    // A number that does not hide the key replaces the score; adding it to the score would be different.
    if (!isAdded && (!hidesBesideOthers(step.number, step.type) || type.getRank() == 0))
      return std::nullopt;
  }
  Value mask;
  for (const ScoreStep &step : attention.steps)
    mask = step.kind == ScoreStep::add ? add(mask, step.tensor) : fill(mask, step);
  return mask;
}

/// The query with zeros in rows without any remaining score. Their scores are then zeros, so that only the numbers of
/// the mask are left in the row, as before, and neither query nor key gets a gradient from it.
Value AttentionWriter::withoutHiddenRows(Value query) {
  SmallVector<int64_t> shape(typeOf(hidden).getShape());
  shape.back() = 1;
  Value rows = CallBuilder("aten.all.dim", last)
                   .tensor("self", hidden)
                   .integer("dim", -1)
                   .flag("keepdim", true)
                   .build(shape, typeOf(hidden).getElementType());
  return CallBuilder("aten.masked_fill.Scalar", last)
      .tensor("self", query)
      .tensor("mask", rows)
      .number("value", 0)
      .build(typeOf(query).getShape(), typeOf(query).getElementType());
}

void AttentionWriter::write() {
  HiddenRows rows = findHiddenRows(attention, functions);
  std::optional<Value> mask = rows == HiddenRows::unknown ? std::nullopt : makeMask();
  if (!mask)
    return;
  int64_t features = typeOf(attention.query).getShape().back(), width = typeOf(attention.value).getShape().back();
  Value query = heads(attention.query, attention.queries, features, /*transposed=*/false);
  CallBuilder call("meshplan.attention", last);
  call.tensor("query", rows == HiddenRows::whole ? withoutHiddenRows(query) : query);
  call.tensor("key", heads(attention.key, attention.keys, features, /*transposed=*/true));
  call.tensor("value", heads(attention.value, attention.keys, width, /*transposed=*/false));
  if (*mask)
    call.tensor("mask", *mask);
  call.number("scale", attention.scale);
  if (attention.softcap != 0)
    call.number("softcap", attention.softcap);
  if (attention.dropout != 0)
    call.number("dropout", attention.dropout);
  Type element = typeOf(attention.query).getElementType();
  Type sumType = element.isF64() ? element : Float32Type::get(element.getContext());
  int64_t outShape[] = {attention.batch, attention.heads, attention.queries, width};
  Value out = call.build({RankedTensorType::get(outShape, element),
                          RankedTensorType::get(ArrayRef(outShape).drop_back(), sumType)})
                  .getResult(0);
  replaceProduct(out);
}

/// Makes the readers of the product read `out`. Reshapes that separate its batch and heads are no longer needed.
void AttentionWriter::replaceProduct(Value out) {
  Value product = last.getResult(0);
  ArrayRef<int64_t> shape = typeOf(product).getShape();
  if (typeOf(product) != typeOf(out)) {
    for (Operation *user : llvm::make_early_inc_range(product.getUsers())) {
      auto call = dyn_cast<plan::CallOp>(user);
      bool isShape =
          call && llvm::is_contained({"aten.view.default", "aten._unsafe_view.default", "aten.reshape.default"},
                                     call.getTarget());
      if (isShape && call.getResultTypes()[0] == out.getType())
        call.getResult(0).replaceAllUsesWith(out);
    }
    Value merged = CallBuilder("aten.reshape.default", last)
                       .tensor("self", out)
                       .integers("shape", shape)
                       .build(shape, typeOf(out).getElementType());
    product.replaceAllUsesWith(merged);
  } else {
    product.replaceAllUsesWith(out);
  }
}

namespace {

struct RecognizeAttentionPass : meshplan::impl::RecognizeAttentionBase<RecognizeAttentionPass> {
  void runOnOperation() final {
    for (Block &block : getOperation().getBody()) {
      // An unread mean of the probabilities would otherwise count as a reader.
      eraseUnread(block);
      IndexFunctions functions;
      for (auto call : block.getOps<plan::CallOp>()) {
        if (call.getTarget() != "aten.softmax.int" && call.getTarget() != "aten._softmax.default")
          continue;
        if (std::optional<WrittenAttention> attention = readWrittenAttention(call, functions))
          AttentionWriter(*attention, functions).write();
      }
      eraseUnread(block);
    }
  }
};

} // namespace
