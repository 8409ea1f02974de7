//===- wide_products.h - memory of 16-bit products --------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_WIDE_PRODUCTS_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_WIDE_PRODUCTS_H

#include <cstdint>

namespace meshplan {

/// Bytes that the runtime's f32 product of two 16-bit matrices needs besides its result
/// (runtime/tensor/torch/kernels/products.cpp). The first matrix is converted as a whole; the second, whose columns
/// have `contracted` elements, in blocks of columns.
int64_t wideProductBytes(int64_t firstElements, int64_t secondElements, int64_t contracted);

/// [rows, contracted] x [contracted, columns]. In memory, the left operand may be a transpose.
struct MatrixProduct {
  int64_t rows = 0, contracted = 0, columns = 0;
  bool isLeftTransposed = false;
};

/// Bytes that a bf16 product with a bf16 result needs besides the result, on one thread: oneDNN's blocks of the
/// operands and of sums in f32. Measured with PyTorch 2.11 on a processor with AVX-512 BF16.
int64_t bf16ProductBytes(MatrixProduct product);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_WIDE_PRODUCTS_H
