//===- part_of_whole.cpp - numbering a part -------------------------------===//

#include "runtime/tensor/torch/kernels/random/part_of_whole.h"

#include <ATen/ATen.h>

using namespace meshplan;

PartOfWhole::PartOfWhole(at::IntArrayRef given, at::IntArrayRef all, at::IntArrayRef first)
    : shape(given), whole(all.empty() ? given : all), offset(first) {
  if (offset.empty())
    offset.resize(shape.size(), 0);
  bool fits = whole.size() == shape.size() && offset.size() == shape.size();
  for (size_t dim = 0; fits && dim < shape.size(); ++dim)
    fits = offset[dim] >= 0 && offset[dim] + shape[dim] <= whole[dim];
  TORCH_CHECK(fits, "a part ", given, " at ", first, " exceeds the whole tensor ", all);
  // A run ends at the innermost dim that is not whole. Example: columns 3-5 of a [4, 6] tensor are 4 runs of 3
  // elements, which begin at 3, 9, 15 and 21. Rows 1-2 are one run of 12 elements.
  for (outer = shape.size(); outer > 0;) {
    --outer;
    length *= shape[outer];
    if (shape[outer] != whole[outer])
      break;
  }
  for (size_t dim = 0; dim < outer; ++dim)
    runCount *= shape[dim];
}

int64_t PartOfWhole::stride(size_t dim) const {
  int64_t product = 1;
  for (size_t inner = dim + 1; inner < whole.size(); ++inner)
    product *= whole[inner];
  return product;
}

int64_t PartOfWhole::start(int64_t run) const {
  int64_t number = 0, below = 1;
  for (size_t dim = whole.size(); dim-- > 0;) {
    int64_t index = offset[dim];
    if (dim < outer) {
      // The digits of `run` in the mixed radix of the part's outer dims; a run itself begins at the offset of the inner
      // ones.
      index += run % shape[dim];
      run /= shape[dim];
    }
    number += index * below;
    below *= whole[dim];
  }
  return number;
}

at::Tensor PartOfWhole::numbers(at::Device device) const {
  at::Tensor sum = at::zeros({}, at::TensorOptions(at::kLong).device(device));
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    at::Tensor indices = at::arange(offset[dim], offset[dim] + shape[dim], sum.options()).mul_(stride(dim));
    at::DimVector column(shape.size(), 1);
    column[dim] = shape[dim];
    sum = sum + indices.view(column);
  }
  return sum.expand(shape);
}
