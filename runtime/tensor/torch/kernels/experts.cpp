//===- experts.cpp - rows of routed tokens, by expert ---------------------===//

#include "runtime/tensor/torch/kernels/experts.h"
#include "runtime/tensor/torch/kernels/accumulation.h"
#include "runtime/tensor/torch/kernels/products.h"

#include <ATen/ATen.h>
#include <algorithm>

using namespace meshplan;

//===----------------------------------------------------------------------===//
// Moving tokens and gates to rows and back
//===----------------------------------------------------------------------===//

std::tuple<at::Tensor, at::Tensor> meshplan::routeTokens(const at::Tensor &indices, int64_t first, int64_t experts) {
  TORCH_CHECK(indices.dim() >= 2, "indices must have dims of tokens and one of slots, they have ", indices.dim(),
              " in total");
  TORCH_CHECK(at::isIntegralType(indices.scalar_type(), /*includeBool=*/false), "indices must be integers, they are ",
              indices.scalar_type());
  TORCH_CHECK(first >= 0 && experts >= 0, "there are no ", experts, " experts from ", first);
  at::Tensor flat = indices.reshape({-1}), local = flat - first;
  // Pairs of other experts get one number after all others, so that sorting puts them last.
  local.masked_fill_(local.lt(0).logical_or_(local.ge(experts)), experts);
  auto [sorted, pairs] = at::sort(local, /*stable=*/true, /*dim=*/0, /*descending=*/false);
  // The position of the first row of each expert, and of the first pair that has no row.
  at::Tensor begins = at::searchsorted(sorted, at::arange(experts + 1, local.options()));
  bool isEmpty = flat.numel() == 0;
  at::Tensor least = isEmpty ? at::zeros({1}, begins.options()) : flat.min().to(at::kLong).reshape({1});
  // A host that reads twice would wait for the device twice.
  at::Tensor read = at::cat({begins, least}).cpu();
  int64_t rows = read[experts].item<int64_t>(), smallest = read[experts + 1].item<int64_t>();
  TORCH_CHECK_INDEX(smallest >= 0, "index ", smallest, " is negative");
  at::Tensor counts = read.narrow(0, 1, experts) - read.narrow(0, 0, experts);
  // A part is copied, so that the pairs of other experts do not stay in memory.
  return {rows == pairs.size(0) ? pairs : pairs.narrow(0, 0, rows).clone(), counts};
}

at::Tensor meshplan::expertTokens(const at::Tensor &counts, const at::Tensor &table) {
  return counts.to(table.device(), at::kLong, /*non_blocking=*/false, /*copy=*/true);
}

at::Tensor meshplan::balancedBias(const at::Tensor &bias, const at::Tensor &tokens,
                                  const std::optional<at::Tensor> &nonfinite, double rate) {
  TORCH_CHECK(at::isIntegralType(tokens.scalar_type(), /*includeBool=*/false) && tokens.dim() == 1 &&
                  bias.numel() == tokens.numel(),
              "bias ", bias.sizes(), " does not fit tokens ", tokens.scalar_type(), " ", tokens.sizes());
  // The mean may not be an integer, so that both sides are multiplied by the number of experts.
  at::Tensor sign = tokens.sum().sub(tokens.mul(tokens.size(0))).sign();
  if (nonfinite)
    sign.mul_(nonfinite->eq(0));
  return bias.add(sign.view(bias.sizes()).to(bias.scalar_type()), rate);
}

at::Tensor meshplan::dropChoices(const at::Tensor &indices, int64_t experts, int64_t most) {
  TORCH_CHECK(indices.dim() >= 3, "indices must have dims of samples, positions and slots, they have ", indices.dim(),
              " in total");
  TORCH_CHECK(experts >= 0 && most >= 0, "there are no ", experts, " experts of ", most, " pairs");
  at::Tensor flat = indices.flatten(1);
  auto [sorted, pairs] = at::sort(flat, /*stable=*/true, /*dim=*/1, /*descending=*/false);
  // Where the pairs of the same sample and expert begin in the sorted order.
  at::Tensor begins = at::searchsorted(sorted, sorted.contiguous());
  at::Tensor order = at::arange(flat.size(1), begins.options()).sub(begins);
  at::Tensor kept = sorted.masked_fill(order.ge(most), experts);
  return at::empty_like(flat, at::MemoryFormat::Contiguous).scatter_(1, pairs, kept).view(indices.sizes());
}

static void checkTable(const at::Tensor &table, int64_t rows) {
  TORCH_CHECK(table.dim() == 1 && table.size(0) == rows, "table ", table.sizes(), " does not fit ", rows, " rows");
}

