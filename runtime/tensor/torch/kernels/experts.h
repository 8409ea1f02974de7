//===- experts.h - rows of routed tokens, by expert -------------*- C++ -*-===//
//
// The layers of a mixture of experts. A router chooses an expert for each slot of a token. A rank has a row for each
// pair of a token and a slot whose expert and token are its own: `rows` [R, H], ordered by expert, then by token.
// `counts` [experts], always in host memory, has the number of rows of each of its experts. `table` [R] has the pair
// of each row: token * slots + slot. The rank's tokens are numbered in row-major order.
//
// Example: indices [[2, 0], [1, 2]] for two tokens with two slots. The rank of experts 1 and 2 has counts [1, 2] and
// table [2, 0, 3]: token 1 with its slot 0, token 0 with its slot 0, token 1 with its slot 1. The rank of expert 0 has
// counts [1] and table [1].
//
// Products and sums are computed for one expert after the other. They do not depend on the number of threads or on the
// order in which a GPU adds.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_EXPERTS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_EXPERTS_H

#include <ATen/core/Tensor.h>
#include <optional>
#include <tuple>

namespace meshplan {

/// indices [tokens.., slots]: the table and the counts of the experts [first, first + experts). Pairs of other experts
/// are left out. Fails for a negative index. Waits for the indices.
std::tuple<at::Tensor, at::Tensor> routeTokens(const at::Tensor &indices, int64_t first, int64_t experts);

/// counts [experts] of the rank's tokens in the memory of `table`, to be summed over ranks.
at::Tensor expertTokens(const at::Tensor &counts, const at::Tensor &table);

/// bias and tokens [experts]: the bias plus `rate` for an expert with fewer tokens than the mean, minus `rate` for one
/// with more. The bias itself if there are non-finite elements.
at::Tensor balancedBias(const at::Tensor &bias, const at::Tensor &tokens, const std::optional<at::Tensor> &nonfinite,
                        double rate);

/// indices [samples, positions.., slots] of experts below `experts`: those of the pairs that an expert takes, and
/// `experts` for the others, which get no row. In each sample an expert takes at most `most` pairs, by position, then
/// by slot.
at::Tensor dropChoices(const at::Tensor &indices, int64_t experts, int64_t most);

/// self [tokens.., H], table [R] to [R, H]: the token of each row.
at::Tensor dispatchTokens(const at::Tensor &self, const at::Tensor &table, int64_t slots);

/// gates [tokens.., slots], table [R] to [R]: the gate of each row.
at::Tensor dispatchGates(const at::Tensor &gates, const at::Tensor &table);

/// rows [R, H], table [R] to `size`, which is [tokens.., H]: the sum of the rows of each token in the order of its
/// slots, zeros for a token without rows. 16-bit rows are summed in f32. `dtype` is that of the result, by default that
/// of the rows.
at::Tensor combineTokens(const at::Tensor &rows, const at::Tensor &table, int64_t slots, at::IntArrayRef size,
                         std::optional<at::ScalarType> dtype);

/// rows [R], table [R] to `size`, which is [tokens.., slots]: the element of each pair, 0 for a pair without a row.
at::Tensor collectGates(const at::Tensor &rows, const at::Tensor &table, at::IntArrayRef size);

/// rows [R, H], weight [experts, F, H], or [experts, H, F] if `transposed`, to [R, F]: each row times the matrix of its
/// expert.
at::Tensor groupedLinear(const at::Tensor &rows, const at::Tensor &weight, const at::Tensor &counts, bool transposed);

/// The same for operands of one 16-bit dtype, as unrounded f32 sums.
at::Tensor groupedLinearF32(const at::Tensor &rows, const at::Tensor &weight, const at::Tensor &counts,
                            bool transposed);

/// rows [R, F], bias [experts, F] to [R, F]: each row plus the bias of its expert.
at::Tensor groupedBias(const at::Tensor &rows, const at::Tensor &bias, const at::Tensor &counts);

/// The gradient of the weight of groupedLinear: gradient [R, F], rows [R, H] to [experts, F, H], or [experts, H, F] if
/// `transposed`; zeros for an expert without rows.
at::Tensor groupedLinearWeightGradient(const at::Tensor &gradient, const at::Tensor &rows, const at::Tensor &counts,
                                       bool transposed);

/// The same for operands of one 16-bit dtype, as unrounded f32 sums.
at::Tensor groupedLinearWeightGradientF32(const at::Tensor &gradient, const at::Tensor &rows, const at::Tensor &counts,
                                          bool transposed);

/// The gradient of the bias of groupedBias: gradient [R, F] to [experts, F]; zeros for an expert without rows. 16-bit
/// sums are rounded once.
at::Tensor groupedBiasGradient(const at::Tensor &gradient, const at::Tensor &counts);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_EXPERTS_H
