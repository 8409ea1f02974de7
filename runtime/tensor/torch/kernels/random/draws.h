//===- draws.h - random elements of tensors ---------------------*- C++ -*-===//
//
// Counted random numbers of tensor elements. Element n of a whole tensor, in row-major order, uses word n of a stream
// (philox.h), whatever shard of the tensor a rank holds and however often it is computed. So a recomputed dropout mask
// equals the first one.
//
// `shape` is the shape of the whole tensor and `offset` the position of the rank's part in it; empty: the rank holds
// the whole tensor.
//
// Example: dropout of a [4, 6] tensor whose rank holds columns 3-5 (offset [0, 3]). Row 1 uses the words 9, 10 and 11.
// In microbatch 2 with drawn = 24, it uses the words 57, 58 and 59.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_RANDOM_DRAWS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_RANDOM_DRAWS_H

#include "runtime/base/philox.h"
#include "runtime/tensor/torch/kernels/random/part_of_whole.h"

namespace meshplan {

/// Which words of which stream an operator uses. The tensors are scalars with whole numbers, set by the run.
struct Draws {
  std::optional<at::Tensor> seed, step; ///< required if random numbers are drawn
  int64_t number = 0;                   ///< distinguishes the operators of a program
  std::optional<at::Tensor> microbatch; ///< number of the microbatch, from 0; absent: there is only one
  int64_t drawn = 0;                    ///< words that each microbatch uses, after those of the earlier ones
};

/// Throws if a number is not whole or too large: seed >= 2^53; step, number or microbatch >= 2^32.
RandomStream randomStream(const Draws &draws);

/// Writes the elements of `input` times 1 / (1 - p), or zero with probability p: if the word is below p * 2^32. 16-bit
/// elements are multiplied in f32. `out` may be `input`; both are row-major, of one dtype, and are the given part.
void dropInto(const at::Tensor &out, const at::Tensor &input, const PartOfWhole &part, double p,
              const RandomStream &stream);

/// As dropInto, by operators of PyTorch, on any device.
at::Tensor dropByOperators(const at::Tensor &input, const PartOfWhole &part, double p, const RandomStream &stream);

/// meshplan.dropout: returns a row-major tensor like `input`.
at::Tensor dropout(const at::Tensor &input, const Draws &draws, double p, at::IntArrayRef shape,
                   at::IntArrayRef offset);

/// meshplan.dropout_rows: row r of `rows` [R, F] is dropped as row positions[r] of a tensor with rows of `features`
/// elements, of which the rank has those from `first` on. 0 features: as many as `rows` have. Returns a row-major
/// tensor.
at::Tensor dropoutRows(const at::Tensor &rows, const at::Tensor &positions, const Draws &draws, double p,
                       int64_t features, int64_t first);

/// meshplan.uniform: a tensor of the given size with numbers in [0, 1), each made of the leading bits of its word: 32
/// for f64, 24 for f32, 11 for f16, 8 for bf16.
at::Tensor uniform(const Draws &draws, at::IntArrayRef size, at::ScalarType dtype, at::IntArrayRef shape,
                   at::IntArrayRef offset);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_RANDOM_DRAWS_H
