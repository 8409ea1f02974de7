//===- memory.h - copies of strided operands in kernels ---------*- C++ -*-===//
//
// ATen on CPU. Shapes and strides are local.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_MEMORY_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_MEMORY_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// True if the operand is row-major.
bool isContiguous(const CallView &call, unsigned operand);

/// True if the last two dims are column-major matrices.
bool isTransposed(const CallView &call, unsigned operand);

/// Bytes of the operands that are not row-major: the copies of a kernel that only reads row-major operands.
int64_t contiguousBytes(const CallView &call);

/// The same for one tensor argument; 0 if the call does not have it.
int64_t contiguousBytes(const CallView &call, llvm::StringRef name);

/// The same for kernels that also read channels-last operands.
int64_t imageBytes(const CallView &call, llvm::StringRef name);

/// The cost of moving elements with a kernel that only reads row-major tensors.
OpCost rowMajorCopyCost(const CallView &call);

/// Bytes of the copy of a matrix that is neither row-major nor column-major, which products cannot read.
int64_t matrixBytes(const CallView &call, llvm::StringRef name);

/// Bytes of the copy that a reshape makes of an operand, after expanding it to `expanded`; 0 if the reshape is a view.
int64_t reshapeBytes(const CallView &call, unsigned operand, llvm::ArrayRef<int64_t> expanded,
                     llvm::ArrayRef<int64_t> shape);

/// True if ATen calls oneDNN for a convolution: for all but a few small shapes, and not for doubles. Shapes are [batch,
/// in, positions..] and [out, in / groups, window..]. Source: ATen's ConvParams::use_mkldnn.
bool isBlockedConvolution(mlir::RankedTensorType input, mlir::RankedTensorType weight, int64_t batch, int64_t groups);

/// Strides of results, for OpRecord::strides. `likeOperands`: an elementwise operator, which orders dims by all
/// operands; `likeCopy`: a copy of the first operand; `likeFirst`: an alias of the first operand; `likeImage`:
/// channels-last if the first operand is.
Strides likeOperands(const CallView &call, unsigned result);
Strides likeCopy(const CallView &call, unsigned result);
Strides likeFirst(const CallView &call, unsigned result);
Strides likeImage(const CallView &call, unsigned result);

/// Strides of the first operand with dims in another order: result dim i is operand dim order[i].
Strides permutedStrides(const CallView &call, llvm::ArrayRef<int64_t> order);

/// Strides of a result that reshapes the first operand.
Strides reshapedStrides(const CallView &call, unsigned result);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_MEMORY_H
