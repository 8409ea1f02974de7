//===- cost.cpp - costs that many operators share -------------------------===//

#include "compiler/sharding/record_support/cost.h"

using namespace mlir;

namespace meshplan {

int64_t tensorBytes(RankedTensorType type) { return type.getNumElements() * plan::elementBytes(type.getElementType()); }

int64_t trafficBytes(const CallView &call) {
  int64_t bytes = 0;
  for (RankedTensorType type : call.operands)
    bytes += tensorBytes(type);
  for (RankedTensorType type : call.results)
    bytes += tensorBytes(type);
  return bytes;
}

OpCost viewCost(const CallView &) {
  OpCost cost;
  cost.aliases = true;
  return cost;
}

OpCost copyCost(const CallView &call) {
  OpCost cost;
  cost.bytes = trafficBytes(call);
  return cost;
}

/// Order of PyTorch's type promotion: floats above integers above booleans, then by width.
static std::pair<bool, unsigned> promotionRank(Type type) {
  return {isa<FloatType>(type), type.getIntOrFloatBitWidth()};
}

OpCost pointwiseCost(const CallView &call, int64_t flops) {
  OpCost cost = copyCost(call);
  if (!call.results.empty())
    cost.flops = flops * call.results.front().getNumElements();
  Type common = call.results.empty() ? Type() : call.results.front().getElementType();
  for (RankedTensorType type : call.operands)
    if (!common || promotionRank(type.getElementType()) > promotionRank(common))
      common = type.getElementType();
  for (RankedTensorType type : call.operands)
    // A pointwise kernel computes in the common type of operands and result; ATen converts other operands into
    // temporary tensors first.
    if (type.getElementType() != common)
      cost.workspaceBytes += type.getNumElements() * plan::elementBytes(common);
  return cost;
}

int64_t lastDim(const CallView &call, StringRef name) {
  std::optional<unsigned> operand = call.getOperand(name);
  return operand && call.operands[*operand].getRank() > 0 ? call.operands[*operand].getShape().back() : 1;
}

/// Operands of more than two dims are batches of matrices, unless the second one is a single matrix: then all dims of
/// the first one but the last are rows.
static ProductExtents extentsOf(const CallView &call, int64_t contracted) {
  RankedTensorType result = call.results.front();
  int64_t elements = result.getNumElements(), n = result.getRank() > 0 ? result.getShape().back() : 1;
  bool isBatched = result.getRank() > 2 && call.operands.size() > 1 && call.operands[1].getRank() > 2;
  int64_t m = isBatched ? result.getShape()[result.getRank() - 2] : elements / std::max<int64_t>(n, 1);
  return {m, n, contracted, isBatched ? elements / std::max<int64_t>(m * n, 1) : 1};
}

OpCost productCost(const CallView &call, int64_t contracted) {
  OpCost cost = copyCost(call);
  cost.flops = 2 * call.results.front().getNumElements() * contracted;
  cost.product = extentsOf(call, contracted);
  return cost;
}

int64_t rowsOfGroup(const CallView &call, int64_t rows) {
  std::optional<unsigned> offs = call.getOperand("offs");
  // How many rows a group has is known only when the step runs. Groups of equal size are assumed.
  return llvm::divideCeil(rows, offs ? std::max<int64_t>(call.operands[*offs].getNumElements(), 1) : 1);
}

} // namespace meshplan
