//===- normalization.cpp - records of softmax and norms -------------------===//
//
// The normalised dims are whole: each result element needs all of them.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

static FactorRule softmaxRule(const CallView &call) {
  RuleBuilder builder(call);
  builder.tieAligned({normalizeDim(call.getInt("dim", 0), builder.result().getRank())});
  return builder.finish();
}

/// Exponential, sum and division; an operand of another dtype is converted first.
static OpCost softmaxCost(const CallView &call) {
  OpCost cost = copyCost(call);
  cost.flops = 15 * call.results.front().getNumElements();
  if (call.operands.front().getElementType() != call.results.front().getElementType())
    cost.workspaceBytes = tensorBytes(call.results.front());
  return cost;
}

/// The last dims, as many as `normalized_shape` lists, are normalised; weight and bias have only these. The statistics
/// of native forms have the rank of the input.
static FactorRule normRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef input = builder.operand("input");
  std::optional<SmallVector<int64_t>> normalized = call.getInts("normalized_shape");
  int64_t rows = normalized ? input.getRank() - static_cast<int64_t>(normalized->size()) : 0;
  for (int64_t dim = 0; dim < rows; ++dim) {
    SmallVector<DimRef> dims{input[dim]};
    for (unsigned index = 0; index < call.results.size(); ++index)
      dims.push_back(builder.result(index)[dim]);
    builder.tie(dims);
  }
  return builder.finish();
}

/// Number of rows that are normalised one by one.
static int64_t rowCount(const CallView &call) {
  int64_t elements = 1;
  for (int64_t size : call.getInts("normalized_shape").value_or(SmallVector<int64_t>()))
    elements *= size;
  return call.results.front().getNumElements() / std::max<int64_t>(elements, 1);
}

/// The native kernel computes mean and reciprocal deviation of each row in float.
static OpCost layerNormCost(const CallView &call) {
  OpCost cost = copyCost(call);
  cost.flops = 8 * call.results.front().getNumElements();
  if (call.results.size() == 1)
    cost.workspaceBytes = 2 * rowCount(call) * 4;
  return cost;
}

/// On CPU a composite: one tensor of the input's size at a time besides the result, the squares and then the scaled
/// input. Half types are computed in float: the converted input and the float result are held as well.
static OpCost rmsNormCost(const CallView &call) {
  OpCost cost = copyCost(call);
  RankedTensorType result = call.results.front();
  cost.flops = 5 * result.getNumElements();
  int64_t elementBytes = plan::elementBytes(result.getElementType());
  cost.workspaceBytes = result.getNumElements() * (elementBytes < 4 ? 10 : elementBytes);
  return cost;
}

void addNormalizationRecords(OpRegistry &registry) {
  for (StringRef target :
       {"aten.softmax.int", "aten._softmax.default", "aten.log_softmax.int", "aten._log_softmax.default"})
    registry.add({.target = target, .rule = softmaxRule, .linearity = notLinear, .cost = softmaxCost});
  for (StringRef target : {"aten.layer_norm.default", "aten.native_layer_norm.default"})
    registry.add({.target = target, .rule = normRule, .linearity = notLinear, .cost = layerNormCost});
  for (StringRef target : {"aten.rms_norm.default", "aten._fused_rms_norm.default"})
    registry.add({.target = target, .rule = normRule, .linearity = notLinear, .cost = rmsNormCost});
}

} // namespace meshplan
