//===- grouped_mm.cpp - grouped matrix products ---------------------------===//

#include "runtime/tensor/torch/kernels/grouped_mm.h"

#include <ATen/ATen.h>

using namespace meshplan;

/// Calls `visit` with each group that has rows, its first row and its number of rows.
template <typename Visit>
static void forEachGroup(const at::Tensor &offs, int64_t groups, int64_t rows, const Visit &visit) {
  at::Tensor ends = offs.to(at::kCPU, at::kLong).contiguous();
  int64_t begin = 0;
  for (int64_t group = 0; group < groups; ++group) {
    int64_t end = ends.const_data_ptr<int64_t>()[group];
    // Offsets are data of the model's router, so they are checked.
    TORCH_CHECK(begin <= end && end <= rows, "offs of group ", group, " is ", end, ", which is not within ", begin,
                " and ", rows);
    if (begin < end)
      visit(group, begin, end - begin);
    begin = end;
  }
}

at::Tensor meshplan::groupedMm(const at::Tensor &input, const at::Tensor &weight, const at::Tensor &offs) {
  TORCH_CHECK(input.dim() == 2 && weight.dim() == 3 && offs.dim() == 1 && input.size(1) == weight.size(1) &&
                  weight.size(0) == offs.size(0),
              "input ", input.sizes(), ", weight ", weight.sizes(), " and offs ", offs.sizes(), " do not match");
  // Rows after the last group belong to no expert; nothing below writes them.
  at::Tensor result = at::zeros({input.size(0), weight.size(2)}, input.options());
  forEachGroup(offs, weight.size(0), input.size(0), [&](int64_t group, int64_t begin, int64_t count) {
    at::Tensor rows = result.narrow(0, begin, count);
    at::mm_out(rows, input.narrow(0, begin, count), weight.select(0, group));
  });
  return result;
}

at::Tensor meshplan::composedGroupedMm(const at::Tensor &input, const at::Tensor &weight, const at::Tensor &offs) {
  std::vector<at::Tensor> pieces;
  int64_t rows = 0;
  forEachGroup(offs, weight.size(0), input.size(0), [&](int64_t group, int64_t begin, int64_t count) {
    pieces.push_back(input.narrow(0, begin, count).mm(weight.select(0, group)));
    rows = begin + count;
  });
  pieces.push_back(at::zeros({input.size(0) - rows, weight.size(2)}, input.options()));
  return at::cat(pieces);
}

at::Tensor meshplan::groupedWeightGradient(const at::Tensor &left, const at::Tensor &right, const at::Tensor &offs) {
  TORCH_CHECK(left.dim() == 2 && right.dim() == 2 && offs.dim() == 1 && left.size(0) == right.size(0), "left ",
              left.sizes(), ", right ", right.sizes(), " and offs ", offs.sizes(), " do not match");
  at::Tensor result = at::zeros({offs.size(0), left.size(1), right.size(1)}, left.options());
  forEachGroup(offs, offs.size(0), left.size(0), [&](int64_t group, int64_t begin, int64_t count) {
    at::Tensor matrix = result.select(0, group);
    at::mm_out(matrix, left.narrow(0, begin, count).t(), right.narrow(0, begin, count));
  });
  return result;
}
