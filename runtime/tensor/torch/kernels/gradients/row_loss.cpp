//===- row_loss.cpp - gradient of sharded losses --------------------------===//

#include "runtime/tensor/torch/kernels/gradients/row_loss.h"
#include "runtime/tensor/torch/kernels/accumulation.h"
#include "runtime/tensor/torch/kernels/embedding.h"

#include <ATen/ATen.h>

using namespace meshplan;

namespace {

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
static std::pair<at::Tensor, at::Tensor> classWeights(const RowLoss &loss, const at::TensorOptions &options) {
  if (!loss.classWeight)
    return {at::scalar_tensor(static_cast<double>(loss.classes), options), at::ones({}, options)};
  at::Tensor weight = loss.classWeight->to(options.dtype());
  return {weight.sum(), weight.narrow(0, loss.offset, loss.input.size(1))};
}

static RowFactors rowFactors(const at::Tensor &gradient, const RowLoss &loss) {
  at::TensorOptions options = loss.input.options().dtype(accumulationType(loss.input.scalar_type()));
  auto column = [&](const at::Tensor &tensor) { return tensor.to(options.dtype()).unsqueeze(1); };
  int64_t columns = loss.input.size(1);
  RowFactors rows;
  rows.ignored = loss.target.eq(loss.ignoreIndex).unsqueeze(1);
  at::Tensor ofRow = column(gradient).masked_fill(rows.ignored, 0);
  at::Tensor picked = loss.weight ? ofRow.mul(column(*loss.weight)) : ofRow, factor = picked;
  if (loss.labelSmoothing != 0) {
    at::Tensor sum;
    // The sum is over all classes, also those of other ranks, because a softmax of any column changes with each of
    // them.
    std::tie(sum, rows.classWeight) = classWeights(loss, options);
    rows.smoothing = ofRow.mul(loss.labelSmoothing / static_cast<double>(loss.classes));
    picked = picked.mul(1 - loss.labelSmoothing);
    // The softmax appears in the loss of the target and, through smoothing, once per class.
    factor = picked.add(rows.smoothing.mul(sum));
  }
  if (loss.max) {
    rows.max = column(*loss.max);
    rows.factor = factor.div(column(*loss.sumExp));
  }
  at::Tensor local = loss.target.to(at::kLong).unsqueeze(1) - loss.offset;
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

at::Tensor meshplan::rowLossGradient(const at::Tensor &gradient, const RowLoss &loss) {
  const at::Tensor &input = loss.input;
  TORCH_CHECK(input.dim() == 2, "input must have 2 dims, it has ", input.dim());
  TORCH_CHECK(loss.max.has_value() == loss.sumExp.has_value(), "max and sum_exp must be given both or not at all");
  int64_t count = input.size(0), columns = input.size(1), end = loss.offset + columns;
  TORCH_CHECK(loss.offset >= 0 && end <= loss.classes, "columns ", loss.offset, " to ", end, " are not all of the ",
              loss.classes, " classes");
  checkIndices(loss.target.masked_fill(loss.target.eq(loss.ignoreIndex), 0), loss.classes, "target");
  at::Tensor result = at::empty({count, columns}, input.options());
  if (result.numel() == 0)
    return result;
  RowFactors rows = rowFactors(gradient, loss);
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
