//===- composition.cpp - a call over a divided dim as several -------------===//

#include "compiler/compositions/composition.h"

using namespace mlir;
using namespace meshplan;

Value Composition::operand(StringRef name) const {
  std::optional<unsigned> index = view.getOperand(name);
  return index ? call.getOperand(*index) : Value();
}

SmallVector<Value> Composition::operands(StringRef name) const {
  return llvm::map_to_vector(view.getOperands(name), [&](std::optional<unsigned> index) {
    return index ? Value(call.getOperand(*index)) : Value();
  });
}

Arithmetic Composition::math() const {
  return Arithmetic([call = call](StringRef target) { return CallBuilder(target, call); });
}

Value Composition::wide(Value value) const {
  Type element = elementOf(value);
  bool isHalf = isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 16;
  return isHalf ? math().convert(value, Float32Type::get(value.getContext())) : value;
}

Value Composition::know(StringRef what, Value value, ArrayRef<int64_t> dims, function_ref<Value()> compute) const {
  std::tuple key(what.str(), value.getAsOpaquePointer(), std::vector<int64_t>(dims.begin(), dims.end()));
  if (auto found = known.find(key); found != known.end())
    return found->second;
  return known[key] = compute();
}

Value Composition::reduce(StringRef target, Value value, ArrayRef<int64_t> dims) const {
  SmallVector<int64_t> shape(shapeOf(value));
  for (int64_t dim : dims)
    shape[dim] = 1;
  return make(target).tensor("self", value).integers("dim", dims).flag("keepdim", true).build(shape, elementOf(value));
}

Value Composition::indices(int64_t size) const {
  Type integer = IntegerType::get(call.getContext(), 64);
  return make("aten.arange.default").integer("end", size).type("dtype", integer).build({size}, integer);
}

void Composition::give(unsigned result, Value value) {
  Value old = call.getResult(result);
  Arithmetic arithmetic = math();
  old.replaceAllUsesWith(arithmetic.reshape(arithmetic.convert(value, elementOf(old)), shapeOf(old)));
}
