//===- result_types.cpp - result types after autocast ---------------------===//

#include "compiler/transforms/import/autocast/result_types.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace meshplan;

FloatType meshplan::widerOf(FloatType left, FloatType right) {
  if (!left || !right || left == right)
    return left ? left : right;
  unsigned leftBits = left.getWidth(), rightBits = right.getWidth();
  // Neither bf16 nor f16 holds all numbers of the other.
  if (leftBits == rightBits)
    return Float32Type::get(left.getContext());
  return leftBits > rightBits ? left : right;
}

FloatType meshplan::promotedType(const CallView &call) {
  FloatType withDims, without;
  for (RankedTensorType operand : call.operands)
    if (auto element = dyn_cast<FloatType>(operand.getElementType())) {
      FloatType &known = operand.getRank() > 0 ? withDims : without;
      known = widerOf(known, element);
    }
  return withDims ? withDims : without;
}

/// True if the results have the type of the first operand, whatever the other operands are.
static bool followsSelf(StringRef target) {
  return llvm::StringSwitch<bool>(target)
      .Cases({"aten.copy.default", "aten.index_fill.int_Scalar", "aten.index_fill.int_Tensor",
              "aten.masked_fill.Scalar", "aten.masked_fill.Tensor", "aten.select_scatter.default",
              "aten.slice_scatter.default"},
             true)
      .Default(false);
}

/// True for means, deviations and log sums that a kernel returns for its derivative, in f32.
static bool isStatistic(StringRef target, unsigned result) {
  return result > 0 && (target.contains("norm") || target.contains("scaled_dot_product"));
}

Type meshplan::resultTypeOf(const CallView &call, unsigned result) {
  Type known = call.results[result].getElementType();
  if (!isa<FloatType>(known) || isa_and_present<TypeAttr>(call.get("dtype")) || isStatistic(call.target, result))
    return known;
  if (call.target == "aten.broadcast_tensors.default" && result < call.operands.size())
    return call.operands[result].getElementType();
  std::optional<unsigned> self = followsSelf(call.target) ? call.getOperand("self") : std::nullopt;
  if (self)
    return call.operands[*self].getElementType();
  FloatType promoted = promotedType(call);
  return promoted ? promoted : known;
}

static bool makesElementsOfNumbers(StringRef target) {
  return llvm::StringSwitch<bool>(target)
      .Cases({"aten.clamp.default", "aten.clamp_min.default", "aten.clamp_max.default", "aten.hardtanh.default"}, true)
      .Cases({"aten.masked_fill.Scalar", "aten.index_fill.int_Scalar", "aten.scatter.value", "aten.fill.Scalar"}, true)
      .Cases({"aten.constant_pad_nd.default", "aten.pad.default", "aten.threshold.default"}, true)
      .Cases({"aten.full_like.default", "aten.new_full.default"}, true)
      .Default(false);
}

DictionaryAttr meshplan::argsWithin(const CallView &call, Type element) {
  auto type = dyn_cast<FloatType>(element);
  if (!type || !makesElementsOfNumbers(call.target))
    return call.args;
  // A model writes the lowest number of the type of its tensor. The archive has that of f32, which is infinite in f16,
  // and PyTorch refuses to fill with it.
  APFloat largest = APFloat::getLargest(type.getFloatSemantics());
  double bound = largest.convertToDouble();
  NamedAttrList args(call.args);
  for (NamedAttribute argument : call.args)
    if (auto number = dyn_cast<FloatAttr>(argument.getValue()))
      if (double value = number.getValueAsDouble(); std::isfinite(value) && std::abs(value) > bound)
        args.set(argument.getName(), FloatAttr::get(number.getType(), std::copysign(bound, value)));
  return args.getDictionary(call.args.getContext());
}
