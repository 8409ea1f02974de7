//===- functions.cpp - functions of elements and weights ------------------===//

#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/transforms/import/composites/composites.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace meshplan;

/// float_power: pow in float64. Complex numbers are not supported.
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

static Type wideTypeOf(Type element) {
  return element.getIntOrFloatBitWidth() < 32 ? Type(Float32Type::get(element.getContext())) : element;
}

/// _weight_norm: v * (g / |v|), with a norm for each index of `dim`, or a single norm of all elements if `dim` is -1.
/// Half types are computed in float32.
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
  Type wide = wideTypeOf(elementOf(direction));
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

/// glu: the first half of a dim times the sigmoid of the second half. Half types are computed in float32, as in its
/// kernel.
static SmallVector<Value> gatedHalf(const Composite &call) {
  Value self = call.operand("self");
  int64_t dim = self ? normalizeDim(call.getView().getInt("dim", -1), shapeOf(self).size()) : -1;
  if (dim < 0 || shapeOf(self)[dim] == 0 || call.resultShape().size() != shapeOf(self).size())
    return {};
  ArrayRef<int64_t> shape = call.resultShape();
  Type element = call.resultElement(), wide = wideTypeOf(element);
  auto half = RankedTensorType::get(shape, element);
  plan::CallOp halves = call.make("aten.split.Tensor")
                            .tensor("self", self)
                            .integer("split_size", shape[dim])
                            .integer("dim", dim)
                            .build(TypeRange{half, half});
  Value gate =
      call.make("aten.sigmoid.default").tensor("self", call.convert(halves.getResult(1), wide)).build(shape, wide);
  Value product = call.make("aten.mul.Tensor")
                      .tensor("self", call.convert(halves.getResult(0), wide))
                      .tensor("other", gate)
                      .build(shape, wide);
  return {call.convert(product, element)};
}

void meshplan::addFunctionComposites(llvm::StringMap<CompositeRule> &table) {
  for (StringRef overload : {"Tensor_Tensor", "Tensor_Scalar", "Scalar"})
    table[("aten.float_power." + overload).str()] = floatPower;
  table["aten._weight_norm.default"] = weightNorm;
  table["aten.glu.default"] = gatedHalf;
}
