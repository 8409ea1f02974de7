//===- products.cpp - products of matrices --------------------------------===//

#include "runtime/tensor/torch/kernels/products.h"

#include <ATen/ATen.h>
#include <algorithm>

using namespace meshplan;

/// Number of elements of the second operand that are converted at a time: in f32 they stay in the cache of a core.
static constexpr int64_t blockElements = 1 << 18;

void meshplan::multiplyF32(const at::Tensor &result, const at::Tensor &self, const at::Tensor &other) {
  at::Tensor out = result;
  // cuBLAS accumulates in f32 and can return the sums without rounding.
  if (self.is_cuda()) {
    at::mm_out(out, self, other, at::kFloat);
    return;
  }
  // The operands differ in size: `other` is often a weight of many columns, of which a whole f32 copy would take twice
  // its memory.
  at::Tensor left = self.to(at::kFloat);
  int64_t columns = other.size(1), block = std::max<int64_t>(16, blockElements / std::max<int64_t>(1, other.size(0)));
  for (int64_t column = 0; column < columns; column += block) {
    int64_t count = std::min(block, columns - column);
    at::Tensor part = out.narrow(1, column, count);
    at::mm_out(part, left, other.narrow(1, column, count).to(at::kFloat));
  }
}

static at::Tensor matrixProduct(const at::Tensor &self, const at::Tensor &other) {
  at::Tensor result = at::empty({self.size(0), other.size(1)}, self.options().dtype(at::kFloat));
  multiplyF32(result, self, other);
  return result;
}

static at::Tensor batchProduct(const at::Tensor &self, const at::Tensor &other) {
  if (self.is_cuda())
    return at::bmm(self, other, at::kFloat);
  at::Tensor result = at::empty({self.size(0), self.size(1), other.size(2)}, self.options().dtype(at::kFloat));
  for (int64_t index = 0; index < self.size(0); ++index)
    multiplyF32(result.select(0, index), self.select(0, index), other.select(0, index));
  return result;
}

at::Tensor meshplan::matmulF32(const at::Tensor &self, const at::Tensor &other) {
  TORCH_CHECK(at::isReducedFloatingType(self.scalar_type()) && self.scalar_type() == other.scalar_type(),
              "both operands must have one 16-bit type, they have ", self.scalar_type(), " and ", other.scalar_type());
  bool isMatrix = self.dim() >= 2 && other.dim() == 2, isBatch = self.dim() == 3 && other.dim() == 3;
  TORCH_CHECK(!(isMatrix || isBatch) || self.size(-1) == other.size(-2), "cannot multiply ", self.sizes(), " with ",
              other.sizes());
  if (isMatrix) {
    std::vector<int64_t> sizes = self.sizes().vec();
    sizes.back() = other.size(1);
    return matrixProduct(self.dim() == 2 ? self : self.flatten(0, -2), other).view(sizes);
  }
  if (isBatch && self.size(0) == other.size(0))
    return batchProduct(self, other);
  // Broadcast batches are rare: two whole f32 copies are acceptable for them.
  return at::matmul(self.to(at::kFloat), other.to(at::kFloat));
}

at::Tensor meshplan::linearF32(const at::Tensor &input, const at::Tensor &weight) {
  TORCH_CHECK(weight.dim() == 2, "weight must have 2 dims, it has ", weight.dim());
  return matmulF32(input, weight.t());
}

/// Flattens all dims but the last. Rows without elements count too.
static at::Tensor asRows(const at::Tensor &tensor) {
  TORCH_CHECK(tensor.dim() >= 1, "an operand has no dims");
  return tensor.dim() == 1 ? tensor.unsqueeze(0) : tensor.flatten(0, -2);
}

static void checkRows(const at::Tensor &left, const at::Tensor &right) {
  TORCH_CHECK(left.dim() == right.dim() &&
                  left.sizes().slice(0, left.dim() - 1).equals(right.sizes().slice(0, right.dim() - 1)),
              "left ", left.sizes(), " and right ", right.sizes(), " differ in their number of rows");
}

at::Tensor meshplan::weightGradient(const at::Tensor &left, const at::Tensor &right) {
  checkRows(left, right);
  return at::mm(asRows(left).t(), asRows(right));
}

at::Tensor meshplan::weightGradientF32(const at::Tensor &left, const at::Tensor &right) {
  checkRows(left, right);
  return matmulF32(asRows(left).t(), asRows(right));
}

at::Tensor meshplan::rowMajorLinear(const at::Tensor &input, const at::Tensor &weight,
                                    const std::optional<at::Tensor> &bias) {
  return at::linear(input.contiguous(), weight, bias);
}
