//===- rows.cpp - cross entropy, sharded vocabulary -----------------------===//

#include "runtime/tensor/torch/kernels/rows.h"
#include "runtime/tensor/torch/kernels/accumulation.h"
#include "runtime/tensor/torch/kernels/embedding.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <limits>

using namespace meshplan;

static void checkRows(const at::Tensor &input) {
  TORCH_CHECK(input.dim() == 2, "input must have 2 dims, it has ", input.dim());
}

at::Tensor meshplan::rowMax(const at::Tensor &input) {
  checkRows(input);
  if (input.size(1) == 0)
    // The neutral element of a maximum: a rank without columns must not change the result of the others.
    return at::full({input.size(0)}, -std::numeric_limits<double>::infinity(), input.options());
  return input.amax(1);
}

/// [N, C], [N] to [N]: the row sums of `change` applied, in place, to input - max. It is called with a block of rows
/// and the index of the first row.
template <typename Change>
static at::Tensor sumShifted(const at::Tensor &input, const at::Tensor &max, const Change &change) {
  checkRows(input);
  at::ScalarType type = accumulationType(input.scalar_type());
  // In blocks of rows, so that no tensor of the logits' size is allocated in the wider type.
  int64_t rows = input.size(0), block = rowsAtATime(input, input.size(1));
  at::Tensor result = at::empty({rows}, input.options().dtype(type));
  at::Tensor maxColumn = max.to(type).unsqueeze(1);
  for (int64_t row = 0; row < rows; row += block) {
    int64_t count = std::min(block, rows - row);
    at::Tensor shifted = input.narrow(0, row, count) - maxColumn.narrow(0, row, count);
    change(shifted, row);
    result.narrow(0, row, count).copy_(shifted.sum(1));
  }
  return result;
}

at::Tensor meshplan::rowSumExp(const at::Tensor &input, const at::Tensor &max) {
  return sumShifted(input, max, [](at::Tensor &shifted, int64_t) { shifted.exp_(); });
}

at::Tensor meshplan::rowSumLogSoftmax(const at::Tensor &input, const at::Tensor &max, const at::Tensor &sumExp,
                                      const std::optional<at::Tensor> &weight) {
  at::ScalarType type = accumulationType(input.scalar_type());
  at::Tensor logColumn = sumExp.to(type).log().unsqueeze(1);
  return sumShifted(input, max, [&](at::Tensor &shifted, int64_t row) {
    shifted.sub_(logColumn.narrow(0, row, shifted.size(0)));
    if (weight)
      shifted.mul_(weight->to(type));
  });
}

at::Tensor meshplan::rowPick(const at::Tensor &input, const at::Tensor &target, int64_t offset) {
  checkRows(input);
  int64_t columns = input.size(1);
  // A clamp to an empty range would make an index of -1.
  if (columns == 0)
    return at::zeros({input.size(0)}, input.options());
  at::Tensor local = target - offset;
  // The class of another rank's columns contributes 0; the sum over the ranks is the logit.
  at::Tensor outside = local.lt(0).logical_or_(local.ge(columns));
  at::Tensor picked = input.gather(1, local.clamp_(0, columns - 1).unsqueeze(1)).squeeze(1);
  return picked.masked_fill_(outside, 0);
}

at::Tensor meshplan::classWeight(const at::Tensor &weight, const at::Tensor &target, int64_t ignoreIndex) {
  // The ignored index is usually out of range, so it is replaced before the lookup.
  at::Tensor ignored = target.eq(ignoreIndex), known = target.masked_fill(ignored, 0);
  TORCH_CHECK(weight.dim() == 1, "weight must have 1 dim, it has ", weight.dim());
  checkIndices(known, weight.size(0), "target");
  return weight.index_select(0, known).masked_fill_(ignored, 0);
}

at::Tensor meshplan::tokenLoss(const TokenLoss &row) {
  at::Tensor ignored = row.target.eq(row.ignoreIndex);
  if (row.classes > 0)
    checkIndices(row.target.masked_fill(ignored, 0), row.classes, "target");
  at::ScalarType type = accumulationType(row.picked.scalar_type());
  // Subtract the pick from the maximum first: the difference is exact if the loss is small. A sum rounded to the
  // magnitude of the maximum could have an error as large as the loss.
  at::Tensor picked = row.picked.to(type);
  at::Tensor loss =
      row.max && row.sumExp ? row.max->to(type).sub(picked).add_(row.sumExp->to(type).log()) : picked.neg();
  if (row.weight)
    loss.mul_(row.weight->to(type));
  if (row.rowSum) {
    TORCH_CHECK(row.classes > 0, "label smoothing needs the number of classes");
    loss.mul_(1 - row.labelSmoothing).sub_(row.rowSum->to(type), row.labelSmoothing / static_cast<double>(row.classes));
  }
  return loss.masked_fill_(ignored, 0).to(row.picked.scalar_type());
}

at::Tensor meshplan::countTokens(const at::Tensor &target, int64_t ignoreIndex, at::ScalarType dtype) {
  return target.ne(ignoreIndex).sum().to(dtype);
}
