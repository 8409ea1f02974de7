//===- operand_access.cpp - how a call accesses its operands --------------===//

#include "compiler/transforms/schedule/operand_access.h"

#include "compiler/cluster/estimate.h"

using namespace mlir;
using namespace meshplan;
namespace keys = meshplan::cluster_keys;

/// The operands that count.
static SmallVector<unsigned> floatsOf(const CallView &call) {
  SmallVector<unsigned> operands;
  for (auto [index, type] : llvm::enumerate(call.operands))
    if (isa<FloatType>(type.getElementType()) && type.getNumElements() > 1)
      operands.push_back(index);
  return operands;
}

StringRef meshplan::operandAccess(const CallView &call, bool isPointwise) {
  SmallVector<unsigned> operands = floatsOf(call);
  if (operands.empty() || call.results.empty())
    return {};
  auto tensor = [&](unsigned operand, const Strides &strides) {
    return StridedShape{call.operands[operand].getShape(), strides};
  };
  if (!isPointwise) {
    bool inOrder = llvm::all_of(operands, [&](unsigned operand) {
      Strides strides = call.getStrides(operand);
      return tensor(operand, strides).isContiguous();
    });
    return inOrder ? StringRef() : StringRef(keys::strided);
  }
  ArrayRef<int64_t> shape = call.results.front().getShape();
  SmallVector<Strides> whole;
  bool isBroadcast = false;
  for (unsigned operand : operands) {
    if (call.operands[operand].getElementType() != call.operands[operands.front()].getElementType())
      return keys::converted;
    if (call.operands[operand].getShape() == shape)
      whole.push_back(call.getStrides(operand));
    else
      isBroadcast = true;
  }
  auto differs = [&](const Strides &strides) {
    // A dim of one element may have any stride.
    return llvm::any_of(llvm::enumerate(strides),
                        [&](auto dim) { return shape[dim.index()] != 1 && dim.value() != whole.front()[dim.index()]; });
  };
  if (llvm::any_of(whole, differs))
    return keys::strided;
  return isBroadcast ? StringRef(keys::broadcast) : StringRef();
}
