//===- einsum_product.h - one product of an einsum --------------*- C++ -*-===//
//
// Computation and memory of ATen's sumproduct_pair.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_EINSUM_PRODUCT_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_EINSUM_PRODUCT_H

#include "compiler/sharding/op_record.h"

#include <string>

namespace meshplan {

/// A tensor each of whose dims has a letter.
struct LetteredTensor {
  std::string letters;
  llvm::SmallVector<int64_t> shape;
  Strides strides;
  int64_t elementBytes = 0;

  int64_t elements() const;
  int64_t bytes() const { return elements() * elementBytes; }
  /// 1 if the tensor does not have the letter.
  int64_t extent(char letter) const;
};

struct EinsumProduct {
  LetteredTensor result;
  int64_t flops = 0;
  int64_t workspaceBytes = 0; ///< held besides operands and result
};

/// The product of two tensors, summed over all letters that are not in `output`: a batched matrix product, or
/// elementwise if no letter is summed in the product. `order` has all letters of the equation: those of its result,
/// then the others sorted.
EinsumProduct multiply(const LetteredTensor &left, const LetteredTensor &right, llvm::StringRef order,
                       llvm::StringRef output);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_EINSUM_PRODUCT_H
