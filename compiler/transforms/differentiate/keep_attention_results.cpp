//===- keep_attention_results.cpp - forward results for fused gradients ---===//
//
// See KeepAttentionResults in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/attention_memory.h"
#include "compiler/transforms/differentiate/passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/schema/kernel_blocks.h"

namespace meshplan {
#define GEN_PASS_DEF_KEEPATTENTIONRESULTS
#include "compiler/transforms/differentiate/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// Mirrors hasDeviceKernel (runtime/tensor/torch/kernels/device_attention.h) for the forward call and its gradients.
static bool hasDeviceKernel(const CallView &call) {
  std::optional<AttentionSizes> sizes = AttentionSizes::of(call);
  if (!sizes || call.getOperand("mask") || call.getOperand("key_mask") || call.getFloat("softcap", 0) != 0 ||
      call.getFloat("dropout", 0) != 0)
    return false;
  bool isCounted = call.getBool("causal", false) || call.getInt("window", 0) > 0;
  return sizes->elementBytes == 2 && kernel_blocks::isFusedHeadSize(sizes->size, sizes->valueSize) &&
         (!isCounted || sizes->rows == sizes->keys);
}

/// The forward call of the same attention, or null.
static CallOp forwardOf(CallOp backward) {
  constexpr StringRef tensors[] = {"query", "key", "value"}, literals[] = {"causal", "window", "scale"};
  CallView own = CallView::of(backward);
  auto isSame = [&](CallOp other) {
    CallView view = CallView::of(other);
    return hasDeviceKernel(view) &&
           llvm::all_of(literals, [&](StringRef name) { return view.get(name) == own.get(name); }) &&
           llvm::all_of(tensors, [&](StringRef name) {
             return other.getOperand(*view.getOperand(name)) == backward.getOperand(*own.getOperand(name));
           });
  };
  // Derivatives do not refer to their forward call, so it is found by its operands. Without one the gradient recomputes
  // the weights.
  for (Operation *user : backward.getOperand(*own.getOperand("query")).getUsers())
    if (auto call = dyn_cast<CallOp>(user); call && call.getTarget() == "meshplan.attention" && isSame(call))
      return call;
  return {};
}

static void addResults(CallOp backward, CallOp forward) {
  MLIRContext *context = backward.getContext();
  NamedAttrList args(backward.getArgs());
  constexpr StringRef names[] = {"out", "logsumexp"};
  for (auto [name, result] : llvm::zip(names, forward.getResults())) {
    args.set(name, OperandRefAttr::get(context, backward.getNumOperands()));
    backward.getOperandsMutable().append(result);
  }
  backward.setArgsAttr(args.getDictionary(context));
}

namespace {
struct KeepAttentionResults : meshplan::impl::KeepAttentionResultsBase<KeepAttentionResults> {
  using KeepAttentionResultsBase::KeepAttentionResultsBase;

  void runOnOperation() override {
    if (device != "cuda")
      return;
    getOperation().walk([](CallOp call) {
      if (call.getTarget() != "meshplan.attention_backward" || !hasDeviceKernel(CallView::of(call)))
        return;
      if (CallOp forward = forwardOf(call))
        addResults(call, forward);
    });
  }
};
} // namespace
