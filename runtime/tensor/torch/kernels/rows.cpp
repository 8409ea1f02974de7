//===- rows.cpp - cross entropy over a divided vocabulary -----------------===//

#include "runtime/tensor/torch/kernels/rows.h"
#include "runtime/tensor/torch/kernels/indices.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <limits>

using namespace meshplan;

/// A block in f32 stays in the second-level cache of a core. On a GPU it keeps the device busy and is still far smaller
/// than the logits.
static int64_t blockElementsFor(const at::Tensor &input) { return input.is_cpu() ? 1 << 16 : 1 << 24; }

static at::ScalarType accumulationType(at::ScalarType type) {
  return type == at::kHalf || type == at::kBFloat16 ? at::kFloat : type;
}

static void checkRows(const at::Tensor &input) {
  TORCH_CHECK(input.dim() == 2, "input must have 2 dims, it has ", input.dim());
}

at::Tensor meshplan::rowMax(const at::Tensor &input) {
  checkRows(input);
  if (input.size(1) == 0)
    return at::full({input.size(0)}, -std::numeric_limits<double>::infinity(), input.options());
  return input.amax(1);
}

at::Tensor meshplan::rowSumExp(const at::Tensor &input, const at::Tensor &max) {
  checkRows(input);
  at::ScalarType type = accumulationType(input.scalar_type());
  int64_t rows = input.size(0),
          block = std::max<int64_t>(1, blockElementsFor(input) / std::max<int64_t>(1, input.size(1)));
  at::Tensor result = at::empty({rows}, input.options());
  at::Tensor maxColumn = max.to(type).unsqueeze(1);
  for (int64_t row = 0; row < rows; row += block) {
    int64_t count = std::min(block, rows - row);
    at::Tensor shifted = input.narrow(0, row, count).to(type) - maxColumn.narrow(0, row, count);
    result.narrow(0, row, count).copy_(shifted.exp_().sum(1));
  }
  return result;
}

at::Tensor meshplan::rowPick(const at::Tensor &input, const at::Tensor &target, int64_t offset) {
  checkRows(input);
  int64_t columns = input.size(1);
  if (columns == 0)
    return at::zeros({input.size(0)}, input.options());
  at::Tensor local = target - offset;
  at::Tensor outside = local.lt(0).logical_or_(local.ge(columns));
  at::Tensor picked = input.gather(1, local.clamp_(0, columns - 1).unsqueeze(1)).squeeze(1);
  return picked.masked_fill_(outside, 0);
}

at::Tensor meshplan::tokenLoss(const std::optional<at::Tensor> &max, const std::optional<at::Tensor> &sumExp,
                               const at::Tensor &picked, const at::Tensor &target, int64_t ignoreIndex,
                               int64_t classes) {
  if (classes > 0)
    checkIndices(target.masked_fill(target.eq(ignoreIndex), 0), classes, "target");
  at::Tensor ignored = target.eq(ignoreIndex);
  if (!max || !sumExp)
    return picked.neg().masked_fill_(ignored, 0);
  at::ScalarType type = accumulationType(picked.scalar_type());
  at::Tensor loss = sumExp->to(type).log().add_(max->to(type)).sub_(picked.to(type));
  return loss.masked_fill_(ignored, 0).to(picked.scalar_type());
}

at::Tensor meshplan::countTokens(const at::Tensor &target, int64_t ignoreIndex, at::ScalarType dtype) {
  return target.ne(ignoreIndex).sum().to(dtype);
}
