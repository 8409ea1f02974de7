//===- vectors.cpp - records of products with vectors ---------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

/// Each of two operands alone.
template <const char *Left, const char *Right> static Linearity inEither(const CallView &call) {
  return linearIn(call, {{Left}, {Right}});
}

static constexpr char self[] = "self";
static constexpr char tensor[] = "tensor";
static constexpr char vec[] = "vec";
static constexpr char vec2[] = "vec2";

//===----------------------------------------------------------------------===//
// mv: [n, k] x [k]; addmv: beta * self + alpha * (mat x vec)
//===----------------------------------------------------------------------===//

static FactorRule mvRule(const CallView &call) {
  RuleBuilder builder(call);
  builder.tie({builder.operand("self")[0], builder.result()[0]});
  builder.tie({builder.operand("self")[1], builder.operand("vec")[0]}, FactorKind::sum);
  return builder.finish();
}

/// Each rank would add self to its part of the contraction, so the contraction is whole.
static FactorRule addmvRule(const CallView &call) {
  RuleBuilder builder(call);
  builder.tie({builder.operand("mat")[0], builder.operand("self")[-1], builder.result()[0]});
  return builder.finish();
}

static Linearity addmvLinearity(const CallView &call) { return linearIn(call, {{"self", "mat"}, {"self", "vec"}}); }

static OpCost mvCost(const CallView &call) {
  OpCost cost = productCost(call, lastDim(call, "vec"));
  cost.workspaceBytes = matrixBytes(call, call.get("mat") ? "mat" : "self");
  return cost;
}

//===----------------------------------------------------------------------===//
// dot, vdot: [k] x [k]; outer: [n] x [m]; inner: [.., k] x [.., k]
//===----------------------------------------------------------------------===//

template <const char *Right> static FactorRule dotRule(const CallView &call) {
  RuleBuilder builder(call);
  builder.tie({builder.operand("self")[0], builder.operand(Right)[0]}, FactorKind::sum);
  return builder.finish();
}

static FactorRule outerRule(const CallView &call) {
  RuleBuilder builder(call);
  builder.tie({builder.operand("self")[0], builder.result()[0]});
  builder.tie({builder.operand("vec2")[0], builder.result()[1]});
  return builder.finish();
}

/// The dims of self except the last, then those of other. A scalar only scales.
static FactorRule innerRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef left = builder.operand("self"), right = builder.operand("other"), result = builder.result();
  if (left.getRank() == 0 || right.getRank() == 0)
    return builder.finish();
  for (int64_t dim = 0; dim + 1 < left.getRank(); ++dim)
    builder.tie({left[dim], result[dim]});
  for (int64_t dim = 0; dim + 1 < right.getRank(); ++dim)
    builder.tie({right[dim], result[left.getRank() - 1 + dim]});
  builder.tie({left[-1], right[-1]}, FactorKind::sum);
  return builder.finish();
}

/// Each operand becomes one matrix; this is a copy unless it is row-major.
static OpCost innerCost(const CallView &call) {
  OpCost cost = productCost(call, lastDim(call, "self"));
  for (auto [index, type] : llvm::enumerate(call.operands))
    if (type.getRank() > 1 && !isContiguous(call, index))
      cost.workspaceBytes += tensorBytes(type);
  return cost;
}

//===----------------------------------------------------------------------===//
// bilinear: input1 [.., i], input2 [.., j], weight [out, i, j], bias [out]
//===----------------------------------------------------------------------===//

static FactorRule bilinearRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef first = builder.operand("input1"), second = builder.operand("input2"), weight = builder.operand("weight"),
            result = builder.result();
  for (int64_t dim = 0; dim + 1 < result.getRank(); ++dim)
    builder.tie({first[dim], second[dim], result[dim]});
  builder.tie({weight[0], builder.operand("bias")[0], result[-1]});
  // Both features may be divided, over different axes: the product is a sum over pairs of features, and a rank has the
  // pairs of its parts.
  builder.tie({first[-1], weight[1]}, FactorKind::sum);
  builder.tie({second[-1], weight[2]}, FactorKind::sum);
  return builder.finish();
}

static Linearity bilinearLinearity(const CallView &call) {
  return call.getOperand("bias") ? linearIn(call, {{"input1", "bias"}, {"input2", "bias"}, {"weight", "bias"}})
                                 : linearIn(call, {{"input1"}, {"input2"}, {"weight"}});
}

/// For each output feature the product of the first input with its matrix, and a column of sums. A bias is added
/// afterwards.
static OpCost bilinearCost(const CallView &call) {
  OpCost cost = productCost(call, lastDim(call, "input1") * lastDim(call, "input2"));
  RankedTensorType result = call.results.front();
  int64_t rows =
      result.getRank() > 0 && result.getShape().back() > 0 ? result.getNumElements() / result.getShape().back() : 0;
  int64_t ofFeature = rows * (lastDim(call, "input2") + 1) * plan::elementBytes(result.getElementType());
  int64_t added = call.getOperand("bias") ? tensorBytes(result) : 0;
  cost.workspaceBytes = std::max(ofFeature, added) + contiguousBytes(call);
  return cost;
}

void addVectorRecords(OpRegistry &registry) {
  registry.add({.target = "aten.mv.default", .rule = mvRule, .linearity = inEither<self, vec>, .cost = mvCost});
  registry.add({.target = "aten.addmv.default", .rule = addmvRule, .linearity = addmvLinearity, .cost = mvCost});
  registry.add(
      {.target = "aten.dot.default", .rule = dotRule<tensor>, .linearity = inEither<self, tensor>, .cost = innerCost});
  registry.add({.target = "aten.vdot.default",
                .rule = dotRule<argument::other>,
                .linearity = inEither<self, argument::other>,
                .cost = innerCost});
  registry.add(
      {.target = "aten.outer.default", .rule = outerRule, .linearity = inEither<self, vec2>, .cost = pointwiseCost<1>});
  registry.add({.target = "aten.inner.default",
                .rule = innerRule,
                .linearity = inEither<self, argument::other>,
                .cost = innerCost});
  registry.add({.target = "aten.bilinear.default",
                .rule = bilinearRule,
                .linearity = bilinearLinearity,
                .cost = bilinearCost,
                .splitAddend = splitBias});
}

} // namespace meshplan
