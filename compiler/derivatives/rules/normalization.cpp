//===- normalization.cpp - derivatives of softmax and norms ---------------===//
//
// Softmax has the derivative of ATen's own operator, from its result. Norms of rows have kernels of the runtime
// (runtime/tensor/torch/kernels): PyTorch's read statistics that the forward pass would have to keep, and these
// recompute them from the input. A batch norm with running statistics is linear in its input; one that computes
// statistics of the batch is differentiated at run time.
//
//===----------------------------------------------------------------------===//

#include "compiler/derivatives/arithmetic.h"
#include "compiler/derivatives/derivative_rules.h"
#include <numeric>

using namespace mlir;
using namespace meshplan;

/// Calls ATen's own backward operator, which takes the gradient and the result.
static void softmaxRule(Derivation &derivation, StringRef target) {
  Value result = derivation.result();
  derivation.give("self", derivation.make(target)
                              .tensor("grad_output", derivation.gradient())
                              .tensor("output", result)
                              .integer("dim", derivation.getView().getInt("dim", -1))
                              .type("input_dtype", elementOf(result))
                              .build(shapeOf(result), elementOf(result)));
}
static void plainSoftmaxRule(Derivation &derivation) { softmaxRule(derivation, "aten._softmax_backward_data.default"); }
static void logSoftmaxRule(Derivation &derivation) {
  softmaxRule(derivation, "aten._log_softmax_backward_data.default");
}

/// Norms of rows. `kernel` is the prefix of the runtime's kernels for the gradients of input and weight.
static void rowNormRule(Derivation &derivation, StringRef kernel) {
  const CallView &view = derivation.getView();
  for (unsigned index = 1; index < derivation.getCall().getNumResults(); ++index)
    if (derivation.gradient(index))
      return derivation.refuse("the statistics of a norm have no derivative");
  Value gradient = derivation.gradient(0), input = derivation.operand("input"), weight = derivation.operand("weight");
  if (!gradient)
    return;
  std::string inputTarget = ("meshplan." + kernel + "_input_gradient").str();
  std::string weightTarget = ("meshplan." + kernel + "_weight_gradient").str();
  auto begin = [&](StringRef target) {
    CallBuilder call = derivation.make(target);
    call.tensor("gradient", gradient).tensor("input", input);
    call.literal("normalized_shape", view.get("normalized_shape")).literal("eps", view.get("eps"));
    return call;
  };
  if (derivation.wants("input")) {
    CallBuilder call = begin(inputTarget);
    if (weight)
      call.tensor("weight", weight);
    derivation.give("input", call.build(shapeOf(input), elementOf(input)));
  }
  if (derivation.wants("weight"))
    derivation.give("weight", begin(weightTarget).build(shapeOf(weight), elementOf(input)));
  derivation.give("bias", gradient);
}

static void layerNormRule(Derivation &derivation) { rowNormRule(derivation, "layer_norm"); }
static void rmsNormRule(Derivation &derivation) { rowNormRule(derivation, "rms_norm"); }

/// 16-bit numbers as f32: rounding the scale of a feature would change all elements of the feature by the same error.
static Value widened(const Arithmetic &math, Value value) {
  bool isHalf = elementOf(value).getIntOrFloatBitWidth() == 16;
  return isHalf ? math.convert(value, Float32Type::get(value.getContext())) : value;
}

/// With running statistics a batch norm is a scale and a shift of each feature (dim 1). Computed in f32, as in PyTorch.
static void batchNormRule(Derivation &derivation) {
  Arithmetic math(derivation);
  const CallView &view = derivation.getView();
  Value input = derivation.operand("input"), mean = derivation.operand("running_mean");
  Value variance = derivation.operand("running_var"), weight = derivation.operand("weight");
  bool isTraining = view.getBool("training", false) || view.getBool("train", false);
  if (isTraining || !mean || !variance || !derivation.gradient(0))
    return differentiateAtRunTime(derivation);
  SmallVector<int64_t> column(rankOf(input), 1), others;
  column[1] = shapeOf(input)[1];
  for (int64_t dim = 0; dim < rankOf(input); ++dim)
    if (dim != 1)
      others.push_back(dim);
  variance = math.add(widened(math, variance), view.getFloat("eps", 1e-5));
  Value scale = math.reshape(math.unary("aten.rsqrt.default", variance), column);
  Value gradient = derivation.gradient(0);
  if (derivation.wants("input")) {
    Value slope = weight ? math.mul(scale, math.reshape(widened(math, weight), column)) : scale;
    derivation.give("input", math.mul(gradient, slope));
  }
  if (derivation.wants("weight")) {
    Value normalized = math.mul(math.sub(input, math.reshape(widened(math, mean), column)), scale);
    derivation.give("weight", math.sum(math.mul(gradient, normalized), others, /*keeps=*/false));
  }
  if (derivation.wants("bias"))
    derivation.give("bias", math.sum(gradient, others, /*keeps=*/false));
}

void meshplan::addNormalizationDerivatives(DerivativeTable &table) {
  for (StringRef target : {"softmax.int", "_softmax.default", "_safe_softmax.default"})
    table[("aten." + target).str()] = plainSoftmaxRule;
  table["aten.log_softmax.int"] = table["aten._log_softmax.default"] = logSoftmaxRule;
  table["aten.layer_norm.default"] = table["aten.native_layer_norm.default"] = layerNormRule;
  table["aten.rms_norm.default"] = table["aten._fused_rms_norm.default"] = rmsNormRule;
  table["aten.batch_norm.default"] = table["aten._native_batch_norm_legit_no_training.default"] = batchNormRule;
}
