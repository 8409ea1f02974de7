//===- register.cpp - the runtime's kernels in the dispatcher -------------===//

#include "runtime/tensor/torch/kernels/register.h"

#include "runtime/tensor/torch/kernels/attention.h"
#include "runtime/tensor/torch/kernels/embedding.h"
#include "runtime/tensor/torch/kernels/exchanged_rows.h"
#include "runtime/tensor/torch/kernels/experts.h"
#include "runtime/tensor/torch/kernels/gradients/attention_gradient.h"
#include "runtime/tensor/torch/kernels/gradients/convolution.h"
#include "runtime/tensor/torch/kernels/gradients/indexed_sums.h"
#include "runtime/tensor/torch/kernels/gradients/norms.h"
#include "runtime/tensor/torch/kernels/gradients/row_loss.h"
#include "runtime/tensor/torch/kernels/grouped_mm.h"
#include "runtime/tensor/torch/kernels/groups.h"
#include "runtime/tensor/torch/kernels/parts.h"
#include "runtime/tensor/torch/kernels/products.h"
#include "runtime/tensor/torch/kernels/random/draws.h"
#include "runtime/tensor/torch/kernels/rows.h"
#include "runtime/tensor/torch/kernels/training/nonfinite.h"
#include "runtime/tensor/torch/kernels/training/optimizer.h"

#include <mutex>
#include <torch/library.h>

using namespace meshplan;

using torch::jit::pop, torch::jit::push;
using Stack = torch::jit::Stack;

/// aten::copy composed of operators that LibTorch can differentiate. The result does not depend on the elements of
/// `self`.
static at::Tensor composedCopy(const at::Tensor &self, const at::Tensor &src) {
  return src.to(self.options().dtype(self.scalar_type())).expand_as(self).clone(at::MemoryFormat::Contiguous);
}

// Kernels with many arguments take structs. These functions fill the structs from the stack of arguments of a call, in
// the order of the schema below, and push the results.

static void callAttention(const c10::OperatorHandle &, Stack *stack) {
  AttentionCall of;
  pop(stack, of.query, of.key, of.value, of.masks.mask, of.masks.keyMask, of.masks.causal, of.masks.window, of.scale,
      of.softcap, of.dropout, of.heads.perKey, of.heads.first, of.heads.firstKey, of.draws.seed, of.draws.step,
      of.draws.number, of.firstSample, of.allHeads, of.draws.microbatch, of.draws.drawn);
  auto [out, logsumexp] = attention(of);
  push(stack, out, logsumexp);
}

static void callAttentionBackward(const c10::OperatorHandle &, Stack *stack) {
  AttentionCall of;
  at::Tensor gradient;
  bool perHead = false;
  std::optional<at::Tensor> out, logsumexp;
  pop(stack, gradient, of.query, of.key, of.value, of.masks.mask, of.masks.keyMask, of.masks.causal, of.masks.window,
      of.scale, of.softcap, of.dropout, of.heads.perKey, of.heads.first, of.heads.firstKey, perHead, of.draws.seed,
      of.draws.step, of.draws.number, of.firstSample, of.allHeads, of.draws.microbatch, of.draws.drawn, out, logsumexp);
  auto [query, key, value] = attentionBackward(gradient, of, perHead, out, logsumexp);
  push(stack, query, key, value);
}

static void callAttentionMaskGradient(const c10::OperatorHandle &, Stack *stack) {
  AttentionCall of;
  at::Tensor gradient;
  pop(stack, gradient, of.query, of.key, of.value, of.masks.mask, of.masks.keyMask, of.masks.causal, of.masks.window,
      of.scale, of.softcap, of.dropout, of.heads.perKey, of.heads.first, of.heads.firstKey, of.draws.seed,
      of.draws.step, of.draws.number, of.firstSample, of.allHeads, of.draws.microbatch, of.draws.drawn);
  push(stack, attentionMaskGradient(gradient, of));
}

static void callGroupedConvolution(const c10::OperatorHandle &, Stack *stack) {
  at::Tensor input, weight;
  std::optional<at::Tensor> bias;
  ConvolutionForm form;
  pop(stack, input, weight, bias, form.stride, form.padding, form.dilation, form.mode, form.transposed,
      form.outputPadding, form.groupInputs);
  push(stack, groupedConvolution(input, weight, bias, form));
}

