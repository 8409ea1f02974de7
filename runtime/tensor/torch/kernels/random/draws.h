//===- draws.h - random numbers of a tensor's elements -----------*- C++ -*-===//
//
// Element n of a whole tensor, in row-major order, has word n of a stream
// (philox.h), whatever part of the tensor a rank holds and however often it asks.
// Seed and step are tensors without dims, whole numbers from 0 on, as the run gives
// them; `number` tells the operators of a program apart. `shape` is that of the
// whole tensor and `offset` where the given part lies in it; empty: it is the whole.
// Of a `microbatch`, whose number is a tensor like the seed, the words follow the
// `drawn` ones of each microbatch before.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_RANDOM_DRAWS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_RANDOM_DRAWS_H

#include "runtime/base/philox.h"
#include "runtime/tensor/torch/kernels/random/part_of_whole.h"

namespace meshplan {

/// Throws for what is no whole number or too large: a seed from 2^53, a step, a number or a microbatch from 2^32 on.
RandomStream randomStream(const at::Tensor &seed, const at::Tensor &step, int64_t number,
                          const std::optional<at::Tensor> &microbatch = std::nullopt, int64_t drawn = 0);

/// Writes elements of `input` times 1 / (1 - p), or times 0 with probability p: where the word is below p * 2^32.
/// 16-bit elements are multiplied in f32. `out` may be `input`; both are row-major, of one type, and a part of the
/// whole.
void dropInto(const at::Tensor &out, const at::Tensor &input, const PartOfWhole &part, double p,
              const RandomStream &stream);

/// The same by operators of PyTorch, on any device.
at::Tensor dropByOperators(const at::Tensor &input, const PartOfWhole &part, double p, const RandomStream &stream);

/// meshplan.dropout: a row-major tensor like `input`.
at::Tensor dropout(const at::Tensor &input, const at::Tensor &seed, const at::Tensor &step, double p, int64_t number,
                   at::IntArrayRef shape, at::IntArrayRef offset,
                   const std::optional<at::Tensor> &microbatch = std::nullopt, int64_t drawn = 0);

/// meshplan.uniform: a tensor of the given size with numbers in [0, 1), each its word's first digits: 32 in f64, 24 in
/// f32, 11 in f16, 8 in bf16.
at::Tensor uniform(const at::Tensor &seed, const at::Tensor &step, at::IntArrayRef size, int64_t number,
                   at::ScalarType dtype, at::IntArrayRef shape, at::IntArrayRef offset,
                   const std::optional<at::Tensor> &microbatch = std::nullopt, int64_t drawn = 0);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_RANDOM_DRAWS_H
