//===- arithmetic.cpp - arithmetic of derivatives -------------------------===//
//
// Derivatives are made after the export, so there is no PyTorch that computes their shapes and types; these functions
// follow its rules. Example: a gradient bf16[2, 3] times a factor f32[] stays bf16, because a tensor without dims
// widens only to a higher category (integers to floats), while bf16[2, 3] times f32[3] is f32[2, 3].

#include "compiler/derivatives/arithmetic.h"
#include <numeric>

using namespace mlir;
using namespace meshplan;

/// The categories of PyTorch's type promotion: bool, integers, floats.
static int categoryOf(Type element) {
  if (isa<FloatType>(element))
    return 2;
  return element.isInteger(1) ? 0 : 1;
}

/// The smallest type that holds both; f32 for two different 16-bit floats.
static Type wider(Type left, Type right) {
  if (left == right)
    return left;
  if (categoryOf(left) != categoryOf(right))
    return categoryOf(left) > categoryOf(right) ? left : right;
  unsigned bitsOfLeft = left.getIntOrFloatBitWidth(), bitsOfRight = right.getIntOrFloatBitWidth();
  // Neither bf16 nor f16 holds all numbers of the other.
  if (bitsOfLeft == bitsOfRight && isa<FloatType>(left))
    return Float32Type::get(left.getContext());
  return bitsOfLeft > bitsOfRight ? left : right;
}

/// A tensor without dims counts only if its category is the higher one.
static Type promoted(Value left, Value right) {
  Type a = elementOf(left), b = elementOf(right);
  bool isScalar = rankOf(left) == 0, otherIsScalar = rankOf(right) == 0;
  if (isScalar == otherIsScalar)
    return wider(a, b);
  Type tensor = isScalar ? b : a, number = isScalar ? a : b;
  return categoryOf(number) > categoryOf(tensor) ? number : tensor;
}

static SmallVector<int64_t> broadcast(ArrayRef<int64_t> left, ArrayRef<int64_t> right) {
  SmallVector<int64_t> shape(std::max(left.size(), right.size()), 1);
  for (ArrayRef<int64_t> own : {left, right})
    for (auto [dim, size] : llvm::enumerate(own))
      if (size != 1)
        shape[shape.size() - own.size() + dim] = size;
  return shape;
}

Value Arithmetic::binary(StringRef target, Value left, Value right) const {
  return make(target)
      .tensor("self", left)
      .tensor("other", right)
      .build(broadcast(shapeOf(left), shapeOf(right)), promoted(left, right));
}

Value Arithmetic::unary(StringRef target, Value value) const {
  return make(target).tensor("self", value).build(shapeOf(value), elementOf(value));
}

Value Arithmetic::scalar(StringRef target, Value value, double number) const {
  return make(target).tensor("self", value).number("other", number).build(shapeOf(value), elementOf(value));
}

Value Arithmetic::mul(Value value, double number) const {
  if (number == 1)
    return value;
  return number == -1 ? neg(value) : scalar("aten.mul.Scalar", value, number);
}

Value Arithmetic::pow(Value value, double exponent) const {
  if (exponent == 1)
    return value;
  return make("aten.pow.Tensor_Scalar")
      .tensor("self", value)
      .number("exponent", exponent)
      .build(shapeOf(value), elementOf(value));
}

Value Arithmetic::fromFront(Value indices, int64_t size) const {
  Value isFromEnd = convert(compare("aten.lt.Scalar", indices, 0), elementOf(indices));
  Value shift = make("aten.mul.Scalar")
                    .tensor("self", isFromEnd)
                    .integer("other", size)
                    .build(shapeOf(indices), elementOf(indices));
  return add(indices, shift);
}

Value Arithmetic::compare(StringRef target, Value left, Value right) const {
  return make(target)
      .tensor("self", left)
      .tensor("other", right)
      .build(broadcast(shapeOf(left), shapeOf(right)), IntegerType::get(left.getContext(), 1));
}

Value Arithmetic::compare(StringRef target, Value value, double number) const {
  return make(target)
      .tensor("self", value)
      .number("other", number)
      .build(shapeOf(value), IntegerType::get(value.getContext(), 1));
}

Value Arithmetic::keepWhere(Value condition, Value value) const {
  return dropWhere(unary("aten.logical_not.default", condition), value);
}

Value Arithmetic::dropWhere(Value condition, Value value) const {
  SmallVector<int64_t> shape = broadcast(shapeOf(condition), shapeOf(value));
  // Filled with zeros, not multiplied by the condition: infinity times 0 would be NaN.
  return make("aten.masked_fill.Scalar")
      .tensor("self", expand(value, shape))
      .tensor("mask", condition)
      .number("value", 0)
      .build(shape, elementOf(value));
}

Value Arithmetic::reshape(Value value, ArrayRef<int64_t> shape) const {
  if (shapeOf(value) == shape)
    return value;
  return make("aten.reshape.default").tensor("self", value).integers("shape", shape).build(shape, elementOf(value));
}

Value Arithmetic::permute(Value value, ArrayRef<int64_t> order) const {
  if (llvm::is_sorted(order))
    return value;
  SmallVector<int64_t> shape = llvm::map_to_vector(order, [&](int64_t dim) { return shapeOf(value)[dim]; });
  return make("aten.permute.default").tensor("self", value).integers("dims", order).build(shape, elementOf(value));
}

Value Arithmetic::transpose(Value value) const {
  SmallVector<int64_t> order(rankOf(value));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return permute(value, order);
}

Value Arithmetic::expand(Value value, ArrayRef<int64_t> shape) const {
  if (shapeOf(value) == shape)
    return value;
  return make("aten.expand.default").tensor("self", value).integers("size", shape).build(shape, elementOf(value));
}

Value Arithmetic::convert(Value value, Type element) const {
  if (elementOf(value) == element)
    return value;
  return make("aten.to.dtype").tensor("self", value).type("dtype", element).build(shapeOf(value), element);
}

Value Arithmetic::sum(Value value, ArrayRef<int64_t> dims, bool keeps) const {
  if (dims.empty())
    return value;
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(shapeOf(value)))
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      shape.push_back(size);
    else if (keeps)
      shape.push_back(1);
  return make("aten.sum.dim_IntList")
      .tensor("self", value)
      .integers("dim", dims)
      .flag("keepdim", keeps)
      .build(shape, elementOf(value));
}

Value Arithmetic::sumTo(Value value, ArrayRef<int64_t> shape) const {
  ArrayRef<int64_t> own = shapeOf(value);
  // Broadcasting aligns the last dims: a tensor [3, 1] in a value [2, 3, 4] was repeated along dim 0, which it does not
  // have, and along dim 2. A gradient with fewer dims than the tensor was broadcast in the other direction, and give()
  // expands it.
  int64_t lead = static_cast<int64_t>(own.size()) - static_cast<int64_t>(shape.size());
  if (lead < 0)
    return value;
  SmallVector<int64_t> leading(lead), ones;
  std::iota(leading.begin(), leading.end(), 0);
  for (auto [dim, size] : llvm::enumerate(shape))
    if (size == 1 && own[lead + dim] != 1)
      ones.push_back(dim);
  return sum(sum(value, leading, /*keeps=*/false), ones, /*keeps=*/true);
}

Value Arithmetic::zerosLike(Value value) const { return unary("aten.zeros_like.default", value); }
