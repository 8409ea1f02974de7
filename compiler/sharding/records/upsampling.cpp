//===- upsampling.cpp - records of images of another size -----------------===//
//
// Neighbouring elements of the input are mixed, so the spatial dims are whole;
// samples and features can be divided.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

static bool fits(const CallView &call) {
  return call.operands.size() == 1 && call.results.size() == 1 && call.operands.front().getRank() >= 3 &&
         call.operands.front().getRank() == call.results.front().getRank();
}

static FactorRule upsampleRule(const CallView &call) {
  RuleBuilder builder(call);
  if (!fits(call))
    return builder.finish();
  TensorRef input = builder.operand("input"), result = builder.result();
  for (int64_t dim : {0, 1})
    builder.tie({input[dim], result[dim]});
  return builder.finish();
}

/// `taps`: number of elements of the input that are mixed along a dim.
static OpCost upsampleCost(const CallView &call, int64_t taps) {
  OpCost cost = copyCost(call);
  if (!fits(call))
    return cost;
  RankedTensorType input = call.operands.front(), result = call.results.front();
  ArrayRef<int64_t> sizes = result.getShape().drop_front(2);
  cost.flops = 2 * result.getNumElements();
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    cost.flops *= taps;
  Strides strides = call.getStrides(0);
  bool hasFeaturesInnermost = input.getDimSize(1) == 1 || StridedShape{input.getShape(), strides}.isChannelsLast();
  // The kernel for small images reads and writes channels-last; the other kernels build a table of the mixed elements.
  // Mirrors the choice between ATen's kernels on a CPU.
  bool isSmall = sizes.size() == 2 && taps < 4 && sizes[0] + sizes[1] <= 128;
  if (isSmall)
    cost.workspaceBytes = hasFeaturesInnermost ? 0 : tensorBytes(input) + tensorBytes(result);
  else
    for (int64_t size : sizes)
      cost.workspaceBytes += size * taps * (8 + 4);
  return cost;
}

template <int64_t Taps> static OpCost upsampleCost(const CallView &call) { return upsampleCost(call, Taps); }

template <int64_t Taps> static void addUpsampling(OpRegistry &registry, std::initializer_list<StringRef> targets) {
  for (StringRef target : targets)
    registry.add({.target = target,
                  .rule = upsampleRule,
                  .linearity = inInput,
                  .cost = upsampleCost<Taps>,
                  .strides = likeImage});
}

void addUpsamplingRecords(OpRegistry &registry) {
  addUpsampling<1>(registry, {"aten.upsample_nearest1d.vec", "aten.upsample_nearest2d.vec",
                              "aten.upsample_nearest3d.vec", "aten._upsample_nearest_exact1d.vec",
                              "aten._upsample_nearest_exact2d.vec", "aten._upsample_nearest_exact3d.vec"});
  addUpsampling<2>(registry,
                   {"aten.upsample_linear1d.vec", "aten.upsample_bilinear2d.vec", "aten.upsample_trilinear3d.vec"});
  addUpsampling<4>(registry, {"aten.upsample_bicubic2d.vec"});
}

} // namespace meshplan
