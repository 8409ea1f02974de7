//===- memory.cpp - copies of strided operands in kernels -----------------===//
//
// Temporary memory of kernels follows from the strides of their operands: most kernels copy an operand that is not in
// the order that they read. What ATen does is not documented, so each rule here is what its source does on a CPU, and
// tests compare the strides with PyTorch's (test/lib/strides).
//
// Example: a weight of `linear` that is the transpose of a row-major [8, 4] tensor has the shape [4, 8] and the strides
// [1, 4]. BLAS takes it as it is (matrixBytes is 0); a kernel that reads rows copies it first (contiguousBytes).
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/cost.h"

using namespace mlir;

namespace meshplan {

bool isContiguous(const CallView &call, unsigned operand) {
  Strides strides = call.getStrides(operand);
  return StridedShape{call.operands[operand].getShape(), strides}.isContiguous();
}

bool isTransposed(const CallView &call, unsigned operand) {
  ArrayRef<int64_t> shape = call.operands[operand].getShape();
  Strides strides = call.getStrides(operand);
  size_t rank = shape.size();
  return rank >= 2 && shape[rank - 1] != 1 && strides[rank - 1] != 1 && strides[rank - 2] == 1;
}

int64_t contiguousBytes(const CallView &call) {
  int64_t bytes = 0;
  for (auto [index, type] : llvm::enumerate(call.operands))
    bytes += isContiguous(call, index) ? 0 : tensorBytes(type);
  return bytes;
}

int64_t contiguousBytes(const CallView &call, StringRef name) {
  std::optional<unsigned> operand = call.getOperand(name);
  return operand && !isContiguous(call, *operand) ? tensorBytes(call.operands[*operand]) : 0;
}

int64_t imageBytes(const CallView &call, StringRef name) {
  std::optional<unsigned> operand = call.getOperand(name);
  if (!operand)
    return 0;
  Strides strides = call.getStrides(*operand);
  return StridedShape{call.operands[*operand].getShape(), strides}.isChannelsLast() ? 0 : contiguousBytes(call, name);
}

OpCost rowMajorCopyCost(const CallView &call) {
  OpCost cost = copyCost(call);
  cost.workspaceBytes = contiguousBytes(call);
  return cost;
}

int64_t matrixBytes(const CallView &call, StringRef name) {
  std::optional<unsigned> operand = call.getOperand(name);
  if (!operand || call.operands[*operand].getRank() != 2)
    return 0;
  ArrayRef<int64_t> shape = call.operands[*operand].getShape();
  Strides strides = call.getStrides(*operand);
  // BLAS reads a matrix with unit stride along one dim and any leading dimension that fits the other dim. The stride of
  // a dim of size 1 does not matter.
  bool rows = (strides[1] == 1 || shape[1] == 1) && strides[0] >= shape[1];
  bool columns = (strides[0] == 1 || shape[0] == 1) && strides[1] >= shape[0];
  // A leading dimension that is smaller than the rows, as in a broadcast view of stride 0, makes rows overlap, which
  // BLAS refuses.
  return rows || columns ? 0 : tensorBytes(call.operands[*operand]);
}

int64_t reshapeBytes(const CallView &call, unsigned operand, ArrayRef<int64_t> expanded, ArrayRef<int64_t> shape) {
  RankedTensorType type = call.operands[operand];
  Strides own = call.getStrides(operand), strides = expandedStrides({type.getShape(), own}, expanded);
  bool isView = viewStrides({expanded, strides}, shape).has_value();
  return isView ? 0 : ShapedType::getNumElements(expanded) * plan::elementBytes(type.getElementType());
}

bool isBlockedConvolution(RankedTensorType input, RankedTensorType weight, int64_t batch, int64_t groups) {
  // 16-bit types always use oneDNN, doubles never do.
  if (plan::elementBytes(input.getElementType()) != 4)
    return plan::elementBytes(input.getElementType()) < 4;
  ArrayRef<int64_t> window = weight.getShape().drop_front(2);
  bool isWide = window.size() > 1 && window.back() > 3 && window.end()[-2] > 3;
  int64_t positions = ShapedType::getNumElements(input.getShape().take_front(4));
  return groups > 1 || isWide || batch > 1 || positions > 20480;
}

Strides likeOperands(const CallView &call, unsigned result) {
  ArrayRef<int64_t> shape = call.results[result].getShape();
  SmallVector<Strides> strides;
  for (unsigned index = 0; index < call.operands.size(); ++index)
    strides.push_back(call.getStrides(index));
  SmallVector<StridedShape> operands;
  for (auto [type, own] : llvm::zip_equal(call.operands, strides))
    if (type.getRank() <= static_cast<int64_t>(shape.size()))
      operands.push_back({type.getShape(), own});
  return elementwiseStrides(shape, operands);
}

Strides likeCopy(const CallView &call, unsigned) {
  Strides strides = call.getStrides(0);
  return copyStrides({call.operands.front().getShape(), strides});
}

Strides likeFirst(const CallView &call, unsigned) { return call.getStrides(0); }

Strides likeImage(const CallView &call, unsigned result) {
  ArrayRef<int64_t> shape = call.results[result].getShape();
  Strides strides = call.getStrides(0);
  StridedShape operand{call.operands.front().getShape(), strides};
  bool keeps = shape.size() == operand.shape.size() && operand.isChannelsLast();
  return keeps ? channelsLastStrides(shape) : contiguousStrides(shape);
}

Strides permutedStrides(const CallView &call, ArrayRef<int64_t> order) {
  Strides own = call.getStrides(0), strides;
  for (int64_t dim : order)
    strides.push_back(dim >= 0 && dim < static_cast<int64_t>(own.size()) ? own[dim] : 0);
  return strides;
}

Strides reshapedStrides(const CallView &call, unsigned result) {
  ArrayRef<int64_t> shape = call.results[result].getShape();
  Strides strides = call.getStrides(0);
  return viewStrides({call.operands.front().getShape(), strides}, shape).value_or(contiguousStrides(shape));
}

} // namespace meshplan
