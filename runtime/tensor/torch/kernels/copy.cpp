//===- copy.cpp - a differentiable copy -----------------------------------===//

#include "runtime/tensor/torch/kernels/copy.h"

#include <ATen/ATen.h>

using namespace meshplan;

at::Tensor meshplan::composedCopy(const at::Tensor &self, const at::Tensor &src) {
  return src.to(self.options().dtype(self.scalar_type())).expand_as(self).clone(at::MemoryFormat::Contiguous);
}
