//===- fold_attention.cpp - attention with properties and groups ----------===//
//
// See FoldAttention in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/op_record.h"
#include "compiler/transforms/import/attention/fold_mask.h"
#include "compiler/transforms/import/attention/repeated_heads.h"
#include "compiler/transforms/import/erase_unread.h"
#include "compiler/transforms/import/passes.h"
#include "dialect/plan/call_builder.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

namespace meshplan {
#define GEN_PASS_DEF_FOLDATTENTION
#include "compiler/transforms/import/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;

static constexpr StringRef attentionTarget = "meshplan.attention";
static constexpr StringRef torchTarget = "aten.scaled_dot_product_attention.default";

/// Views [batch, sequence, features] as [batch, 1, sequence, features].
static Value withOneHead(plan::CallOp call, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + 1, 1);
  return CallBuilder("aten.unsqueeze.default", call)
      .tensor("self", value)
      .integer("dim", 1)
      .build(shape, type.getElementType());
}

/// Rewrites PyTorch's attention on three dims to four dims; returns the call itself if it has four.
static plan::CallOp onFourDims(plan::CallOp call) {
  CallView view = CallView::of(call);
  auto has3 = [](Value operand) { return rankOf(operand) == 3; };
  bool isNarrow = view.target == torchTarget && call.getNumResults() == 1 && has3(call.getResult(0));
  for (StringRef name : {"query", "key", "value"}) {
    std::optional<unsigned> operand = view.getOperand(name);
    isNarrow &= operand && has3(call.getOperand(*operand));
  }
  if (!isNarrow)
    return call;
  SmallVector<Value> operands;
  for (Value operand : call.getOperands())
    operands.push_back(has3(operand) ? withOneHead(call, operand) : operand);
  auto type = cast<RankedTensorType>(call.getResult(0).getType());
  ArrayRef<int64_t> shape = type.getShape();
  OpBuilder builder(call);
  auto wide = plan::CallOp::create(builder, call.getLoc(),
                                   RankedTensorType::get({shape[0], 1, shape[1], shape[2]}, type.getElementType()),
                                   call.getTarget(), operands, call.getArgs(), call.getModuleAttr());
  plan::copyModuleRuns(wide, call);
  call.getResult(0).replaceAllUsesWith(CallBuilder("aten.squeeze.dim", call)
                                           .tensor("self", wide.getResult(0))
                                           .integer("dim", 1)
                                           .build(shape, type.getElementType()));
  return wide;
}

namespace {

/// The tensors of one attention, each [batch, heads, sequence, features].
struct Tensors {
  Value query, key, value;

  int64_t batch() const { return shapeOf(query)[0]; }
  int64_t heads() const { return shapeOf(query)[1]; }
  int64_t queries() const { return shapeOf(query)[2]; }
  int64_t features() const { return shapeOf(query)[3]; }
  int64_t keys() const { return shapeOf(key)[2]; }
};

class AttentionFolder {
public:
  void fold(plan::CallOp call) {
    CallView view = CallView::of(call);
    std::optional<Tensors> tensors = readTensors(call, view);
    if (!tensors)
      return;
    std::optional<FoldedMask> mask = foldMask(call, view, *tensors);
    if (!mask)
      return;
    takeSources(call, *tensors);
    replace(call, view, *tensors, *mask);
  }

private:
  /// True for calls of `plan-recognize-attention`; false for PyTorch's.
  static bool isOurs(const CallView &view) { return view.target == attentionTarget; }

  /// Nullopt unless the call is an attention on four dims whose mask is not folded yet.
  std::optional<Tensors> readTensors(plan::CallOp call, const CallView &view) {
    std::optional<unsigned> query = view.getOperand("query"), key = view.getOperand("key"),
                            value = view.getOperand("value");
    bool isFolded = view.get("causal") || view.get("window") || view.get("key_mask");
    if (!query || !key || !value || isFolded || call.getNumResults() != (isOurs(view) ? 2 : 1))
      return std::nullopt;
    Tensors tensors{call.getOperand(*query), call.getOperand(*key), call.getOperand(*value)};
    ArrayRef<int64_t> queryShape = shapeOf(tensors.query), keyShape = shapeOf(tensors.key),
                      valueShape = shapeOf(tensors.value);
    if (queryShape.size() != 4 || keyShape.size() != 4 || valueShape.size() != 4 ||
        keyShape.drop_back() != valueShape.drop_back() || queryShape[0] != keyShape[0] || queryShape[3] != keyShape[3])
      return std::nullopt;
    int64_t heads = queryShape[1], groups = keyShape[1];
    bool grouped = view.getBool("enable_gqa", false) && groups > 0 && heads % groups == 0;
    // A single key head broadcasts.
    return heads == groups || groups == 1 || grouped ? std::optional(tensors) : std::nullopt;
  }

