//===- exchanged_rows.cpp - rows before and after an exchange -------------===//

#include "runtime/tensor/torch/kernels/exchanged_rows.h"

#include <ATen/ATen.h>
#include <numeric>

using namespace meshplan;

at::Tensor meshplan::countsToGather(const at::Tensor &counts, const at::Tensor &like) {
  return counts.unsqueeze(0).to(like.device(), at::kLong, /*non_blocking=*/false, /*copy=*/true);
}

at::Tensor meshplan::countsOnHost(const at::Tensor &self) { return self.to(at::kCPU, at::kLong, false, /*copy=*/true); }

/// The part of the counts for the experts [first, first + experts): [ranks, experts], row-major.
static at::Tensor partOf(const at::Tensor &counts, int64_t begin, int64_t first, int64_t experts) {
  TORCH_CHECK(counts.dim() == 2 && counts.is_cpu() && counts.scalar_type() == at::kLong,
              "counts must be i64 [ranks, experts] in host memory, they are ", counts.scalar_type(), " ",
              counts.sizes(), " on ", counts.device());
  TORCH_CHECK(first >= begin && experts >= 0 && first - begin + experts <= counts.size(1), "experts ", first, " to ",
              first + experts, " are not among the ", counts.size(1), " from ", begin);
  return counts.narrow(1, first - begin, experts).contiguous();
}

at::Tensor meshplan::countsOfExperts(const at::Tensor &counts, int64_t begin, int64_t first, int64_t experts) {
  return partOf(counts, begin, first, experts).sum(0);
}

/// For each row in the order by expert, its position in the order by rank.
static at::Tensor positions(const at::Tensor &counts, int64_t begin, int64_t first, int64_t experts, int64_t rows) {
  at::Tensor part = partOf(counts, begin, first, experts);
  int64_t ranks = part.size(0);
  const int64_t *numbers = part.const_data_ptr<int64_t>();
  // Where the rows of each rank and expert begin, in the order by rank.
  std::vector<int64_t> begins(ranks * experts);
  std::exclusive_scan(numbers, numbers + ranks * experts, begins.begin(), int64_t(0));
  at::Tensor order = at::empty({rows}, at::TensorOptions(at::kLong));
  int64_t *next = order.mutable_data_ptr<int64_t>(), *end = next + rows;
  for (int64_t expert = 0; expert < experts; ++expert)
    for (int64_t rank = 0; rank < ranks; ++rank) {
      int64_t segment = rank * experts + expert, count = numbers[segment];
      TORCH_CHECK(count >= 0 && count <= end - next, "rank ", rank, " has ", count, " rows for expert ", first + expert,
                  ", but ", end - next, " are left of ", rows);
      std::iota(next, next + count, begins[segment]);
      next += count;
    }
  TORCH_CHECK(next == end, "counts are ", rows - (end - next), " rows in total, there are ", rows);
  return order;
}

at::Tensor meshplan::orderByExpert(const at::Tensor &arrivals, const at::Tensor &counts, int64_t begin, int64_t first,
                                   int64_t experts) {
  TORCH_CHECK(arrivals.dim() >= 1, "arrivals must have a dim of rows");
  at::Tensor order = positions(counts, begin, first, experts, arrivals.size(0));
  return arrivals.index_select(0, order.to(arrivals.device()));
}

at::Tensor meshplan::orderByRank(const at::Tensor &rows, const at::Tensor &counts, int64_t begin, int64_t first,
                                 int64_t experts) {
  TORCH_CHECK(rows.dim() >= 1, "rows must have a dim of rows");
  at::Tensor order = positions(counts, begin, first, experts, rows.size(0));
  return at::empty_like(rows, at::MemoryFormat::Contiguous).index_copy_(0, order.to(rows.device()), rows);
}
