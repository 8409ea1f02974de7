//===- similarity.cpp - records of angles and distances of vectors --------===//
//
// Vectors extend along one dim, which is whole; all other dims can be divided.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

/// Vectors of x1 and x2, which broadcast, along dim `along` of both. The result does not have this dim unless `keeps`.
static FactorRule pairedRule(const CallView &call, int64_t along, bool keeps) {
  RuleBuilder builder(call);
  TensorRef left = builder.operand("x1"), right = builder.operand("x2"), result = builder.result();
  int64_t rank = std::max(left.getRank(), right.getRank());
  int64_t vectors = normalizeDim(along, rank);
  for (int64_t dim = 0; dim < rank && vectors >= 0; ++dim)
    if (dim != vectors)
      builder.tie({left[dim - rank], right[dim - rank], result[dim > vectors && !keeps ? dim - 1 : dim]});
  return builder.finish();
}

static FactorRule cosineRule(const CallView &call) { return pairedRule(call, call.getInt("dim", 1), /*keeps=*/false); }

static FactorRule pairwiseRule(const CallView &call) { return pairedRule(call, -1, call.getBool("keepdim", false)); }

/// [.., n, k] and [.., m, k] to [.., n, m].
static FactorRule cdistRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef left = builder.operand("x1"), right = builder.operand("x2"), result = builder.result();
  for (int64_t dim = 0; dim + 2 < result.getRank(); ++dim) {
    int64_t fromEnd = dim - result.getRank();
    builder.tie({left[fromEnd], right[fromEnd], result[dim]});
  }
  builder.tie({left[-2], result[-2]});
  builder.tie({right[-2], result[-1]});
  return builder.finish();
}

/// Vectors of three elements along `dim`. Without `dim` it is the first dim of size 3, which a division may change.
static FactorRule crossRule(const CallView &call) {
  bool isKnown = call.target == "aten.linalg_cross.default" || isa_and_present<IntegerAttr>(call.get("dim"));
  return isKnown ? wholeDimRule(call, -1) : RuleBuilder(call).finish();
}

static Linearity crossLinearity(const CallView &call) { return linearIn(call, {{"self"}, {"other"}}); }

/// Number of elements of x1 and x2 after broadcasting.
static int64_t commonElements(const CallView &call) {
  int64_t rank = 0, elements = 1;
  for (RankedTensorType type : call.operands)
    rank = std::max(rank, type.getRank());
  for (int64_t fromEnd = 1; fromEnd <= rank; ++fromEnd) {
    int64_t size = 1;
    for (RankedTensorType type : call.operands)
      if (fromEnd <= type.getRank() && type.getDimSize(type.getRank() - fromEnd) != 1)
        size = type.getDimSize(type.getRank() - fromEnd);
    elements *= size;
  }
  return elements;
}

/// Both operands divided by their norms, the norms, and the products.
static OpCost cosineCost(const CallView &call) {
  OpCost cost = copyCost(call);
  RankedTensorType result = call.results.front();
  int64_t elements = commonElements(call);
  cost.flops = 10 * elements;
  cost.workspaceBytes = (3 * elements + 2 * result.getNumElements()) * plan::elementBytes(result.getElementType());
  return cost;
}

/// The differences, without and with epsilon.
static OpCost pairwiseCost(const CallView &call) {
  OpCost cost = copyCost(call);
  int64_t elements = commonElements(call);
  cost.flops = 4 * elements;
  cost.workspaceBytes = 2 * elements * plan::elementBytes(call.results.front().getElementType());
  return cost;
}

/// Number of vectors of an operand of cdist, whose dims before the last two broadcast.
static int64_t vectorCount(const CallView &call, unsigned operand) {
  RankedTensorType type = call.operands[operand], result = call.results.front();
  int64_t batch = ShapedType::getNumElements(result.getShape().drop_back(std::min<int64_t>(2, result.getRank())));
  return type.getRank() < 2 ? 0 : batch * type.getDimSize(type.getRank() - 2);
}

/// More than 25 vectors are compared with a matrix product of [-2 x1, |x1|^2, 1] and [x2, 1, |x2|^2].
static OpCost cdistCost(const CallView &call) {
  OpCost cost = copyCost(call);
  std::optional<unsigned> left = call.getOperand("x1"), right = call.getOperand("x2");
  if (!left || !right || call.operands[*left].getRank() < 2 || call.operands[*right].getRank() < 2)
    return cost;
  RankedTensorType first = call.operands[*left], second = call.operands[*right], result = call.results.front();
  int64_t features = first.getShape().back(), elementBytes = plan::elementBytes(result.getElementType());
  cost.flops = 3 * features * result.getNumElements();
  int64_t mode = call.getInt("compute_mode", 0);
  bool isLong = std::max(first.getDimSize(first.getRank() - 2), second.getDimSize(second.getRank() - 2)) > 25;
  if (call.getFloat("p", 2) != 2 || mode == 2 || (mode == 0 && !isLong)) {
    for (unsigned operand : {*left, *right}) {
      int64_t expanded = vectorCount(call, operand) * features;
      if (expanded != call.operands[operand].getNumElements() || !isContiguous(call, operand))
        cost.workspaceBytes += expanded * elementBytes;
    }
    return cost;
  }
  int64_t rows = vectorCount(call, *left), columns = vectorCount(call, *right), made = result.getNumElements();
  int64_t firstMatrix = rows * (features + 2), secondMatrix = columns * (features + 2), norms = 2 * (rows + columns);
  int64_t most = std::max({firstMatrix + secondMatrix, firstMatrix + rows * features + norms - made,
                           firstMatrix + secondMatrix + columns * features + norms - made});
  cost.workspaceBytes = most * elementBytes;
  return cost;
}

void addSimilarityRecords(OpRegistry &registry) {
  registry.add(
      {.target = "aten.cosine_similarity.default", .rule = cosineRule, .linearity = notLinear, .cost = cosineCost});
  registry.add(
      {.target = "aten.pairwise_distance.default", .rule = pairwiseRule, .linearity = notLinear, .cost = pairwiseCost});
  for (StringRef target : {"aten.cdist.default", "aten._cdist_forward.default"})
    registry.add({.target = target, .rule = cdistRule, .linearity = notLinear, .cost = cdistCost});
  for (StringRef target : {"aten.linalg_cross.default", "aten.cross.default"})
    registry.add({.target = target, .rule = crossRule, .linearity = crossLinearity, .cost = pointwiseCost<3>});
}

} // namespace meshplan