at::Tensor meshplan::dispatchTokens(const at::Tensor &self, const at::Tensor &table, int64_t slots) {
  TORCH_CHECK(self.dim() >= 2, "self must have dims of tokens and one of features, it has ", self.dim(), " in total");
  TORCH_CHECK(slots > 0, "a token must have slots, it has ", slots);
  checkTable(table, table.numel());
  return self.flatten(0, -2).index_select(0, table.div(slots, "floor"));
}

at::Tensor meshplan::dispatchGates(const at::Tensor &gates, const at::Tensor &table) {
  checkTable(table, table.numel());
  return gates.reshape({-1}).index_select(0, table);
}

/// [tokens, slots]: the row of each pair, -1 for a pair without a row.
static at::Tensor rowsOfPairs(const at::Tensor &table, int64_t tokens, int64_t slots) {
  at::Tensor rows = at::full({tokens * slots}, -1, table.options());
  rows.index_copy_(0, table, at::arange(table.size(0), table.options()));
  return rows.view({tokens, slots});
}

at::Tensor meshplan::combineTokens(const at::Tensor &rows, const at::Tensor &table, int64_t slots, at::IntArrayRef size,
                                   std::optional<at::ScalarType> dtype) {
  TORCH_CHECK(rows.dim() == 2, "rows must have 2 dims, they have ", rows.dim());
  TORCH_CHECK(size.size() >= 2 && size.back() == rows.size(1), "rows ", rows.sizes(), " do not fit tokens ", size);
  TORCH_CHECK(slots > 0, "a token must have slots, it has ", slots);
  checkTable(table, rows.size(0));
  at::ScalarType type = accumulationType(rows.scalar_type());
  auto options = rows.options().dtype(dtype.value_or(rows.scalar_type()));
  if (rows.numel() == 0)
    return at::zeros(size, options);
  int64_t columns = rows.size(1), tokens = c10::multiply_integers(size.slice(0, size.size() - 1));
  at::Tensor result = at::empty({tokens, columns}, options), places = rowsOfPairs(table, tokens, slots);
  // In blocks of tokens, so that the rows of one slot never become a second tensor of the size of the result.
  int64_t block = rowsAtATime(rows, columns);
  for (int64_t token = 0; token < tokens; token += block) {
    int64_t count = std::min(block, tokens - token);
    at::Tensor part = result.narrow(0, token, count);
    at::Tensor sum =
        part.scalar_type() == type ? part.zero_() : at::zeros({count, columns}, rows.options().dtype(type));
    for (int64_t slot = 0; slot < slots; ++slot) {
      at::Tensor row = places.narrow(0, token, count).select(1, slot);
      // Any row stands in for one that is missing, and becomes zeros.
      at::Tensor picked = rows.index_select(0, row.clamp_min(0));
      sum.add_(picked.masked_fill_(row.lt(0).unsqueeze(1), 0));
    }
    if (!sum.is_same(part))
      part.copy_(sum);
  }
  return result.view(size);
}

at::Tensor meshplan::collectGates(const at::Tensor &rows, const at::Tensor &table, at::IntArrayRef size) {
  TORCH_CHECK(rows.dim() == 1, "rows must have 1 dim, they have ", rows.dim());
  checkTable(table, rows.size(0));
  at::Tensor result = at::zeros({c10::multiply_integers(size)}, rows.options());
  return result.index_copy_(0, table, rows).view(size);
}

//===----------------------------------------------------------------------===//
// Layers with parameters of each expert
//===----------------------------------------------------------------------===//

/// Calls `visit` with each expert, its first row and its number of rows.
template <typename Visit> static void forEachExpert(const at::Tensor &counts, int64_t rows, const Visit &visit) {
  TORCH_CHECK(counts.dim() == 1 && counts.is_cpu() && counts.scalar_type() == at::kLong,
              "counts must be one list of i64 in host memory, they are ", counts.scalar_type(), " ", counts.sizes(),
              " on ", counts.device());
  int64_t begin = 0;
  for (int64_t expert = 0; expert < counts.size(0); ++expert) {
    int64_t count = counts.const_data_ptr<int64_t>()[expert * counts.stride(0)];
    TORCH_CHECK(count >= 0 && count <= rows - begin, "expert ", expert, " has ", count, " rows, but ", rows - begin,
                " are left of ", rows);
    visit(expert, begin, count);
    begin += count;
  }
  TORCH_CHECK(begin == rows, "counts are ", begin, " rows in total, there are ", rows);
}

static void checkSixteenBit(const at::Tensor &left, const at::Tensor &right) {
  TORCH_CHECK(at::isReducedFloatingType(left.scalar_type()) && left.scalar_type() == right.scalar_type(),
              "both operands must have one 16-bit type, they have ", left.scalar_type(), " and ", right.scalar_type());
}

