//===- wide_products.h - products of 16 bits in f32 -------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_WIDE_PRODUCTS_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_WIDE_PRODUCTS_H

#include <cstdint>

namespace meshplan {

/// Bytes that the runtime's product of two matrices of 16 bits in f32 holds besides its result
/// (runtime/tensor/torch/kernels/products.cpp): the first is converted whole, the second, whose columns have
/// `contracted` elements, in blocks of columns.
int64_t wideProductBytes(int64_t firstElements, int64_t secondElements, int64_t contracted);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_WIDE_PRODUCTS_H