static void callTokenLoss(const c10::OperatorHandle &, Stack *stack) {
  TokenLoss row;
  pop(stack, row.max, row.sumExp, row.picked, row.target, row.ignoreIndex, row.classes, row.weight, row.rowSum,
      row.labelSmoothing);
  push(stack, tokenLoss(row));
}

static void callRowLossGradient(const c10::OperatorHandle &, Stack *stack) {
  at::Tensor gradient;
  RowLoss loss;
  pop(stack, gradient, loss.input, loss.target, loss.max, loss.sumExp, loss.weight, loss.classWeight, loss.ignoreIndex,
      loss.classes, loss.labelSmoothing, loss.offset);
  push(stack, rowLossGradient(gradient, loss));
}

static void callTopkPart(const c10::OperatorHandle &, Stack *stack) {
  at::Tensor self, positions;
  std::optional<at::Tensor> before, positionsBefore;
  TopkStep step;
  pop(stack, self, positions, before, positionsBefore, step.k, step.dim, step.largest, step.begin, step.end, step.size);
  auto [values, indices] = topkPart(self, positions, before, positionsBefore, step);
  push(stack, values, indices);
}

static void callDropout(const c10::OperatorHandle &, Stack *stack) {
  at::Tensor input;
  Draws draws;
  double p = 0;
  std::vector<int64_t> shape, offset;
  pop(stack, input, draws.seed, draws.step, p, draws.number, shape, offset, draws.microbatch, draws.drawn);
  push(stack, dropout(input, draws, p, shape, offset));
}

static void callDropoutRows(const c10::OperatorHandle &, Stack *stack) {
  at::Tensor rows, positions;
  Draws draws;
  double p = 0;
  int64_t features = 0, first = 0;
  pop(stack, rows, positions, draws.seed, draws.step, p, draws.number, features, first, draws.microbatch, draws.drawn);
  push(stack, dropoutRows(rows, positions, draws, p, features, first));
}

static void callUniform(const c10::OperatorHandle &, Stack *stack) {
  Draws draws;
  at::ScalarType dtype = at::kFloat;
  std::vector<int64_t> size, shape, offset;
  pop(stack, draws.seed, draws.step, size, draws.number, dtype, shape, offset, draws.microbatch, draws.drawn);
  push(stack, uniform(draws, size, dtype, shape, offset));
}

static void callAdam(const c10::OperatorHandle &, Stack *stack) {
  OptimizerStep step;
  at::Tensor average, squareAverage;
  AdamNumbers numbers;
  pop(stack, step.parameter, step.gradient, average, squareAverage, step.learningRate, step.step, step.factor,
      step.nonfinite, numbers.beta1, numbers.beta2, numbers.eps, numbers.weightDecay, numbers.decoupled);
  adamStep(step, average, squareAverage, numbers);
  push(stack, step.parameter, average, squareAverage);
}

static void callSgd(const c10::OperatorHandle &, Stack *stack) {
  OptimizerStep step;
  SgdNumbers numbers;
  pop(stack, step.parameter, step.gradient, step.learningRate, step.factor, step.nonfinite, numbers.weightDecay);
  sgdStep(step, {}, numbers);
  push(stack, step.parameter);
}

static void callSgdMomentum(const c10::OperatorHandle &, Stack *stack) {
  OptimizerStep step;
  at::Tensor momentum;
  SgdNumbers numbers;
  pop(stack, step.parameter, step.gradient, momentum, step.learningRate, step.step, step.factor, step.nonfinite,
      numbers.momentum, numbers.dampening, numbers.weightDecay, numbers.nesterov);
  sgdStep(step, momentum, numbers);
  push(stack, step.parameter, momentum);
}

template <c10::BoxedKernel::BoxedKernelFunction *call> static torch::CppFunction boxed() {
  return torch::CppFunction::makeFromBoxedFunction<call>();
}

