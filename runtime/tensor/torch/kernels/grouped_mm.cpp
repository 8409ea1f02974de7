//===- grouped_mm.cpp - products of groups of rows ------------------------===//

#include "runtime/tensor/torch/kernels/grouped_mm.h"

#include <ATen/ATen.h>

using namespace meshplan;

at::Tensor meshplan::groupedMm(const at::Tensor &input, const at::Tensor &weight, const at::Tensor &offs) {
  TORCH_CHECK(input.dim() == 2 && weight.dim() == 3 && offs.dim() == 1 && input.size(1) == weight.size(1) &&
                  weight.size(0) == offs.size(0),
              "input ", input.sizes(), ", weight ", weight.sizes(), " and offs ", offs.sizes(),
              " do not belong together");
  at::Tensor result = at::zeros({input.size(0), weight.size(2)}, input.options());
  at::Tensor ends = offs.to(at::kCPU, at::kLong).contiguous();
  int64_t begin = 0;
  for (int64_t group = 0; group < weight.size(0); ++group) {
    int64_t end = ends.const_data_ptr<int64_t>()[group];
    TORCH_CHECK(begin <= end && end <= input.size(0), "offs of group ", group, " is ", end, ", which is not within ",
                begin, " and ", input.size(0));
    at::Tensor rows = result.narrow(0, begin, end - begin);
    if (begin < end)
      at::mm_out(rows, input.narrow(0, begin, end - begin), weight.select(0, group));
    begin = end;
  }
  return result;
}
