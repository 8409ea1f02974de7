//===- convolution_memory.h - memory of convolutions ------------*- C++ -*-===//
//
// ATen on CPU, which calls oneDNN for most convolutions: measured with PyTorch
// 2.11 and one thread, on a processor with AVX-512 BF16. Shapes are local.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_CONVOLUTION_MEMORY_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_CONVOLUTION_MEMORY_H

#include "mlir/IR/BuiltinTypes.h"

namespace meshplan {

/// How elements of the result are computed.
enum class ConvolutionKind {
  direct,     ///< each from a window of the source; weight [result features, source features / groups, window..]
  transposed, ///< each source element is added to a window; weight [features of source, features of result / groups,
              ///< window..]
  gradient,   ///< the gradient of the input of a direct one from that of its result; computed like `transposed`
};

/// source and result are [batch, features, positions..], row-major; the source may be channels-last. The number of
/// groups follows from the shapes.
struct Convolution {
  ConvolutionKind kind = ConvolutionKind::direct;
  mlir::RankedTensorType source, weight, result;
  bool isDense = true;  ///< all strides are 1
  bool overlaps = true; ///< windows are wider than the stride
  bool isSourceChannelsLast = false;
};

/// Bytes besides the result.
int64_t convolutionBytes(const Convolution &call);

/// Bytes that the gradient of the weight of a direct convolution needs besides it.
int64_t weightGradientBytes(const Convolution &call);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_CONVOLUTION_MEMORY_H
