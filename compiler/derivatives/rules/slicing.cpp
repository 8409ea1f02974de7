//===- slicing.cpp - derivatives of slices and padding --------------------===//

#include "compiler/derivatives/arithmetic.h"
#include "compiler/derivatives/derivative_rules.h"
#include "compiler/sharding/record_support/rule_builder.h"

using namespace mlir;
using namespace meshplan;

/// `value` with zeros before and after it in one dim.
static Value padded(const Derivation &derivation, Value value, int64_t dim, int64_t before, int64_t after) {
  if (before == 0 && after == 0)
    return value;
  // aten lists pairs from the last dim to the first padded one: the pair of `dim` is the last.
  SmallVector<int64_t> shape(shapeOf(value)), pads(2 * (shape.size() - dim), 0);
  shape[dim] += before + after;
  pads[pads.size() - 2] = before;
  pads[pads.size() - 1] = after;
  return derivation.make("aten.constant_pad_nd.default")
      .tensor("self", value)
      .integers("pad", pads)
      .number("value", 0)
      .build(shape, elementOf(value));
}

/// `value` with zeros between its elements in one dim, so that they are `step` apart, with `before` zeros in front of
/// each.
static Value spread(const Derivation &derivation, Value value, int64_t dim, int64_t step, int64_t before) {
  SmallVector<int64_t> shape(shapeOf(value)), columns = shape;
  columns.insert(columns.begin() + dim + 1, 1);
  shape[dim] *= step;
  Arithmetic arithmetic(derivation);
  return arithmetic.reshape(padded(derivation, arithmetic.reshape(value, columns), dim + 1, before, step - 1 - before),
                            shape);
}

/// Zeros where the slice did not read.
///
/// Example: x[1::3] of 8 elements reads x1, x4 and x7, which have the gradients a, b and c.
///
///   spread: 1 zero before and 1 after each    0 a 0 0 b 0 0 c 0
///   padded: -1 element at the end             0 a 0 0 b 0 0 c
static void sliceRule(Derivation &derivation) {
  const CallView &view = derivation.getView();
  Value self = derivation.operand("self");
  int64_t rank = rankOf(self), dim = normalizeDim(view.getInt("dim", 0), rank);
  if (dim < 0)
    return differentiateAtRunTime(derivation);
  int64_t size = shapeOf(self)[dim], start = view.getInt("start", 0);
  // A step larger than the dim reads one element, like a step of its size.
  int64_t step = std::min(view.getInt("step", 1), std::max<int64_t>(size, 1));
  start = std::clamp<int64_t>(start < 0 ? start + size : start, 0, size);
  // The zeros in front of the first element are put in front of each element, so that the reshape splits the dim into
  // runs of `step`, which may be sharded.
  int64_t before = start < step ? start : 0;
  start -= before;
  Value gradient = step == 1 ? derivation.gradient() : spread(derivation, derivation.gradient(), dim, step, before);
  // If the zeros after the last element go beyond the dim, the padding is negative and cuts them off.
  derivation.give("self", padded(derivation, gradient, dim, start, size - start - shapeOf(gradient)[dim]));
}

static void selectRule(Derivation &derivation) {
  const CallView &view = derivation.getView();
  Value self = derivation.operand("self");
  int64_t dim = normalizeDim(view.getInt("dim", 0), rankOf(self));
  if (dim < 0)
    return differentiateAtRunTime(derivation);
  int64_t size = shapeOf(self)[dim], index = view.getInt("index", 0);
  index = index < 0 ? index + size : index;
  SmallVector<int64_t> shape(shapeOf(self));
  shape[dim] = 1;
  Value gradient = Arithmetic(derivation).reshape(derivation.gradient(), shape);
  derivation.give("self", padded(derivation, gradient, dim, index, size - index - 1));
}

/// The gradient of the part that was replaced goes to the replacement, the rest to the tensor.
static void replaceRule(Derivation &derivation, StringRef taken, ArrayRef<StringRef> names) {
  const CallView &view = derivation.getView();
  Value gradient = derivation.gradient(), source = derivation.operand("src");
  auto withRange = [&](CallBuilder &builder, ArrayRef<int64_t> shape) {
    for (StringRef name : names)
      builder.literal(name, view.get(name));
    return builder.build(shape, elementOf(gradient));
  };
  if (derivation.wants("src"))
    derivation.give("src", withRange(derivation.make(taken).tensor("self", gradient), shapeOf(source)));
  if (derivation.wants("self"))
    derivation.give("self", withRange(derivation.make(view.target)
                                          .tensor("self", gradient)
                                          .tensor("src", Arithmetic(derivation).zerosLike(source)),
                                      shapeOf(gradient)));
}

static void sliceScatterRule(Derivation &derivation) {
  replaceRule(derivation, "aten.slice.Tensor", {"dim", "start", "end", "step"});
}

static void selectScatterRule(Derivation &derivation) { replaceRule(derivation, "aten.select.int", {"dim", "index"}); }

/// Padding is cut off; what negative padding cut off is filled with zeros.
static void padRule(Derivation &derivation) {
  const CallView &view = derivation.getView();
  std::optional<SmallVector<int64_t>> pads = view.getInts("pad");
  auto mode = dyn_cast_or_null<StringAttr>(view.get("mode"));
  if (!pads || (mode && mode.getValue() != "constant"))
    return differentiateAtRunTime(derivation);
  for (int64_t &pad : *pads)
    pad = -pad;
  Value gradient = derivation.gradient();
  derivation.give("self", derivation.make("aten.constant_pad_nd.default")
                              .tensor("self", gradient)
                              .integers("pad", *pads)
                              .number("value", 0)
                              .build(shapeOf(derivation.operand("self")), elementOf(gradient)));
}

/// The same triangle of the gradient.
static void triangleRule(Derivation &derivation) {
  Value gradient = derivation.gradient();
  derivation.give("self", derivation.make(derivation.getView().target)
                              .tensor("self", gradient)
                              .literal("diagonal", derivation.getView().get("diagonal"))
                              .build(shapeOf(gradient), elementOf(gradient)));
}

static void diagonalOfRule(Derivation &derivation) {
  const CallView &view = derivation.getView();
  Value self = derivation.operand("self");
  derivation.give("self", derivation.make("aten.diagonal.default")
                              .tensor("self", derivation.gradient())
                              .integer("offset", view.getInt("offset", 0))
                              .integer("dim1", view.getInt("dim1", -2))
                              .integer("dim2", view.getInt("dim2", -1))
                              .build(shapeOf(self), elementOf(self)));
}

void meshplan::addSlicingDerivatives(DerivativeTable &table) {
  table["aten.diag_embed.default"] = diagonalOfRule;
  table["aten.slice.Tensor"] = sliceRule;
  table["aten.select.int"] = selectRule;
  table["aten.slice_scatter.default"] = sliceScatterRule;
  table["aten.select_scatter.default"] = selectScatterRule;
  table["aten.constant_pad_nd.default"] = table["aten.pad.default"] = padRule;
  table["aten.tril.default"] = table["aten.triu.default"] = triangleRule;
}
