//===- convolution.cpp - derivatives of convolutions ----------------------===//
//
// ATen's one backward operator, called once for each gradient.
//
//===----------------------------------------------------------------------===//

#include "compiler/derivatives/arithmetic.h"
#include "compiler/derivatives/derivative_rules.h"

using namespace mlir;
using namespace meshplan;

/// A list argument with one number for each window dim; nothing if it is text ("same").
static std::optional<SmallVector<int64_t>> windowList(const CallView &view, StringRef name, int64_t dims,
                                                      int64_t otherwise) {
  Attribute argument = view.get(name);
  if (isa_and_present<StringAttr>(argument))
    return std::nullopt;
  SmallVector<int64_t> values = view.getInts(name).value_or(SmallVector<int64_t>{view.getInt(name, otherwise)});
  if (values.size() == 1)
    values.assign(dims, values[0]);
  return values;
}

/// The gradient of input (0) or weight (1).
static Value gradientOf(const Derivation &derivation, unsigned which, ArrayRef<SmallVector<int64_t>> windows) {
  const CallView &view = derivation.getView();
  Value input = derivation.operand("input"), weight = derivation.operand("weight"), wanted = which == 0 ? input : weight;
  SmallVector<int64_t> noPadding(rankOf(weight) - 2, 0);
  SmallVector<Type> types(3, RankedTensorType::get({0}, elementOf(input)));
  types[which] = RankedTensorType::get(shapeOf(wanted), elementOf(wanted));
  return derivation.make("aten.convolution_backward.default")
      .tensor("grad_output", derivation.gradient())
      .tensor("input", input)
      .tensor("weight", weight)
      .integers("stride", windows[0])
      .integers("padding", windows[1])
      .integers("dilation", windows[2])
      .flag("transposed", false)
      .integers("output_padding", noPadding)
      .integer("groups", view.getInt("groups", 1))
      .flags("output_mask", {which == 0, which == 1, false})
      .build(types)
      .getResult(which);
}

static void convolutionRule(Derivation &derivation) {
  Arithmetic math(derivation);
  const CallView &view = derivation.getView();
  int64_t dims = rankOf(derivation.operand("weight")) - 2;
  auto stride = windowList(view, "stride", dims, 1), padding = windowList(view, "padding", dims, 0),
       dilation = windowList(view, "dilation", dims, 1);
  // One sample without a batch dim, and windows that are told by a word.
  bool isPlain = stride && padding && dilation && !view.getBool("transposed", false) &&
                 rankOf(derivation.operand("input")) == dims + 2;
  if (!isPlain)
    return differentiateAtRunTime(derivation);
  SmallVector<SmallVector<int64_t>> windows{*stride, *padding, *dilation};
  if (derivation.wants("input"))
    derivation.give("input", gradientOf(derivation, 0, windows));
  if (derivation.wants("weight"))
    derivation.give("weight", gradientOf(derivation, 1, windows));
  if (!derivation.wants("bias"))
    return;
  SmallVector<int64_t> others{0};
  for (int64_t dim = 2; dim < dims + 2; ++dim)
    others.push_back(dim);
  derivation.give("bias", math.sum(derivation.gradient(), others, /*keeps=*/false));
}

void meshplan::addConvolutionDerivatives(DerivativeTable &table) {
  for (StringRef target : {"conv1d.default", "conv2d.default", "conv3d.default", "convolution.default"})
    table[("aten." + target).str()] = convolutionRule;
}
