//===- wide_products.h - what products of 16 bits hold ----------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_WIDE_PRODUCTS_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_WIDE_PRODUCTS_H

#include <cstdint>

namespace meshplan {

/// Bytes that the runtime's product of two matrices of 16 bits in f32 holds besides its result
/// (runtime/tensor/torch/kernels/products.cpp): the first is converted whole, the second, whose columns have
/// `contracted` elements, in blocks of columns.
int64_t wideProductBytes(int64_t firstElements, int64_t secondElements, int64_t contracted);

/// [rows, contracted] x [contracted, columns]; as the left operand lies in memory, it may be a transpose.
struct MatrixProduct {
  int64_t rows = 0, contracted = 0, columns = 0;
  bool isLeftTransposed = false;
};

/// Bytes that a product of bf16 with a bf16 result holds besides it, on one thread: oneDNN's blocks of the operands and
/// of sums in f32, as metered with PyTorch 2.11 on a processor with AVX-512 BF16.
int64_t bf16ProductBytes(MatrixProduct product);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_WIDE_PRODUCTS_H
