//===- parts.h - elements of a part of a dim ---------------------*- C++ -*-===//
//
// Of a dim that is divided over ranks each has some places, `places` [n] in
// rising order, of 0 to `size`. What it gives is what it knows of them; the
// largest or the sum over the ranks is the answer. Any places may be missing.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_PARTS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_PARTS_H

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <optional>
#include <tuple>

namespace meshplan {

/// size - the first place along `dim` of an element of self that is `extreme`, whose dim has size 1, or that is no
/// number; 0 if there is none. The largest over the ranks tells the first place of all.
at::Tensor extremePlace(const at::Tensor &self, const at::Tensor &extreme, const at::Tensor &places, int64_t dim,
                        int64_t size);

/// aten.gather of places of the whole dim: zero where another rank has the element. Fails for an index outside of
/// [0, size).
at::Tensor gatherPart(const at::Tensor &self, const at::Tensor &index, const at::Tensor &places, int64_t dim,
                      int64_t size);

/// aten.scatter of places of the whole dim, or with `adds` aten.scatter_add: what is written at places of other ranks
/// they write. Without `src` each element written is `value`. Fails for an index outside of [0, size).
at::Tensor scatterPart(const at::Tensor &self, const at::Tensor &index, const at::Tensor &places, int64_t dim,
                       int64_t size, const std::optional<at::Tensor> &src, const at::Scalar &value, bool adds);

/// The gradient of gatherPart, of `size`, which is that of a rank: `source` added where `index` names one of the
/// places.
at::Tensor scatterSumPart(const at::Tensor &source, const at::Tensor &index, const at::Tensor &places, int64_t dim,
                          at::IntArrayRef size);

/// aten.index of places of the whole dim `dim`, of `size`, which is one of those that `indices` choose from: zero where
/// another rank has the element. The dims of the indices stand at `place` of the result. Fails for a place outside of
/// [0, size).
at::Tensor indexPart(const at::Tensor &self, const c10::List<std::optional<at::Tensor>> &indices,
                     const at::Tensor &places, int64_t dim, int64_t size, int64_t place);

/// The gradient of indexPart, of `size`, which is that of a rank.
at::Tensor indexSumPart(const at::Tensor &source, const c10::List<std::optional<at::Tensor>> &indices,
                        const at::Tensor &places, int64_t dim, at::IntArrayRef size, int64_t place);

/// The places [begin, end) of the `size` of a dim, with which aten.topk goes on.
struct TopkStep {
  int64_t k = 0, dim = 0;
  bool largest = true;
  int64_t begin = 0, end = 0, size = 0;
};

/// One step of aten.topk, of whose places a rank has all or none: `values` and `indices` are the heap after the steps
/// before, absent in the first. Gives the heap; in the last step what aten.topk gives. A rank without the places gives
/// the least numbers, of which the largest is any other.
std::tuple<at::Tensor, at::Tensor> topkPart(const at::Tensor &self, const at::Tensor &places,
                                            const std::optional<at::Tensor> &values,
                                            const std::optional<at::Tensor> &indices, const TopkStep &step);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_PARTS_H
