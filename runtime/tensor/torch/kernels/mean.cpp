//===- mean.cpp - means of sharded dims -----------------------------------===//

#include "runtime/tensor/torch/kernels/mean.h"

#include <ATen/ATen.h>

using namespace meshplan;

at::Tensor meshplan::meanAddend(const at::Tensor &self, at::OptionalIntArrayRef dim, bool keepdim,
                                std::optional<at::ScalarType> dtype, int64_t count) {
  at::ScalarType type = dtype.value_or(self.scalar_type());
  TORCH_CHECK(at::isFloatingType(type), "the mean of ", type, " is not a number of that type");
  // The addends of all ranks are summed later, so each is rounded only once, at its end.
  at::ScalarType summed = at::isReducedFloatingType(type) ? at::kFloat : type;
  return at::sum(self, dim, keepdim, summed).div_(count).to(type);
}
