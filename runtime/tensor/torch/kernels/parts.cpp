//===- parts.cpp - selection along a sharded dim --------------------------===//

#include "runtime/tensor/torch/kernels/parts.h"
#include "runtime/tensor/torch/kernels/embedding.h"
#include "runtime/tensor/torch/kernels/gradients/indexed_sums.h"

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>

using namespace meshplan;

static void checkPlaces(const at::Tensor &self, const at::Tensor &positions, int64_t dim) {
  TORCH_CHECK(positions.dim() == 1 && positions.size(0) == self.size(dim), "positions ", positions.sizes(),
              " do not fit dim ", dim, " of ", self.sizes());
}

at::Tensor meshplan::extremePosition(const at::Tensor &self, const at::Tensor &extreme, const at::Tensor &positions,
                                     int64_t dim, int64_t size) {
  checkPlaces(self, positions, dim);
  if (self.size(dim) == 0)
    return at::zeros(extreme.sizes(), positions.options());
  at::Tensor isExtreme = self.eq(extreme);
  // NaN counts as the extreme value, as in torch.max.
  if (self.is_floating_point())
    isExtreme.logical_or_(self.ne(self));
  // max returns the first of equal elements, and so the first position of the extreme value.
  auto [isHere, first] = isExtreme.max(dim, /*keepdim=*/true);
  at::Tensor position = positions.index_select(0, first.reshape({-1})).reshape(first.sizes());
  // Encoded as size - position: a later max over the ranks then finds the first position, and 0 means none.
  return position.neg_().add_(size).mul_(isHere);
}

namespace {
/// For each index, whether it is one of the rank's positions, and its index among them; 0 if it is not.
struct Own {
  at::Tensor isOwn, position;
};
} // namespace

static Own find(const at::Tensor &index, const at::Tensor &positions) {
  // Binary search, since positions are ascending but need not be contiguous. Example: positions 1, 4, 6. Index 4 is
  // found at 1 and is its own; index 5 is found at 2, where 6 is, so another rank has it; index 7 is after the end and
  // is clamped.
  at::Tensor flat = index.reshape({-1}), position = at::searchsorted(positions, flat).clamp_max_(positions.size(0) - 1);
  at::Tensor isOwn = positions.index_select(0, position).eq(flat);
  position.mul_(isOwn);
  return {isOwn.reshape(index.sizes()), position.reshape(index.sizes())};
}

at::Tensor meshplan::gatherPart(const at::Tensor &self, const at::Tensor &index, const at::Tensor &positions,
                                int64_t dim, int64_t size) {
  checkPlaces(self, positions, dim);
  checkIndices(index, size, "index");
  if (self.size(dim) == 0)
    return at::zeros(index.sizes(), self.options());
  auto [isOwn, position] = find(index, positions);
  // Exactly one rank has each element and the others contribute 0, so the sum over the ranks is the element.
  return self.gather(dim, position).masked_fill_(isOwn.logical_not_(), 0);
}

at::Tensor meshplan::scatterPart(const at::Tensor &self, const at::Tensor &index, const at::Tensor &positions,
                                 int64_t dim, int64_t size, const std::optional<at::Tensor> &src,
                                 const at::Scalar &value, bool adds) {
  checkPlaces(self, positions, dim);
  checkIndices(index, size, "index");
  int64_t own = self.size(dim);
  if (own == 0)
    return self.clone();
  auto [isOwn, position] = find(index, positions);
  // Indices of other ranks are redirected to an extra element at the end, which is then cut off.
  position.masked_fill_(isOwn.logical_not_(), own);
  at::Tensor written = at::cat({self, self.narrow(dim, 0, 1)}, dim);
  if (adds)
    written.scatter_add_(dim, position, *src);
  else if (src)
    written.scatter_(dim, position, *src);
  else
    written.scatter_(dim, position, value);
  return written.narrow(dim, 0, own).contiguous();
}

at::Tensor meshplan::scatterSumPart(const at::Tensor &source, const at::Tensor &index, const at::Tensor &positions,
                                    int64_t dim, at::IntArrayRef size) {
  if (positions.size(0) == 0)
    return at::zeros(size, source.options());
  auto [isOwn, position] = find(index, positions);
  return scatterSum(source.masked_fill(isOwn.logical_not_(), 0), position, dim, size);
}

namespace {
/// Indices with one dim mapped to the rank's positions, and for each selected element whether the rank has it.
struct OwnIndices {
  c10::List<std::optional<at::Tensor>> indices;
  at::Tensor isOwn;

  /// Zeros the elements of `found` that the rank does not have. The dims of the indices start at dim `firstIndexDim` of
  /// `found`.
  at::Tensor keep(const at::Tensor &found, int64_t firstIndexDim) const {
    std::vector<int64_t> aligned(firstIndexDim, 1);
    aligned.insert(aligned.end(), isOwn.sizes().begin(), isOwn.sizes().end());
    aligned.resize(found.dim(), 1);
    return found.masked_fill(isOwn.reshape(aligned).logical_not(), 0);
  }
};
} // namespace

static OwnIndices findAlong(const c10::List<std::optional<at::Tensor>> &indices, const at::Tensor &positions,
                            int64_t dim) {
  auto [isOwn, position] = find(*indices.get(dim), positions);
  OwnIndices own{indices.copy(), isOwn};
  own.indices.set(dim, position);
  std::vector<int64_t> shape(isOwn.sizes().vec());
  for (size_t index = 0; index < indices.size(); ++index)
    if (std::optional<at::Tensor> other = indices.get(index))
      // Index tensors are broadcast together.
      shape = at::infer_size(shape, other->sizes());
  own.isOwn = isOwn.expand(shape);
  return own;
}

at::Tensor meshplan::indexPart(const at::Tensor &self, const c10::List<std::optional<at::Tensor>> &indices,
                               const at::Tensor &positions, int64_t dim, int64_t size, int64_t firstIndexDim) {
  checkPlaces(self, positions, dim);
  at::Tensor chosen = *indices.get(dim);
  checkIndices(chosen, size, "index");
  if (self.size(dim) == 0) {
    // An empty dim cannot be indexed, so a dim of size 1 takes its place: only the shape of the result matters.
    std::vector<int64_t> one(self.sizes().vec());
    one[dim] = 1;
    c10::List<std::optional<at::Tensor>> first = indices.copy();
    first.set(dim, at::zeros_like(chosen));
    return at::zeros(one, self.options()).index(first);
  }
  OwnIndices own = findAlong(indices, positions, dim);
  return own.keep(self.index(own.indices), firstIndexDim);
}

at::Tensor meshplan::indexSumPart(const at::Tensor &source, const c10::List<std::optional<at::Tensor>> &indices,
                                  const at::Tensor &positions, int64_t dim, at::IntArrayRef size,
                                  int64_t firstIndexDim) {
  if (positions.size(0) == 0)
    return at::zeros(size, source.options());
  OwnIndices own = findAlong(indices, positions, dim);
  return indexSum(own.keep(source, firstIndexDim), own.indices, size);
}

at::Tensor meshplan::meanAddend(const at::Tensor &self, at::OptionalIntArrayRef dim, bool keepdim,
                                std::optional<at::ScalarType> dtype, int64_t count) {
  at::ScalarType type = dtype.value_or(self.scalar_type());
  TORCH_CHECK(at::isFloatingType(type), "the mean of ", type, " is not a number of that type");
  // The addends of all ranks are summed later, so each is rounded only once, at its end.
  at::ScalarType summed = at::isReducedFloatingType(type) ? at::kFloat : type;
  return at::sum(self, dim, keepdim, summed).div_(count).to(type);
}
