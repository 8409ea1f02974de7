//===- convolution_memory.h - what convolutions hold -------------*- C++ -*-===//
//
// ATen on CPU, which leaves most of them to oneDNN: as metered with PyTorch 2.11 and one thread, on a processor with
// AVX-512 BF16. Shapes are local.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_CONVOLUTION_MEMORY_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_CONVOLUTION_MEMORY_H

#include "mlir/IR/BuiltinTypes.h"

namespace meshplan {

/// How elements of the result are made.
enum class ConvolutionKind {
  direct,     ///< each of a window of the source; weight [result's features, source's / groups, window..]
  transposed, ///< each of the source goes into a window; weight [source's features, result's / groups, window..]
  gradient,   ///< as transposed: the gradient of a direct one's input is made of that of its result
};

/// The number of groups follows from the shapes. source and result [batch, features, places..], row-major, of which the
/// source may have features innermost.
struct Convolution {
  ConvolutionKind kind = ConvolutionKind::direct;
  mlir::RankedTensorType source, weight, result;
  bool isDense = true;  ///< all strides are 1
  bool overlaps = true; ///< windows are wider than a stride
  bool isSourceChannelsLast = false;
};

/// Bytes that it holds besides its result.
int64_t convolutionBytes(const Convolution &call);

/// Bytes that the gradient of the weight of a direct one holds besides it.
int64_t weightGradientBytes(const Convolution &call);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_CONVOLUTION_MEMORY_H
