//===- parts.cpp - elements of a part of a dim ----------------------------===//

#include "runtime/tensor/torch/kernels/parts.h"
#include "runtime/tensor/torch/kernels/gradients/placed_sums.h"
#include "runtime/tensor/torch/kernels/indices.h"

#include <ATen/ATen.h>

using namespace meshplan;

static void checkPlaces(const at::Tensor &self, const at::Tensor &places, int64_t dim) {
  TORCH_CHECK(places.dim() == 1 && places.size(0) == self.size(dim), "places ", places.sizes(), " do not fit dim ", dim,
              " of ", self.sizes());
}

at::Tensor meshplan::extremePlace(const at::Tensor &self, const at::Tensor &extreme, const at::Tensor &places,
                                  int64_t dim, int64_t size) {
  checkPlaces(self, places, dim);
  if (self.size(dim) == 0)
    return at::zeros(extreme.sizes(), places.options());
  at::Tensor isExtreme = self.eq(extreme);
  if (self.is_floating_point())
    isExtreme.logical_or_(self.ne(self));
  auto [isHere, first] = isExtreme.max(dim, /*keepdim=*/true);
  at::Tensor place = places.index_select(0, first.reshape({-1})).reshape(first.sizes());
  return place.neg_().add_(size).mul_(isHere);
}

namespace {
/// Of each index whether it is one of the places, and where among them; 0 if it is not.
struct Own {
  at::Tensor isOwn, position;
};
} // namespace

static Own find(const at::Tensor &index, const at::Tensor &places) {
  at::Tensor flat = index.reshape({-1}), position = at::searchsorted(places, flat).clamp_max_(places.size(0) - 1);
  at::Tensor isOwn = places.index_select(0, position).eq(flat);
  position.mul_(isOwn);
  return {isOwn.reshape(index.sizes()), position.reshape(index.sizes())};
}

at::Tensor meshplan::gatherPart(const at::Tensor &self, const at::Tensor &index, const at::Tensor &places, int64_t dim,
                                int64_t size) {
  checkPlaces(self, places, dim);
  checkIndices(index, size, "index");
  if (self.size(dim) == 0)
    return at::zeros(index.sizes(), self.options());
  auto [isOwn, position] = find(index, places);
  return self.gather(dim, position).masked_fill_(isOwn.logical_not_(), 0);
}

at::Tensor meshplan::scatterPart(const at::Tensor &self, const at::Tensor &index, const at::Tensor &places, int64_t dim,
                                 int64_t size, const std::optional<at::Tensor> &src, const at::Scalar &value,
                                 bool adds) {
  checkPlaces(self, places, dim);
  checkIndices(index, size, "index");
  int64_t own = self.size(dim);
  if (own == 0)
    return self.clone();
  auto [isOwn, position] = find(index, places);
  // What belongs to other ranks goes to a place behind the own ones.
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

at::Tensor meshplan::scatterSumPart(const at::Tensor &source, const at::Tensor &index, const at::Tensor &places,
                                    int64_t dim, at::IntArrayRef size) {
  if (places.size(0) == 0)
    return at::zeros(size, source.options());
  auto [isOwn, position] = find(index, places);
  return scatterSum(source.masked_fill(isOwn.logical_not_(), 0), position, dim, size);
}