  std::optional<FoldedMask> foldMask(plan::CallOp call, const CallView &view, const Tensors &tensors) {
    std::optional<unsigned> mask = view.getOperand(isOurs(view) ? "mask" : "attn_mask");
    bool causal = view.getBool("is_causal", false);
    if (!mask) {
      FoldedMask none;
      none.causal = causal;
      return none;
    }
    if (causal)
      return std::nullopt;
    return masks.fold(call.getOperand(*mask), {tensors.batch(), tensors.heads(), tensors.queries(), tensors.keys()},
                      call);
  }

  /// Reads keys and values before their heads are repeated, if both have the same number of groups.
  void takeSources(plan::CallOp call, Tensors &tensors) {
    HeadSource key = findHeadSource(functions.builder, tensors.key);
    HeadSource value = findHeadSource(functions.builder, tensors.value);
    // The op has one number of groups for both.
    if (key.groups != value.groups)
      return;
    tensors.key = inOrder(call, key);
    tensors.value = inOrder(call, value);
  }

  static Value inOrder(plan::CallOp call, const HeadSource &source) {
    if (!source.headsSecond)
      return source.value;
    auto type = cast<RankedTensorType>(source.value.getType());
    ArrayRef<int64_t> shape = type.getShape();
    return CallBuilder("aten.transpose.int", call)
        .tensor("self", source.value)
        .integer("dim0", 1)
        .integer("dim1", 2)
        .build({shape[0], shape[2], shape[1], shape[3]}, type.getElementType());
  }

  static void replace(plan::CallOp call, const CallView &view, const Tensors &tensors, const FoldedMask &mask) {
    CallBuilder builder(attentionTarget, call);
    builder.tensor("query", tensors.query).tensor("key", tensors.key).tensor("value", tensors.value);
    if (mask.mask)
      builder.tensor("mask", mask.mask);
    if (mask.keyMask)
      builder.tensor("key_mask", mask.keyMask);
    if (mask.causal)
      builder.flag("causal", true);
    if (mask.window != 0)
      builder.integer("window", mask.window);
    // An attention without features would divide by 0.
    double features = std::max<int64_t>(tensors.features(), 1);
    builder.number("scale", view.getFloat("scale", 1 / std::sqrt(features)));
    if (double softcap = view.getFloat("softcap", 0); softcap != 0)
      builder.number("softcap", softcap);
    if (double dropout = view.getFloat(isOurs(view) ? "dropout" : "dropout_p", 0); dropout != 0)
      builder.number("dropout", dropout);
    Type element = getElementTypeOrSelf(tensors.query.getType());
    // Kernels compute the sums of 16-bit attention in float32.
    Type sumType = element.isF64() ? element : Float32Type::get(call.getContext());
    auto logsumexp = RankedTensorType::get({tensors.batch(), tensors.heads(), tensors.queries()}, sumType);
    plan::CallOp folded = builder.build({call.getResult(0).getType(), logsumexp});
    for (OpResult result : call.getResults())
      result.replaceAllUsesWith(folded.getResult(result.getResultNumber()));
  }

  IndexFunctions functions;
  MaskFolder masks{functions};
};

struct FoldAttentionPass : meshplan::impl::FoldAttentionBase<FoldAttentionPass> {
  void runOnOperation() final {
    for (Block &block : getOperation().getBody()) {
      AttentionFolder folder;
      for (auto call : llvm::make_early_inc_range(block.getOps<plan::CallOp>()))
        if (call.getTarget() == torchTarget || call.getTarget() == attentionTarget)
          folder.fold(onFourDims(call));
      eraseUnread(block);
    }
  }
};

} // namespace
