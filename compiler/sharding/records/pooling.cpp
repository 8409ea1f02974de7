//===- pooling.cpp - records of pools -------------------------------------===//
//
// The last dims, one for each dim of the window, are pooled; the other dims can
// be divided.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/windows.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

/// Ties all dims except the last `count`; false if the call does not fit its schema.
static bool tieLeadingDims(RuleBuilder &builder, const CallView &call, int64_t count) {
  TensorRef self = builder.operand("self"), result = builder.result();
  if (self.getRank() != result.getRank() || self.getRank() < count)
    return false;
  for (int64_t dim = 0; dim < self.getRank() - count; ++dim) {
    SmallVector<DimRef> dims{self[dim]};
    for (unsigned index = 0; index < call.results.size(); ++index)
      dims.push_back(builder.result(index)[dim]);
    builder.tie(dims);
  }
  return true;
}

/// max_pool and avg_pool. The default stride is the window size.
template <unsigned Count> static FactorRule poolRule(const CallView &call) {
  RuleBuilder builder(call);
  if (!tieLeadingDims(builder, call, Count) || call.results.size() != 1)
    return builder.finish();
  for (unsigned index = 0; index < Count; ++index) {
    std::optional<int64_t> size = windowArgument(call, "kernel_size", index, Count, 1);
    std::optional<int64_t> stride = windowArgument(call, "stride", index, Count, size.value_or(1)),
                           padding = windowArgument(call, "padding", index, Count, 0),
                           dilation = windowArgument(call, "dilation", index, Count, 1);
    int64_t dim = static_cast<int64_t>(index) - Count;
    if (size && stride && padding && dilation)
      tieWindows(builder, builder.operand("self")[dim], builder.result()[dim], {*size, *stride, *padding, *dilation});
  }
  return builder.finish();
}

/// The second result has positions over all pooled dims together, so these dims are whole.
template <unsigned Count> static FactorRule indexedPoolRule(const CallView &call) {
  RuleBuilder builder(call);
  tieLeadingDims(builder, call, Count);
  return builder.finish();
}

/// Windows have equal sizes and do not overlap if the output size divides the input size. Otherwise they may overlap.
template <unsigned Count> static FactorRule adaptivePoolRule(const CallView &call) {
  RuleBuilder builder(call);
  if (!tieLeadingDims(builder, call, Count))
    return builder.finish();
  for (int64_t dim = -static_cast<int64_t>(Count); dim < 0; ++dim) {
    DimRef self = builder.operand("self")[dim], result = builder.result()[dim];
    // 7 positions to 3: window i reads [floor(7i / 3), ceil(7(i + 1) / 3)), that is [0, 3), [2, 5) and [4, 7), which
    // overlap.
    if (result.size > 0 && self.size % result.size == 0)
      tieWindows(builder, self, result, {self.size / result.size, self.size / result.size, 0, 1});
  }
  return builder.finish();
}

/// Output sizes become those of the rank.
template <unsigned Count> static LocalCall localizeAdaptivePool(const CallView &call, plan::MeshOp) {
  RankedTensorType result = call.results.front();
  int64_t first = result.getRank() - Count;
  bool divided = false;
  for (int64_t dim = first; dim < result.getRank(); ++dim)
    divided |= isDivided(result, dim);
  if (!divided)
    return unchanged(call);
  return {call.target.str(), withArg(call.args, "output_size", localSizes(call, first, Count))};
}

/// Each element of the input is read about once.
static OpCost poolCost(const CallView &call) {
  OpCost cost = copyCost(call);
  cost.flops = call.operands.front().getNumElements();
  return cost;
}

/// The kernel of maxima also computes their positions, except in one dim with a row-major operand.
static OpCost maxPoolCost(const CallView &call) {
  OpCost cost = poolCost(call);
  bool isPlain = call.target == "aten.max_pool1d.default" && isContiguous(call, 0);
  if (call.results.size() == 1 && !isPlain)
    cost.workspaceBytes = 8 * call.results.front().getNumElements();
  return cost;
}

template <unsigned Count> static void addPools(OpRegistry &registry, StringRef max, StringRef average) {
  registry.add(
      {.target = max, .rule = poolRule<Count>, .linearity = notLinear, .cost = maxPoolCost, .strides = likeImage});
  registry.add(
      {.target = average, .rule = poolRule<Count>, .linearity = inSelf, .cost = poolCost, .strides = likeImage});
}

