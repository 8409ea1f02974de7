//===- convolution.cpp - derivatives of convolutions ----------------------===//

#include "compiler/derivatives/arithmetic.h"
#include "compiler/derivatives/derivative_rules.h"

using namespace mlir;
using namespace meshplan;

/// A list argument with one number for each window dim.
static SmallVector<int64_t> windowList(const CallView &view, StringRef name, int64_t dims, int64_t otherwise) {
  SmallVector<int64_t> values = view.getInts(name).value_or(SmallVector<int64_t>{view.getInt(name, otherwise)});
  if (values.size() == 1)
    values.assign(dims, values[0]);
  return values;
}

/// The padding of each window dim, if it is the same at both ends. Nothing if the ends differ, as for padding "same"
/// with windows of even length.
static std::optional<SmallVector<int64_t>> paddingOf(const Derivation &derivation, ArrayRef<int64_t> dilation) {
  const CallView &view = derivation.getView();
  int64_t dims = dilation.size();
  auto word = dyn_cast_or_null<StringAttr>(view.get("padding"));
  if (!word)
    return windowList(view, "padding", dims, 0);
  SmallVector<int64_t> padding(dims, 0);
  for (int64_t dim = 0; dim < dims && word.getValue() == "same"; ++dim) {
    // The window covers dilation * (size - 1) + 1 elements. If this is even, one end gets one element more.
    int64_t both = dilation[dim] * (shapeOf(derivation.operand("weight"))[dim + 2] - 1);
    if (both % 2 != 0)
      return std::nullopt;
    padding[dim] = both / 2;
  }
  return padding;
}

/// The gradient of `wanted`, which is the input or the weight.
static Value gradientOf(const Derivation &derivation, StringRef target, Value wanted,
                        ArrayRef<SmallVector<int64_t>> windows) {
  return derivation.make(target)
      .tensor("gradient", derivation.gradient())
      .tensor("input", derivation.operand("input"))
      .tensor("weight", derivation.operand("weight"))
      .integers("stride", windows[0])
      .integers("padding", windows[1])
      .integers("dilation", windows[2])
      .build(shapeOf(wanted), elementOf(wanted));
}

static void convolutionRule(Derivation &derivation) {
  Arithmetic math(derivation);
  const CallView &view = derivation.getView();
  int64_t dims = rankOf(derivation.operand("weight")) - 2;
  SmallVector<int64_t> stride = windowList(view, "stride", dims, 1), dilation = windowList(view, "dilation", dims, 1);
  std::optional<SmallVector<int64_t>> padding = paddingOf(derivation, dilation);
  // Left to the runtime: transposed convolutions, one sample without a batch dim, and different padding at the two
  // ends.
  bool isPlain = padding && !view.getBool("transposed", false) && rankOf(derivation.operand("input")) == dims + 2;
  if (!isPlain)
    return differentiateAtRunTime(derivation);
  SmallVector<SmallVector<int64_t>> windows{stride, *padding, dilation};
  for (StringRef name : {"input", "weight"}) {
    std::string target = ("meshplan.convolution_" + name + "_gradient").str();
    if (derivation.wants(name))
      derivation.give(name, gradientOf(derivation, target, derivation.operand(name), windows));
  }
  if (!derivation.wants("bias"))
    return;
  SmallVector<int64_t> others{0};
  for (int64_t dim = 2; dim < dims + 2; ++dim)
    others.push_back(dim);
  derivation.give("bias", math.sum(derivation.gradient(), others, /*keeps=*/false));
}

void meshplan::addConvolutionDerivatives(DerivativeTable &table) {
  for (StringRef target : {"conv1d.default", "conv2d.default", "conv3d.default", "conv1d.padding", "conv2d.padding",
                           "conv3d.padding", "convolution.default"})
    table[("aten." + target).str()] = convolutionRule;
}