/// Each row times the matrix of its expert, by `multiply`(result, left, right).
template <typename Multiply>
static at::Tensor rowProducts(const at::Tensor &rows, const at::Tensor &weight, const at::Tensor &counts,
                              bool transposed, at::ScalarType type, const Multiply &multiply) {
  TORCH_CHECK(rows.dim() == 2 && weight.dim() == 3 && counts.dim() == 1 && weight.size(0) == counts.size(0) &&
                  rows.size(1) == weight.size(transposed ? 1 : 2),
              "rows ", rows.sizes(), ", ", transposed ? "transposed " : "", "weight ", weight.sizes(), " and counts ",
              counts.sizes(), " do not match");
  at::Tensor result = at::empty({rows.size(0), weight.size(transposed ? 2 : 1)}, rows.options().dtype(type));
  forEachExpert(counts, rows.size(0), [&](int64_t expert, int64_t begin, int64_t count) {
    at::Tensor matrix = weight.select(0, expert);
    if (count > 0)
      multiply(result.narrow(0, begin, count), rows.narrow(0, begin, count), transposed ? matrix : matrix.t());
  });
  return result;
}

static void multiplyInto(at::Tensor result, const at::Tensor &left, const at::Tensor &right) {
  at::mm_out(result, left, right);
}

at::Tensor meshplan::groupedLinear(const at::Tensor &rows, const at::Tensor &weight, const at::Tensor &counts,
                                   bool transposed) {
  return rowProducts(rows, weight, counts, transposed, rows.scalar_type(), multiplyInto);
}

at::Tensor meshplan::groupedLinearF32(const at::Tensor &rows, const at::Tensor &weight, const at::Tensor &counts,
                                      bool transposed) {
  checkSixteenBit(rows, weight);
  return rowProducts(rows, weight, counts, transposed, at::kFloat, multiplyF32);
}

at::Tensor meshplan::groupedBias(const at::Tensor &rows, const at::Tensor &bias, const at::Tensor &counts) {
  TORCH_CHECK(rows.dim() == 2 && bias.dim() == 2 && counts.dim() == 1 && bias.size(0) == counts.size(0) &&
                  rows.size(1) == bias.size(1),
              "rows ", rows.sizes(), ", bias ", bias.sizes(), " and counts ", counts.sizes(), " do not match");
  at::Tensor result = at::empty(rows.sizes(), rows.options());
  forEachExpert(counts, rows.size(0), [&](int64_t expert, int64_t begin, int64_t count) {
    at::Tensor part = result.narrow(0, begin, count);
    at::add_out(part, rows.narrow(0, begin, count), bias.select(0, expert));
  });
  return result;
}

/// The sum over the rows of each expert, by `multiply`(result, left^T, right).
template <typename Multiply>
static at::Tensor weightSums(const at::Tensor &gradient, const at::Tensor &rows, const at::Tensor &counts,
                             bool transposed, at::ScalarType type, const Multiply &multiply) {
  TORCH_CHECK(gradient.dim() == 2 && rows.dim() == 2 && counts.dim() == 1 && gradient.size(0) == rows.size(0),
              "gradient ", gradient.sizes(), ", rows ", rows.sizes(), " and counts ", counts.sizes(), " do not match");
  const at::Tensor &left = transposed ? rows : gradient, &right = transposed ? gradient : rows;
  at::Tensor result = at::empty({counts.size(0), left.size(1), right.size(1)}, left.options().dtype(type));
  forEachExpert(counts, rows.size(0), [&](int64_t expert, int64_t begin, int64_t count) {
    at::Tensor matrix = result.select(0, expert);
    if (count == 0)
      matrix.zero_();
    else
      multiply(matrix, left.narrow(0, begin, count).t(), right.narrow(0, begin, count));
  });
  return result;
}

at::Tensor meshplan::groupedLinearWeightGradient(const at::Tensor &gradient, const at::Tensor &rows,
                                                 const at::Tensor &counts, bool transposed) {
  return weightSums(gradient, rows, counts, transposed, rows.scalar_type(), multiplyInto);
}

at::Tensor meshplan::groupedLinearWeightGradientF32(const at::Tensor &gradient, const at::Tensor &rows,
                                                    const at::Tensor &counts, bool transposed) {
  checkSixteenBit(gradient, rows);
  return weightSums(gradient, rows, counts, transposed, at::kFloat, multiplyF32);
}

at::Tensor meshplan::groupedBiasGradient(const at::Tensor &gradient, const at::Tensor &counts) {
  TORCH_CHECK(gradient.dim() == 2, "gradient must have 2 dims, it has ", gradient.dim());
  at::Tensor result = at::empty({counts.numel(), gradient.size(1)}, gradient.options());
  at::ScalarType type = accumulationType(gradient.scalar_type());
  forEachExpert(counts, gradient.size(0), [&](int64_t expert, int64_t begin, int64_t count) {
    // The sum over no rows is zero.
    result.select(0, expert).copy_(gradient.narrow(0, begin, count).sum(0, /*keepdim=*/false, type));
  });
  return result;
}