/// im2col: images [.., features, h, w] to columns [.., features * window, positions], one column for each position of
/// the window. col2im adds the columns up again.
static FactorRule columnsRule(const CallView &call, TensorRef (*imagesOf)(RuleBuilder &),
                              TensorRef (*columnsOf)(RuleBuilder &)) {
  RuleBuilder builder(call);
  TensorRef images = imagesOf(builder), columns = columnsOf(builder);
  int64_t features = images[-3].size;
  if (images.getRank() != columns.getRank() + 1 || features == 0 || columns[-2].size % features != 0)
    return builder.finish();
  if (images.getRank() == 4)
    builder.tie({images[0], columns[0]});
  if (features > 1) {
    unsigned factor = builder.add(features);
    builder.append(images[-3], factor);
    builder.append(columns[-2], factor);
  }
  if (int64_t window = columns[-2].size / features; window > 1)
    builder.append(columns[-2], builder.add(window, FactorKind::whole));
  return builder.finish();
}

static TensorRef selfOf(RuleBuilder &builder) { return builder.operand("self"); }
static TensorRef resultOf(RuleBuilder &builder) { return builder.result(); }

static FactorRule im2colRule(const CallView &call) { return columnsRule(call, selfOf, resultOf); }
static FactorRule col2imRule(const CallView &call) { return columnsRule(call, resultOf, selfOf); }

/// im2col copies its images (measured).
static OpCost im2colCost(const CallView &call) {
  OpCost cost = copyCost(call);
  cost.workspaceBytes = tensorBytes(call.operands.front());
  return cost;
}

/// Reads row-major or channels-last operands.
static OpCost adaptiveMaxPoolCost(const CallView &call) {
  OpCost cost = poolCost(call);
  cost.workspaceBytes = imageBytes(call, "self");
  return cost;
}

void addPoolingRecords(OpRegistry &registry) {
  addPools<1>(registry, "aten.max_pool1d.default", "aten.avg_pool1d.default");
  addPools<2>(registry, "aten.max_pool2d.default", "aten.avg_pool2d.default");
  addPools<3>(registry, "aten.max_pool3d.default", "aten.avg_pool3d.default");
  struct IndexedPool {
    StringRef target;
    FactorRule (*rule)(const CallView &);
    OpCost (*cost)(const CallView &);
  };
  for (IndexedPool pool : {IndexedPool{"aten.max_pool1d_with_indices.default", indexedPoolRule<1>, poolCost},
                           IndexedPool{"aten.max_pool2d_with_indices.default", indexedPoolRule<2>, poolCost},
                           IndexedPool{"aten.max_pool3d_with_indices.default", indexedPoolRule<3>, adaptiveMaxPoolCost},
                           IndexedPool{"aten.adaptive_max_pool1d.default", indexedPoolRule<1>, adaptiveMaxPoolCost},
                           IndexedPool{"aten.adaptive_max_pool2d.default", indexedPoolRule<2>, adaptiveMaxPoolCost},
                           IndexedPool{"aten.adaptive_max_pool3d.default", indexedPoolRule<3>, adaptiveMaxPoolCost}})
    registry.add(
        {.target = pool.target, .rule = pool.rule, .linearity = notLinear, .cost = pool.cost, .strides = likeImage});
  registry.add({.target = "aten.adaptive_avg_pool1d.default",
                .rule = adaptivePoolRule<1>,
                .linearity = inSelf,
                .cost = poolCost,
                .strides = likeImage,
                .localize = localizeAdaptivePool<1>,
                .localizesArguments = true});
  for (StringRef target : {"aten.adaptive_avg_pool2d.default", "aten._adaptive_avg_pool2d.default"})
    registry.add({.target = target,
                  .rule = adaptivePoolRule<2>,
                  .linearity = inSelf,
                  .cost = poolCost,
                  .strides = likeImage,
                  .localize = localizeAdaptivePool<2>,
                  .localizesArguments = true});
  for (StringRef target : {"aten.adaptive_avg_pool3d.default", "aten._adaptive_avg_pool3d.default"})
    registry.add({.target = target,
                  .rule = adaptivePoolRule<3>,
                  .linearity = inSelf,
                  .cost = poolCost,
                  .strides = likeImage,
                  .localize = localizeAdaptivePool<3>,
                  .localizesArguments = true});
  registry.add({.target = "aten.im2col.default", .rule = im2colRule, .linearity = inSelf, .cost = im2colCost});
  registry.add({.target = "aten.col2im.default", .rule = col2imRule, .linearity = inSelf, .cost = rowMajorCopyCost});
}

} // namespace meshplan
