//===- normalization.cpp - records of softmax and norms -------------------===//
//
// The normalized dims are whole: each element of the result needs all of them.
// Norms of batches, groups and samples have their features in dim 1.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/grouped_features.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

/// Exponential, sum and division; an operand of another dtype is converted first.
static OpCost softmaxCost(const CallView &call) {
  OpCost cost = copyCost(call);
  cost.flops = 15 * call.results.front().getNumElements();
  cost.workspaceBytes = contiguousBytes(call);
  if (call.operands.front().getElementType() != call.results.front().getElementType())
    cost.workspaceBytes += tensorBytes(call.results.front());
  return cost;
}

/// Rows that are all -inf become zeros, through a mask of the elements that are -inf.
static OpCost safeSoftmaxCost(const CallView &call) {
  OpCost cost = softmaxCost(call);
  cost.workspaceBytes += call.results.front().getNumElements();
  return cost;
}

/// The last dims, as many as `normalized_shape` lists, are normalized; weight and bias have only these dims. The
/// statistics that native forms return have the rank of the input.
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

/// Number of rows that are normalized independently.
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
  cost.workspaceBytes = contiguousBytes(call);
  if (call.results.size() == 1)
    cost.workspaceBytes += 2 * rowCount(call) * 4;
  return cost;
}

/// A composite on CPU. Besides the result it holds one tensor of the input's size at a time: first the squares, then
/// the scaled input. Half types are computed in float and also hold the converted input and the float result.
static OpCost rmsNormCost(const CallView &call) {
  OpCost cost = copyCost(call);
  RankedTensorType result = call.results.front();
  cost.flops = 5 * result.getNumElements();
  int64_t elementBytes = plan::elementBytes(result.getElementType());
  if (!call.getOperand("weight") && elementBytes >= 4) {
    cost.workspaceBytes = 2 * rowCount(call) * elementBytes; // the squares are freed before the result is allocated
    return cost;
  }
  cost.workspaceBytes = result.getNumElements() * (elementBytes < 4 ? 10 : elementBytes);
  return cost;
}

//===----------------------------------------------------------------------===//
// Norms with features in dim 1
//===----------------------------------------------------------------------===//

/// Weight, bias and running statistics have one element for each feature.
static void tieFeatures(RuleBuilder &builder) {
  builder.tie({builder.operand("input")[1], builder.operand("weight")[0], builder.operand("bias")[0],
               builder.operand("running_mean")[0], builder.operand("running_var")[0], builder.result()[1]});
}

/// Ties the dims from `first` to `end` of input and result, except the features.
static void tieOthers(RuleBuilder &builder, int64_t first, int64_t end) {
  for (int64_t dim = first; dim < end; ++dim)
    if (dim != 1)
      builder.tie({builder.operand("input")[dim], builder.result()[dim]});
}

/// With running statistics every element is independent. Statistics of the batch are over all dims except the features.
static FactorRule batchNormRule(const CallView &call) {
  RuleBuilder builder(call);
  tieFeatures(builder);
  // Statistics of a batch that is divided over dp would be those of a rank's samples. The import decomposes a batch
  // norm in training into means, which are summed over ranks; this rule is for what was not decomposed.
  if (!call.getBool("training", false) && call.getOperand("running_mean"))
    tieOthers(builder, 0, builder.result().getRank());
  return builder.finish();
}

/// Statistics are those of each feature of each sample, or the running ones.
static FactorRule instanceNormRule(const CallView &call) {
  RuleBuilder builder(call);
  tieFeatures(builder);
  tieOthers(builder, 0, call.getBool("use_input_stats", true) ? 1 : builder.result().getRank());
  return builder.finish();
}

/// A group norm whose argument is the number of features of a group; the number of groups is that of the rank.
static constexpr llvm::StringLiteral normOfGroups = "meshplan.group_norm";

static int64_t featureCount(const CallView &call) {
  std::optional<unsigned> input = call.getOperand("input");
  return input && call.operands[*input].getRank() > 1 ? call.operands[*input].getDimSize(1) : 0;
}

static int64_t groupsOfNorm(const CallView &call) {
  if (call.target != normOfGroups)
    return call.getInt("num_groups", 1);
  return featureCount(call) / std::max<int64_t>(call.getInt("group_features", 1), 1);
}

