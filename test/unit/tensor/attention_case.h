//===- attention_case.h - forms of attention in tests -----------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_TENSOR_ATTENTION_CASE_H
#define MESHPLAN_TEST_UNIT_TENSOR_ATTENTION_CASE_H

#include "runtime/tensor/torch/kernels/random/draws.h"

#include <ATen/ATen.h>
#include <vector>

namespace meshplan {

/// Options of an attention call.
struct AttentionCase {
  const char *name;
  int64_t batch = 2, heads = 4, keyHeads = 4, queries = 9, keys = 9, dim = 8, valueDim = 8;
  bool causal = false;
  int64_t window = 0;
  std::vector<int64_t> maskShape = {}; // empty: no mask
  bool floatMask = false;
  bool keyMask = false;
  double softcap = 0;
  double dropout = 0;
};

struct AttentionInputs {
  at::Tensor query, key, value, mask, keyMask;
  at::Tensor seed, step; // with dropout
};

inline AttentionInputs makeInputs(const AttentionCase &c) {
  at::manual_seed(1);
  AttentionInputs inputs;
  inputs.query = at::randn({c.batch, c.heads, c.queries, c.dim}, at::kDouble);
  inputs.key = at::randn({c.batch, c.keyHeads, c.keys, c.dim}, at::kDouble);
  inputs.value = at::randn({c.batch, c.keyHeads, c.keys, c.valueDim}, at::kDouble);
  if (!c.maskShape.empty())
    inputs.mask = c.floatMask ? at::randn(c.maskShape, at::kDouble) : at::rand(c.maskShape) > 0.4;
  if (c.keyMask)
    inputs.keyMask = at::rand({c.batch, c.keys}) > 0.4;
  if (c.dropout != 0) {
    inputs.seed = at::scalar_tensor(11, at::kDouble);
    inputs.step = at::scalar_tensor(4, at::kDouble);
  }
  return inputs;
}

/// True where a query may read a key, [B, H, S, T].
inline at::Tensor visible(const AttentionCase &c, const AttentionInputs &inputs) {
  at::Tensor distance = at::arange(c.queries).unsqueeze(1) - at::arange(c.keys).unsqueeze(0);
  at::Tensor result = at::ones({c.batch, c.heads, c.queries, c.keys}, at::kBool);
  if (c.causal)
    result = result & (distance >= 0);
  if (c.window > 0)
    result = result & (distance < c.window);
  if (inputs.mask.defined() && !c.floatMask)
    result = result & inputs.mask;
  if (inputs.keyMask.defined())
    result = result & inputs.keyMask.unsqueeze(1).unsqueeze(1);
  return result;
}

constexpr double attentionScale = 0.3;
constexpr int64_t attentionNumber = 6; // the operator's number

/// By the definition: out, logsumexp and the probabilities before dropout, which autograd can differentiate.
struct AttentionResult {
  at::Tensor out, logsumexp, weights;
};

inline AttentionResult attentionByDefinition(const AttentionCase &c, const AttentionInputs &inputs) {
  int64_t repeats = c.heads / c.keyHeads;
  at::Tensor scores =
      at::matmul(inputs.query, inputs.key.repeat_interleave(repeats, 1).transpose(2, 3)) * attentionScale;
  if (c.softcap != 0)
    scores = (scores / c.softcap).tanh() * c.softcap;
  if (c.floatMask)
    scores = scores + inputs.mask;
  at::Tensor weights = scores.exp().masked_fill(visible(c, inputs).logical_not(), 0);
  at::Tensor sum = weights.sum(3, true);
  // A row without keys gives zeros, and has a derivative.
  weights = weights / sum.masked_fill(sum.eq(0), 1);
  at::Tensor kept = weights;
  if (c.dropout != 0)
    kept = weights * dropByOperators(at::ones_like(weights), PartOfWhole(weights.sizes(), {}, {}), c.dropout,
                                     randomStream({inputs.seed, inputs.step, attentionNumber}));
  return {at::matmul(kept, inputs.value.repeat_interleave(repeats, 1)), sum.log().masked_fill(sum.eq(0), 0).squeeze(3),
          weights};
}

/// With more queries than one block computes, and a shorter window.
inline AttentionCase inBlocks(AttentionCase c) {
  c.batch = c.keyHeads = 1;
  c.heads = 2;
  c.queries = c.keys = 1100;
  c.causal = true;
  c.window = 100;
  return c;
}

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_TENSOR_ATTENTION_CASE_H
