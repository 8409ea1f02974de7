//===- call_view.cpp - an operator with its arguments and types -----------===//

#include "compiler/sharding/op_record.h"

using namespace mlir;

namespace meshplan {

CallView CallView::of(plan::CallOp call) {
  CallView view;
  view.target = call.getTarget();
  view.args = call.getArgs();
  for (Type type : call.getOperandTypes())
    view.operands.push_back(cast<RankedTensorType>(type));
  for (Type type : call.getResultTypes())
    view.results.push_back(cast<RankedTensorType>(type));
  return view;
}

int64_t CallView::getInt(StringRef name, int64_t otherwise) const {
  auto value = dyn_cast_or_null<IntegerAttr>(get(name));
  // A BoolAttr is an IntegerAttr of one bit, in which true would read as -1.
  return value && !isa<BoolAttr>(value) && value.getValue().isSignedIntN(64) ? value.getValue().getSExtValue()
                                                                             : otherwise;
}

double CallView::getFloat(StringRef name, double otherwise) const {
  if (auto value = dyn_cast_or_null<FloatAttr>(get(name)))
    return value.getValueAsDouble();
  // PyTorch uses booleans as numbers, too: x * (n < 7).
  if (auto truth = dyn_cast_or_null<BoolAttr>(get(name)))
    return truth.getValue() ? 1 : 0;
  auto value = dyn_cast_or_null<IntegerAttr>(get(name));
  return value ? static_cast<double>(value.getValue().getSExtValue()) : otherwise;
}

bool CallView::getBool(StringRef name, bool otherwise) const {
  auto value = dyn_cast_or_null<BoolAttr>(get(name));
  return value ? value.getValue() : otherwise;
}

std::optional<SmallVector<int64_t>> CallView::getInts(StringRef name) const {
  if (auto dense = dyn_cast_or_null<DenseI64ArrayAttr>(get(name)))
    return llvm::to_vector(dense.asArrayRef());
  auto list = dyn_cast_or_null<ArrayAttr>(get(name));
  if (!list)
    return std::nullopt;
  SmallVector<int64_t> values;
  for (Attribute item : list) {
    auto value = dyn_cast<IntegerAttr>(item);
    if (!value)
      return std::nullopt;
    values.push_back(value.getValue().getSExtValue());
  }
  return values;
}

/// The operand that an argument or an item of a list refers to.
static std::optional<unsigned> operandOf(const CallView &call, Attribute argument) {
  auto operand = dyn_cast_or_null<plan::OperandRefAttr>(argument);
  // Records are also asked about calls whose arguments do not fit their schema: an archive may contain anything.
  if (!operand || operand.getIndex() < 0 || operand.getIndex() >= static_cast<int64_t>(call.operands.size()))
    return std::nullopt;
  return operand.getIndex();
}

std::optional<unsigned> CallView::getOperand(StringRef name) const { return operandOf(*this, get(name)); }

SmallVector<std::optional<unsigned>> CallView::getOperands(StringRef name) const {
  SmallVector<std::optional<unsigned>> operands;
  if (auto list = dyn_cast_or_null<ArrayAttr>(get(name)))
    for (Attribute item : list)
      operands.push_back(operandOf(*this, item));
  return operands;
}

Strides CallView::getStrides(unsigned operand) const {
  return operand < strides.size() ? strides[operand] : contiguousStrides(operands[operand].getShape());
}

} // namespace meshplan
