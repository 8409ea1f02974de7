//===- memory.h - copies that kernels make of strided operands --*- C++ -*-===//
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

/// True if the matrices of its last two dims are column-major.
bool isTransposed(const CallView &call, unsigned operand);

/// Bytes of the operands that are not row-major: the copies of a kernel that reads only such.
int64_t contiguousBytes(const CallView &call);

/// The same of one tensor argument; 0 if the call does not have it.
int64_t contiguousBytes(const CallView &call, llvm::StringRef name);

/// The same for kernels that also read features innermost.
int64_t imageBytes(const CallView &call, llvm::StringRef name);

/// The cost of moving elements by a kernel that reads only row-major tensors.
OpCost rowMajorCopyCost(const CallView &call);

/// Bytes of the copy of a matrix of which neither rows nor columns are adjacent: products read only such.
int64_t matrixBytes(const CallView &call, llvm::StringRef name);

/// Bytes of the copy that a reshape of an operand, expanded to `expanded` first, makes; 0 if it is a view.
int64_t reshapeBytes(const CallView &call, unsigned operand, llvm::ArrayRef<int64_t> expanded,
                     llvm::ArrayRef<int64_t> shape);

/// True if ATen leaves a convolution to oneDNN: all but a few small shapes, and doubles. Shapes [batch, in, places..]
/// and [out, in / groups, window..]; source: ATen's ConvParams::use_mkldnn.
bool isBlockedConvolution(mlir::RankedTensorType input, mlir::RankedTensorType weight, int64_t batch, int64_t groups);

/// How results lie, for OpRecord::strides. `likeOperands`: as an elementwise operator orders the dims of all operands;
/// `likeCopy`: as a copy of the first operand; `likeFirst`: as the first operand, of which they are an alias;
/// `likeImage`: features innermost if those of the first operand are.
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