/// Statistics of each group of features of each sample.
static FactorRule groupNormRule(const CallView &call) {
  RuleBuilder builder(call);
  GroupedFeatures(builder, groupsOfNorm(call))
      .tie({builder.operand("input")[1], builder.operand("weight")[0], builder.operand("bias")[0], builder.result()[1]},
           {}, FactorKind::whole);
  tieOthers(builder, 0, 1);
  return builder.finish();
}

/// A rank has some of the groups.
static LocalCall localizeGroupNorm(const CallView &call, plan::MeshOp) {
  if (!isDivided(call.results.front(), 1) || call.target == normOfGroups)
    return unchanged(call);
  NamedAttrList args;
  for (StringRef name : {"input", "weight", "bias", "eps"})
    if (Attribute argument = call.get(name))
      args.set(name, argument);
  // The number of groups differs between ranks if they do not divide evenly: 32 groups over tp=3 are 11, 11 and 10. The
  // number of features of a group is the same everywhere, so the kernel derives the groups from its local features.
  args.set("group_features",
           intLiteral(call.args.getContext(), featureCount(call) / std::max<int64_t>(groupsOfNorm(call), 1)));
  return {normOfGroups.str(), args.getDictionary(call.args.getContext())};
}

/// Two numbers for each feature.
static OpCost batchNormCost(const CallView &call) {
  OpCost cost = copyCost(call);
  ArrayRef<int64_t> shape = call.results.front().getShape();
  cost.flops = 4 * call.results.front().getNumElements();
  cost.workspaceBytes = shape.size() > 1 ? 2 * shape[1] * 4 : 0;
  return cost;
}

/// Bytes that a norm reads, and `numbers` for each of `parts` parts of each sample.
static OpCost sampleNormCost(const CallView &call, int64_t parts, int64_t numbers) {
  OpCost cost = copyCost(call);
  RankedTensorType result = call.results.front();
  cost.flops = 4 * result.getNumElements();
  int64_t samples = result.getRank() > 1 ? result.getDimSize(0) : 0;
  cost.workspaceBytes = imageBytes(call, "input") + samples * parts * numbers * 4;
  return cost;
}

/// Computed as a batch norm with samples as features, for which statistics, weight and bias are repeated.
static OpCost instanceNormCost(const CallView &call) {
  RankedTensorType result = call.results.front();
  int64_t affine = call.getOperand("weight").has_value() + call.getOperand("bias").has_value();
  return sampleNormCost(call, result.getRank() > 1 ? result.getDimSize(1) : 0, 4 + affine);
}

static OpCost groupNormCost(const CallView &call) {
  return sampleNormCost(call, std::clamp<int64_t>(groupsOfNorm(call), 0, call.results.front().getNumElements()), 2);
}

void addNormalizationRecords(OpRegistry &registry) {
  for (StringRef target :
       {"aten.softmax.int", "aten._softmax.default", "aten.log_softmax.int", "aten._log_softmax.default"})
    registry.add({.target = target, .rule = wholeDimRule<0>, .linearity = notLinear, .cost = softmaxCost});
  registry.add({.target = "aten._safe_softmax.default",
                .rule = wholeDimRule<0>,
                .linearity = notLinear,
                .cost = safeSoftmaxCost});
  for (StringRef target : {"aten.layer_norm.default", "aten.native_layer_norm.default"})
    registry.add({.target = target, .rule = normRule, .linearity = notLinear, .cost = layerNormCost, .isCheap = true});
  for (StringRef target : {"aten.rms_norm.default", "aten._fused_rms_norm.default"})
    registry.add({.target = target, .rule = normRule, .linearity = notLinear, .cost = rmsNormCost, .isCheap = true});
  for (StringRef target : {"aten.batch_norm.default", "aten._native_batch_norm_legit_no_training.default"})
    registry.add({.target = target,
                  .rule = batchNormRule,
                  .linearity = notLinear,
                  .cost = batchNormCost,
                  .strides = likeImage,
                  .isCheap = true});
  registry.add({.target = "aten.instance_norm.default",
                .rule = instanceNormRule,
                .linearity = notLinear,
                .cost = instanceNormCost,
                .isCheap = true});
  for (StringRef target : {StringRef("aten.group_norm.default"), StringRef(normOfGroups)})
    registry.add({.target = target,
                  .rule = groupNormRule,
                  .linearity = notLinear,
                  .cost = groupNormCost,
                  .localize = localizeGroupNorm,
                  .localizesArguments = true,
                  .isCheap = true});
}

} // namespace meshplan
