//===- parts.h - selection along a sharded dim ------------------*- C++ -*-===//
//
// Selection along a dim that is sharded over ranks. Each rank holds some positions of [0, size), given by `positions`
// [n] in ascending order; a rank may hold any subset. Each function returns what the rank knows of the answer; the
// answer is the max or the sum over the ranks.
//
// Example: gather index 5 from 8 elements of which rank 0 holds positions 0-3 and rank 1 positions 4-7. Rank 0 returns
// 0, rank 1 returns its element 1; the sum is the element.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_PARTS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_PARTS_H

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <c10/util/OptionalArrayRef.h>
#include <optional>
#include <tuple>

namespace meshplan {

/// size - p, where p is the first position along `dim` at which self equals `extreme` (whose dim has extent 1) or is
/// NaN; 0 if there is none. The max over the ranks gives the first position of all.
at::Tensor extremePosition(const at::Tensor &self, const at::Tensor &extreme, const at::Tensor &positions, int64_t dim,
                           int64_t size);

/// aten.gather with indices into the whole dim: zero if another rank has the element. Fails for an index outside [0,
/// size).
at::Tensor gatherPart(const at::Tensor &self, const at::Tensor &index, const at::Tensor &positions, int64_t dim,
                      int64_t size);

/// aten.scatter with indices into the whole dim, or with `adds` aten.scatter_add; other ranks write their own
/// positions. Without `src`, `value` is written. Fails for an index outside [0, size).
at::Tensor scatterPart(const at::Tensor &self, const at::Tensor &index, const at::Tensor &positions, int64_t dim,
                       int64_t size, const std::optional<at::Tensor> &src, const at::Scalar &value, bool adds);

/// The gradient of gatherPart, of the rank's shape `size`: adds `source` where `index` is one of the rank's positions.
at::Tensor scatterSumPart(const at::Tensor &source, const at::Tensor &index, const at::Tensor &positions, int64_t dim,
                          at::IntArrayRef size);

/// aten.index with indices into the whole dim `dim`, of extent `size`, which must be one of the indexed dims: zero if
/// another rank has the element. The dims of the indices start at dim `firstIndexDim` of the result. Fails for an index
/// outside [0, size).
at::Tensor indexPart(const at::Tensor &self, const c10::List<std::optional<at::Tensor>> &indices,
                     const at::Tensor &positions, int64_t dim, int64_t size, int64_t firstIndexDim);

/// The gradient of indexPart, of the rank's shape `size`.
at::Tensor indexSumPart(const at::Tensor &source, const c10::List<std::optional<at::Tensor>> &indices,
                        const at::Tensor &positions, int64_t dim, at::IntArrayRef size, int64_t firstIndexDim);

/// The step of a sequential aten.topk that continues with the positions [begin, end) of the `size` along `dim`.
struct TopkStep {
  int64_t k = 0, dim = 0;
  bool largest = true;
  int64_t begin = 0, end = 0, size = 0;
};

/// One step of a sequential aten.topk. A rank has all of the step's positions or none. `values` and `indices` are the
/// heap after the earlier positions; absent at begin 0. Returns the heap; after the last of `size` positions, the
/// result of aten.topk. A rank without these positions returns the lowest numbers, so that the max over the ranks is
/// the result.
std::tuple<at::Tensor, at::Tensor> topkPart(const at::Tensor &self, const at::Tensor &positions,
                                            const std::optional<at::Tensor> &values,
                                            const std::optional<at::Tensor> &indices, const TopkStep &step);

/// The sum of `self` over `dim` (all dims if absent or empty), divided by `count`: an addend of the mean of `count`
/// elements, some of which `self` holds. 16-bit dtypes are accumulated in f32. The result has `dtype`, else that of
/// `self`.
at::Tensor meanAddend(const at::Tensor &self, at::OptionalIntArrayRef dim, bool keepdim,
                      std::optional<at::ScalarType> dtype, int64_t count);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_PARTS_H