/// Defines each operator: its name, arguments and results as schedules use them, and the function for all devices.
static void define(torch::Library &library) {
  library.def(
      "attention(Tensor query, Tensor key, Tensor value, Tensor? mask=None, Tensor? key_mask=None, "
      "bool causal=False, int window=0, *, float scale, float softcap=0., float dropout=0., int heads_per_key=0, "
      "int first_head=0, int first_key_head=0, Tensor? seed=None, Tensor? step=None, int number=0, int first_sample=0, "
      "int all_heads=0, Tensor? microbatch=None, int drawn=0) -> (Tensor out, Tensor logsumexp)",
      boxed<&callAttention>());
  library.def("embedding(Tensor weight, Tensor indices, int offset, int rows=-1) -> Tensor", &shardedEmbedding);
  library.def("grouped_mm(Tensor input, Tensor weight, Tensor offs) -> Tensor", &groupedMm);
  library.def("composed_grouped_mm(Tensor input, Tensor weight, Tensor offs) -> Tensor", &composedGroupedMm);
  library.def("grouped_convolution(Tensor input, Tensor weight, Tensor? bias=None, *, int[] stride, int[] padding=[], "
              "int[] dilation, str mode=\"\", bool transposed=False, int[] output_padding=[], int group_inputs=0) "
              "-> Tensor",
              boxed<&callGroupedConvolution>());
  library.def("group_norm(Tensor input, int group_features, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) "
              "-> Tensor",
              &groupNorm);
  library.def("composed_copy(Tensor self, Tensor src) -> Tensor", &composedCopy);
  library.def("mean_addend(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, int count) "
              "-> Tensor",
              &meanAddend);
  library.def("matmul_f32(Tensor self, Tensor other) -> Tensor", &matmulF32);
  library.def("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", &rowMajorLinear);
  library.def("linear_f32(Tensor input, Tensor weight) -> Tensor", &linearF32);
  // Cross-entropy over classes that are split: each rank reduces its columns, and collectives combine the rows'
  // results.
  library.def("row_max(Tensor input) -> Tensor", &rowMax);
  library.def("row_sum_exp(Tensor input, Tensor max) -> Tensor", &rowSumExp);
  library.def("row_sum_log_softmax(Tensor input, Tensor max, Tensor sum_exp, Tensor? weight=None) -> Tensor",
              &rowSumLogSoftmax);
  library.def("row_pick(Tensor input, Tensor target, int offset=0) -> Tensor", &rowPick);
  library.def("token_loss(Tensor? max=None, Tensor? sum_exp=None, *, Tensor picked, Tensor target, int ignore_index, "
              "int classes=-1, Tensor? weight=None, Tensor? row_sum=None, float label_smoothing=0.) -> Tensor",
              boxed<&callTokenLoss>());
  library.def("class_weight(Tensor weight, Tensor target, int ignore_index) -> Tensor", &classWeight);
  library.def("count_tokens(Tensor target, int ignore_index, ScalarType dtype) -> Tensor", &countTokens);
  // Indexing along a split dim: each rank works on the positions that it holds, which `positions` lists, and gives a
  // neutral element for all others. A collective then combines the results.
  library.def("extreme_position(Tensor self, Tensor extreme, Tensor positions, int dim, int size) -> Tensor",
              &extremePosition);
  library.def("gather_part(Tensor self, Tensor index, Tensor positions, int dim, int size) -> Tensor", &gatherPart);
  library.def("scatter_part(Tensor self, Tensor index, Tensor positions, int dim, int size, Tensor? src=None, "
              "Scalar value=0, bool adds=False) -> Tensor",
              &scatterPart);
  library.def(
      "index_part(Tensor self, Tensor?[] indices, Tensor positions, int dim, int size, int first_index_dim) -> Tensor",
      &indexPart);
  library.def("topk_part(Tensor self, Tensor positions, Tensor? values=None, Tensor? indices=None, *, int k, int dim, "
              "bool largest=True, int begin, int end, int size) -> (Tensor, Tensor)",
              boxed<&callTopkPart>());
  library.def(
      "dropout(Tensor input, Tensor seed, Tensor step, *, float p, int number, int[] shape=[], int[] offset=[], "
      "Tensor? microbatch=None, int drawn=0) "
      "-> Tensor",
      boxed<&callDropout>());
  library.def("dropout_rows(Tensor rows, Tensor positions, Tensor seed, Tensor step, *, float p, int number, "
              "int features=0, int first=0, Tensor? microbatch=None, int drawn=0) -> Tensor",
              boxed<&callDropoutRows>());
  library.def("uniform(Tensor seed, Tensor step, *, int[] size, int number, ScalarType dtype, int[] shape=[], "
              "int[] offset=[], Tensor? microbatch=None, int drawn=0) -> Tensor",
              boxed<&callUniform>());
}

