//===- row_loss.cpp - gradient of sharded losses --------------------------===//

#include "runtime/tensor/torch/kernels/gradients/row_loss.h"
#include "runtime/tensor/torch/kernels/accumulation.h"
#include "runtime/tensor/torch/kernels/indices.h"

#include <ATen/ATen.h>

using namespace meshplan;

namespace {

struct LossForm {
  int64_t ignoreIndex, classes;
  double labelSmoothing;
  int64_t offset; // of the rank's columns
};

/// Per-row and per-column terms of the gradient, in the dtype of the computation. Row n of the result is factor[n]
/// exp(input - max[n]) - smoothing[n] classWeight, minus `picked` at its target.
struct RowFactors {
  at::Tensor max, factor;            // [N, 1]; undefined for log probabilities
  at::Tensor picked, column;         // [N, 1]; picked is 0 if the rank lacks the target's column
  at::Tensor smoothing, classWeight; // [N, 1], [C] or []; undefined without label smoothing
  at::Tensor ignored;                // [N, 1]
};

} // namespace

/// The sum of all class weights, and the weights of the rank's columns. Weights default to one.
static std::pair<at::Tensor, at::Tensor> classWeights(const std::optional<at::Tensor> &given, int64_t classes,
                                                      int64_t offset, int64_t columns,
                                                      const at::TensorOptions &options) {
  if (!given)
    return {at::scalar_tensor(static_cast<double>(classes), options), at::ones({}, options)};
  at::Tensor weight = given->to(options.dtype());
  return {weight.sum(), weight.narrow(0, offset, columns)};
}

static RowFactors rowFactors(const at::Tensor &gradient, const at::Tensor &input, const at::Tensor &target,
                             const std::optional<at::Tensor> &max, const std::optional<at::Tensor> &sumExp,
                             const std::optional<at::Tensor> &weight, const std::optional<at::Tensor> &classWeight,
                             const LossForm &form) {
  at::TensorOptions options = input.options().dtype(accumulationType(input.scalar_type()));
  auto column = [&](const at::Tensor &tensor) { return tensor.to(options.dtype()).unsqueeze(1); };
  int64_t columns = input.size(1);
  RowFactors rows;
  rows.ignored = target.eq(form.ignoreIndex).unsqueeze(1);
  at::Tensor loss = column(gradient).masked_fill(rows.ignored, 0);
  at::Tensor picked = weight ? loss.mul(column(*weight)) : loss, factor = picked;
  if (form.labelSmoothing != 0) {
    at::Tensor sum;
    std::tie(sum, rows.classWeight) = classWeights(classWeight, form.classes, form.offset, columns, options);
    rows.smoothing = loss.mul(form.labelSmoothing / static_cast<double>(form.classes));
    picked = picked.mul(1 - form.labelSmoothing);
    // The softmax appears in the loss of the target and, through smoothing, once per class.
    factor = picked.add(rows.smoothing.mul(sum));
  }
  if (max) {
    rows.max = column(*max);
    rows.factor = factor.div(column(*sumExp));
  }
  at::Tensor local = target.to(at::kLong).unsqueeze(1) - form.offset;
  // The column of the target belongs to one rank only; the others subtract 0.
  rows.picked = picked.masked_fill(local.lt(0).logical_or_(local.ge(columns)), 0);
  rows.column = local.clamp_(0, columns - 1);
  return rows;
}

/// Sets `block`, in the dtype of the computation, to the gradient of the rows from `row` on.
static void fillBlock(at::Tensor &block, const at::Tensor &input, const RowFactors &rows, int64_t row) {
  auto part = [&](const at::Tensor &tensor) { return tensor.narrow(0, row, block.size(0)); };
  if (rows.max.defined())
    at::sub_out(block, part(input), part(rows.max)).exp_().mul_(part(rows.factor));
  else
    block.zero_();
  if (rows.smoothing.defined())
    block.sub_(part(rows.smoothing) * rows.classWeight);
  block.scatter_add_(1, part(rows.column), part(rows.picked).neg());
  // A fill, so that ignored rows are zero even if the input is non-finite.
  block.masked_fill_(part(rows.ignored), 0);
}

at::Tensor meshplan::rowLossGradient(const at::Tensor &gradient, const at::Tensor &input, const at::Tensor &target,
                                     const std::optional<at::Tensor> &max, const std::optional<at::Tensor> &sumExp,
                                     const std::optional<at::Tensor> &weight,
                                     const std::optional<at::Tensor> &classWeight, int64_t ignoreIndex, int64_t classes,
                                     double labelSmoothing, int64_t offset) {
  TORCH_CHECK(input.dim() == 2, "input must have 2 dims, it has ", input.dim());
  TORCH_CHECK(max.has_value() == sumExp.has_value(), "max and sum_exp must be given both or not at all");
  int64_t count = input.size(0), columns = input.size(1);
  TORCH_CHECK(offset >= 0 && offset + columns <= classes, "columns ", offset, " to ", offset + columns,
              " are not all of the ", classes, " classes");
  checkIndices(target.masked_fill(target.eq(ignoreIndex), 0), classes, "target");
  at::Tensor result = at::empty({count, columns}, input.options());
  if (result.numel() == 0)
    return result;
  RowFactors rows = rowFactors(gradient, input, target, max, sumExp, weight, classWeight,
                               {ignoreIndex, classes, labelSmoothing, offset});
  at::ScalarType type = accumulationType(input.scalar_type());
  int64_t most = rowsAtATime(input, columns);
  for (int64_t row = 0; row < count; row += most) {
    at::Tensor part = result.narrow(0, row, std::min(most, count - row));
    // f32 is computed directly in the result; 16-bit types need a wide block, and are rounded once.
    at::Tensor block = type == part.scalar_type() ? part : at::empty(part.sizes(), part.options().dtype(type));
    fillBlock(block, input, rows, row);
    if (!block.is_same(part))
      part.copy_(block);
  }
  return result;
}
