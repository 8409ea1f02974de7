//===- functions.cpp - functions of elements and weights ------------------===//

#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/transforms/import/composites/composites.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace meshplan;

/// float_power: pow in float64. Complex numbers have a type of their own.
static SmallVector<Value> floatPower(const Composite &call) {
  StringRef overload = call.getView().target.rsplit('.').second;
  if (!call.resultElement().isF64())
    return {};
  std::string target = ("aten.pow." + overload).str();
  CallBuilder pow = call.make(target);
  for (StringRef name : {"self", "exponent"}) {
    if (Value tensor = call.operand(name))
      pow.tensor(name, call.convert(tensor, call.resultElement()));
    else
      pow.literal(name, call.getView().get(name));
  }
  return {pow.build(call.resultShape(), call.resultElement())};
}

/// _weight_norm: v * (g / |v|), with a norm for each index of `dim`, or one of all elements if it is -1. Half types are
/// computed in float32.
static SmallVector<Value> weightNorm(const Composite &call) {
  Value direction = call.operand("v"), length = call.operand("g");
  if (!direction || !length)
    return {};
  int64_t rank = shapeOf(direction).size(), kept = call.getView().getInt("dim", 0);
  SmallVector<int64_t> dims, shape(rank, 1);
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim == kept)
      shape[dim] = shapeOf(direction)[dim];
    else
      dims.push_back(dim);
  if (dims.empty() || kept >= rank || kept < -1)
    return {};
  Type wide = elementOf(direction).getIntOrFloatBitWidth() < 32 ? Float32Type::get(direction.getContext())
                                                                : elementOf(direction);
  Value v = call.convert(direction, wide), g = call.convert(length, wide);
  Value norm = call.make("aten.linalg_vector_norm.default")
                   .tensor("self", v)
                   .number("ord", 2)
                   .integers("dim", dims)
                   .flag("keepdim", true)
                   .build(shape, wide);
  Value scale = call.make("aten.div.Tensor").tensor("self", g).tensor("other", norm).build(shape, wide);
  Value weight = call.make("aten.mul.Tensor").tensor("self", v).tensor("other", scale).build(shapeOf(direction), wide);
  return {call.convert(weight, call.resultElement())};
}

void meshplan::addFunctionComposites(llvm::StringMap<CompositeRule> &table) {
  for (StringRef overload : {"Tensor_Tensor", "Tensor_Scalar", "Scalar"})
    table[("aten.float_power." + overload).str()] = floatPower;
  table["aten._weight_norm.default"] = weightNorm;
}