static void defineGradients(torch::Library &library) {
  library.def("grouped_weight_gradient(Tensor left, Tensor right, Tensor offs) -> Tensor", &groupedWeightGradient);
  library.def("weight_gradient(Tensor left, Tensor right) -> Tensor", &weightGradient);
  library.def("weight_gradient_f32(Tensor left, Tensor right) -> Tensor", &weightGradientF32);
  library.def("convolution_input_gradient(Tensor gradient, Tensor input, Tensor weight, int[] stride, int[] padding, "
              "int[] dilation) -> Tensor",
              &convolutionInputGradient);
  library.def("convolution_weight_gradient(Tensor gradient, Tensor input, Tensor weight, int[] stride, int[] padding, "
              "int[] dilation) -> Tensor",
              &convolutionWeightGradient);
  library.def("attention_backward(Tensor gradient, Tensor query, Tensor key, Tensor value, "
              "Tensor? mask=None, Tensor? key_mask=None, bool causal=False, int window=0, *, "
              "float scale, float softcap=0., float dropout=0., int heads_per_key=0, int first_head=0, "
              "int first_key_head=0, bool per_head=False, Tensor? seed=None, Tensor? step=None, int number=0, "
              "int first_sample=0, int all_heads=0, Tensor? microbatch=None, int drawn=0, Tensor? out=None, "
              "Tensor? logsumexp=None) "
              "-> (Tensor query_gradient, Tensor key_gradient, Tensor value_gradient)",
              boxed<&callAttentionBackward>());
  library.def("attention_mask_gradient(Tensor gradient, Tensor query, Tensor key, Tensor value, "
              "Tensor? mask=None, Tensor? key_mask=None, bool causal=False, int window=0, *, "
              "float scale, float softcap=0., float dropout=0., int heads_per_key=0, int first_head=0, "
              "int first_key_head=0, Tensor? seed=None, Tensor? step=None, int number=0, int first_sample=0, "
              "int all_heads=0, Tensor? microbatch=None, int drawn=0) -> Tensor",
              boxed<&callAttentionMaskGradient>());
  library.def("sum_shared_heads(Tensor input, int groups, int heads_per_group, int first_head=0) -> Tensor",
              &sumSharedHeads);
  library.def("row_loss_gradient(Tensor gradient, Tensor input, Tensor target, Tensor? max=None, "
              "Tensor? sum_exp=None, Tensor? weight=None, Tensor? class_weight=None, *, int ignore_index, "
              "int classes, float label_smoothing=0., int offset=0) -> Tensor",
              boxed<&callRowLossGradient>());
  library.def("embedding_gradient(Tensor gradient, Tensor indices, Tensor? weight=None, int offset=0, "
              "int padding_idx=-1, bool scale_grad_by_freq=False, int rows=-1) -> Tensor",
              &embeddingGradient);
  library.def("scatter_sum(Tensor source, Tensor index, int dim, int[] size) -> Tensor", &scatterSum);
  library.def("scatter_sum_part(Tensor source, Tensor index, Tensor positions, int dim, int[] size) -> Tensor",
              &scatterSumPart);
  library.def("index_sum(Tensor source, Tensor?[] indices, int[] size) -> Tensor", &indexSum);
  library.def(
      "index_sum_part(Tensor source, Tensor?[] indices, Tensor positions, int dim, int[] size, int first_index_dim) "
      "-> Tensor",
      &indexSumPart);
  library.def("layer_norm_input_gradient(Tensor gradient, Tensor input, int[] normalized_shape, "
              "Tensor? weight=None, float eps=1e-5) -> Tensor",
              &layerNormInputGradient);
  library.def("layer_norm_weight_gradient(Tensor gradient, Tensor input, int[] normalized_shape, float eps=1e-5) "
              "-> Tensor",
              &layerNormWeightGradient);
  library.def("rms_norm_input_gradient(Tensor gradient, Tensor input, int[] normalized_shape, Tensor? weight=None, "
              "float? eps=None) -> Tensor",
              &rmsNormInputGradient);
  library.def("rms_norm_weight_gradient(Tensor gradient, Tensor input, int[] normalized_shape, float? eps=None) "
              "-> Tensor",
              &rmsNormWeightGradient);
}

