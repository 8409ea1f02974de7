//===- draws.h - random numbers of a tensor's elements -----------*- C++ -*-===//
//
// Element n of a whole tensor, in row-major order, has word n of a stream
// (philox.h), whatever part of the tensor a rank holds and however often it asks.
// `shape` is that of the whole tensor and `offset` where the given part lies in it;
// empty: it is the whole.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_RANDOM_DRAWS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_RANDOM_DRAWS_H

#include "runtime/base/philox.h"
#include "runtime/tensor/torch/kernels/random/part_of_whole.h"

namespace meshplan {

/// Which words the elements of a tensor have. Tensors here are [] and hold whole numbers from 0 on, as the run gives
/// them.
struct Draws {
  std::optional<at::Tensor> seed, step; ///< must be given where anything is drawn
  int64_t number = 0;                   ///< tells the operators of a program apart
  std::optional<at::Tensor> microbatch; ///< none: there is one
  int64_t drawn = 0;                    ///< words of each microbatch before, which come first
};

/// Throws for what is no whole number or too large: a seed from 2^53, a step, a number or a microbatch from 2^32 on.
RandomStream randomStream(const Draws &draws);

/// Writes elements of `input` times 1 / (1 - p), or times 0 with probability p: where the word is below p * 2^32.
/// 16-bit elements are multiplied in f32. `out` may be `input`; both are row-major, of one type, and a part of the
/// whole.
void dropInto(const at::Tensor &out, const at::Tensor &input, const PartOfWhole &part, double p,
              const RandomStream &stream);

/// The same by operators of PyTorch, on any device.
at::Tensor dropByOperators(const at::Tensor &input, const PartOfWhole &part, double p, const RandomStream &stream);

/// meshplan.dropout: a row-major tensor like `input`.
at::Tensor dropout(const at::Tensor &input, const Draws &draws, double p, at::IntArrayRef shape,
                   at::IntArrayRef offset);

/// meshplan.uniform: a tensor of the given size with numbers in [0, 1), each its word's first digits: 32 in f64, 24 in
/// f32, 11 in f16, 8 in bf16.
at::Tensor uniform(const Draws &draws, at::IntArrayRef size, at::ScalarType dtype, at::IntArrayRef shape,
                   at::IntArrayRef offset);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_RANDOM_DRAWS_H