/// Layers of experts. The rows of a rank are ordered by expert; `counts` is in host memory on every device.
static void defineExperts(torch::Library &library) {
  library.def("route(Tensor indices, int first, int experts) -> (Tensor table, Tensor counts)", &routeTokens);
  library.def("expert_tokens(Tensor counts, Tensor table) -> Tensor", &expertTokens);
  library.def("balanced_bias(Tensor bias, Tensor tokens, Tensor? nonfinite=None, *, float rate) -> Tensor",
              &balancedBias);
  library.def("drop_choices(Tensor indices, int experts, int most) -> Tensor", &dropChoices);
  library.def("counts_to_gather(Tensor counts, Tensor like) -> Tensor", &countsToGather);
  library.def("counts_on_host(Tensor self) -> Tensor", &countsOnHost);
  library.def("counts_of_experts(Tensor counts, int begin, int first, int experts) -> Tensor", &countsOfExperts);
  library.def("order_by_expert(Tensor arrivals, Tensor counts, int begin, int first, int experts) -> Tensor",
              &orderByExpert);
  library.def("order_by_rank(Tensor rows, Tensor counts, int begin, int first, int experts) -> Tensor", &orderByRank);
  library.def("dispatch(Tensor self, Tensor table, int slots) -> Tensor", &dispatchTokens);
  library.def("dispatch_gates(Tensor gates, Tensor table) -> Tensor", &dispatchGates);
  library.def("combine(Tensor rows, Tensor table, int slots, int[] size, *, ScalarType? dtype=None) -> Tensor",
              &combineTokens);
  library.def("collect_gates(Tensor rows, Tensor table, int[] size) -> Tensor", &collectGates);
  library.def("grouped_linear(Tensor rows, Tensor weight, Tensor counts, bool transposed=False) -> Tensor",
              &groupedLinear);
  library.def("grouped_linear_f32(Tensor rows, Tensor weight, Tensor counts, bool transposed=False) -> Tensor",
              &groupedLinearF32);
  library.def("grouped_bias(Tensor rows, Tensor bias, Tensor counts) -> Tensor", &groupedBias);
  library.def("grouped_linear_weight_gradient(Tensor gradient, Tensor rows, Tensor counts, bool transposed=False) "
              "-> Tensor",
              &groupedLinearWeightGradient);
  library.def("grouped_linear_weight_gradient_f32(Tensor gradient, Tensor rows, Tensor counts, bool transposed=False) "
              "-> Tensor",
              &groupedLinearWeightGradientF32);
  library.def("grouped_bias_gradient(Tensor gradient, Tensor counts) -> Tensor", &groupedBiasGradient);
}

static void defineTraining(torch::Library &library) {
  library.def("adam(Tensor(a!) parameter, Tensor gradient, Tensor(b!) average, Tensor(c!) square_average, "
              "Tensor learning_rate, Tensor step, Tensor? factor=None, Tensor? nonfinite=None, *, float beta1, "
              "float beta2, float eps, float weight_decay, bool decoupled) -> (Tensor(a!), Tensor(b!), Tensor(c!))",
              boxed<&callAdam>());
  library.def("sgd(Tensor(a!) parameter, Tensor gradient, Tensor learning_rate, Tensor? factor=None, "
              "Tensor? nonfinite=None, *, float weight_decay) -> Tensor(a!)",
              boxed<&callSgd>());
  library.def("sgd_momentum(Tensor(a!) parameter, Tensor gradient, Tensor(b!) momentum, Tensor learning_rate, "
              "Tensor step, Tensor? factor=None, Tensor? nonfinite=None, *, float rate, float dampening, "
              "float weight_decay, bool nesterov) -> (Tensor(a!), Tensor(b!))",
              boxed<&callSgdMomentum>());
  library.def("assign(Tensor(a!) self, Tensor source) -> Tensor(a!)", &assign);
  library.def("accumulate(Tensor(a!) self, Tensor addend) -> Tensor(a!)", &accumulate);
  library.def("take_microbatch(Tensor(a) self, Tensor index, int dim, int count) -> Tensor(a)", &takeMicrobatch);
  library.def("round_addends(Tensor self, *, ScalarType dtype) -> Tensor", &roundAddends);
  library.def("round_gradient(Tensor self, *, ScalarType dtype) -> Tensor", &roundAddends);
  library.def("square_sum(Tensor self) -> Tensor", &squareSum);
  library.def("nonfinite_count(Tensor self) -> Tensor", &nonfiniteCount);
  library.def("note_nonfinite(Tensor(a) self, *, str name, bool summed=False) -> Tensor(a)", &noteNonfinite);
  library.def("clip_factor(Tensor squared_norm, Tensor? scale=None, *, float limit) -> Tensor", &clipFactor);
}

void meshplan::registerKernels() {
  static std::once_flag once;
  // Never destroyed, because the dispatcher may be destroyed before this library at exit.
  std::call_once(once, [] {
    auto &library = *new torch::Library(torch::Library::DEF, "meshplan", std::nullopt, __FILE__, __LINE__);
    define(library);
    defineGradients(library);
    defineExperts(library);
    defineTraining(library);
  });
}
