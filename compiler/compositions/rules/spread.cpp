//===- spread.cpp - means, variances and norms over split features --------===//
//
// The sum of each row is reduced over ranks, then the sum of the squared distances from the mean: two passes over the
// data, as in PyTorch, so the rounding errors are the same. 16-bit rows are computed in f32. The backward pass reuses
// the means and sums of the forward pass (Composition::know).
//
//===----------------------------------------------------------------------===//

#include "compiler/compositions/composition_rules.h"
#include <limits>

using namespace mlir;
using namespace meshplan;

namespace {

/// The rows of a value along some dims, and their statistics. Values are computed once.
class Rows {
public:
  Rows(const Composition &composition, Value value, ArrayRef<int64_t> dims)
      : composition(composition), math(composition.math()), value(value), dims(dims),
        count(elementsAlong(shapeOf(value), dims)) {}

  int64_t size() const { return count; }

  Value mean() {
    return composition.know("mean", value, dims, [&] { return over(sum(wide()), static_cast<double>(count)); });
  }

  Value centered() {
    if (!withoutMean)
      withoutMean = math.sub(wide(), mean());
    return withoutMean;
  }

  /// The sum of the squares of the centered rows, or of the rows themselves, divided by `divisor`.
  Value squares(bool isCentered, double divisor) {
    StringRef what = isCentered ? "squares about the mean" : "squares";
    Value sums = composition.know(what, value, dims, [&] {
      Value rows = isCentered ? centered() : wide();
      return sum(math.mul(rows, rows));
    });
    return over(sums, divisor);
  }

  /// 1 / sqrt(mean square + eps).
  Value scale(bool isCentered, double eps) {
    return math.unary("aten.rsqrt.default", math.add(squares(isCentered, static_cast<double>(count)), eps));
  }

  /// Rows with mean square 1, and with mean 0 if they are centered.
  Value normalized(bool isCentered, double eps) {
    return math.mul(isCentered ? centered() : wide(), scale(isCentered, eps));
  }

  /// The mean of other rows along the same dims.
  Value meanOf(Value rows) const { return over(sum(rows), static_cast<double>(count)); }

private:
  Value wide() {
    if (!inWideType)
      inWideType = composition.wide(value);
    return inWideType;
  }
  Value sum(Value rows) const { return composition.reduce("aten.sum.dim_IntList", rows, dims); }
  Value over(Value sums, double divisor) const { return math.scalar("aten.div.Scalar", sums, divisor); }

  const Composition &composition;
  Arithmetic math;
  Value value, inWideType, withoutMean;
  SmallVector<int64_t> dims;
  int64_t count;
};

} // namespace

//===----------------------------------------------------------------------===//
// Variances and deviations
//===----------------------------------------------------------------------===//

static std::optional<ComposedDims> varianceDims(const CallView &call, plan::MeshOp) {
  std::optional<unsigned> self = call.getOperand("self");
  return severalDims(call, "self", self ? dimsOf(call, call.operands[*self].getRank()) : std::nullopt, 2 * numberBytes);
}

/// A second result, if there is one, is the mean.
template <bool IsDeviation> static void variance(Composition &composition) {
  Value self = composition.operand("self");
  Rows rows(composition, self, *dimsOf(composition.getView(), rankOf(self)));
  // PyTorch divides by 0, not by a negative number, where the correction exceeds the number of elements.
  double divisor = static_cast<double>(rows.size()) - composition.getView().getFloat("correction", 1);
  Value spread = rows.squares(/*isCentered=*/true, std::max(divisor, 0.0));
  composition.give(0, IsDeviation ? composition.math().unary("aten.sqrt.default", spread) : spread);
  if (composition.getView().results.size() > 1)
    composition.give(1, rows.mean());
}

//===----------------------------------------------------------------------===//
// Norms of the last dims
//===----------------------------------------------------------------------===//

static bool isOfGroups(const CallView &call) { return call.target.ends_with("aten.group_norm.default"); }

/// A group norm of one group normalizes each sample; more groups are not composed.
static SmallVector<int64_t> lastDims(const CallView &call, int64_t rank) {
  SmallVector<int64_t> dims;
  int64_t count = call.getInts("normalized_shape").value_or(SmallVector<int64_t>()).size();
  if (isOfGroups(call))
    count = call.getInt("num_groups", 0) == 1 ? rank - 1 : 0;
  for (int64_t dim = std::max<int64_t>(rank - count, 0); dim < rank; ++dim)
    dims.push_back(dim);
  return dims;
}

template <int64_t Numbers> static std::optional<ComposedDims> normDims(const CallView &call, plan::MeshOp) {
  std::optional<unsigned> input = call.getOperand("input"), gradient = call.getOperand("gradient");
  SmallVector<std::optional<unsigned>> gradients = call.getOperands("gradients");
  if (!gradients.empty())
    gradient = gradients.front();
  if (!input)
    return std::nullopt;
  SmallVector<int64_t> last = lastDims(call, call.operands[*input].getRank());
  std::optional<ComposedDims> dims = severalDims(call, "input", last, Numbers * numberBytes);
  if (dims && gradient)
    dims->operands.push_back(*gradient);
  return dims;
}

/// The argument `eps`, or PyTorch's default: for an RMS norm the epsilon of the input's type (of f32 for 16-bit types).
static double epsilonOf(const Composition &composition, bool isCentered) {
  Type element = elementOf(composition.operand("input"));
  double least = std::numeric_limits<float>::epsilon();
  if (element.isF64())
    least = std::numeric_limits<double>::epsilon();
  return composition.getView().getFloat("eps", isCentered ? 1e-5 : least);
}

/// A per-feature tensor, shaped to broadcast to the input: the features of a group norm are in dim 1.
static Value ofFeatures(const Composition &composition, StringRef name) {
  Value value = composition.operand(name);
  if (!value || !isOfGroups(composition.getView()))
    return value ? composition.wide(value) : value;
  SmallVector<int64_t> shape(rankOf(composition.operand("input")) - 1, 1);
  shape.front() = shapeOf(value)[0];
  return composition.math().reshape(composition.wide(value), shape);
}

template <bool IsCentered> static void norm(Composition &composition) {
  Arithmetic math = composition.math();
  Value input = composition.operand("input");
  Rows rows(composition, input, lastDims(composition.getView(), rankOf(input)));
  double eps = epsilonOf(composition, IsCentered);
  Value result = rows.normalized(IsCentered, eps);
  if (Value weight = ofFeatures(composition, "weight"))
    result = math.mul(result, weight);
  if (Value bias = ofFeatures(composition, "bias"))
    result = math.add(result, bias);
  composition.give(0, result);
  unsigned results = composition.getView().results.size();
  // native_layer_norm returns the mean and the scale, _fused_rms_norm the scale alone.
  if (results == 3)
    composition.give(1, rows.mean());
  if (results > 1)
    composition.give(results - 1, rows.scale(IsCentered, eps));
}

/// scale * (gradient - mean(gradient) - normalized * mean(gradient * normalized)); without the first mean if the rows
/// are not centered.
static Value inputGradient(const Composition &composition, Value gradient, bool isCentered) {
  Arithmetic math = composition.math();
  Value input = composition.operand("input");
  Rows rows(composition, input, lastDims(composition.getView(), rankOf(input)));
  double eps = epsilonOf(composition, isCentered);
  if (Value weight = ofFeatures(composition, "weight"))
    gradient = math.mul(gradient, weight);
  Value normalized = rows.normalized(isCentered, eps);
  Value along = math.mul(normalized, rows.meanOf(math.mul(gradient, normalized)));
  Value rest = isCentered ? math.sub(gradient, rows.meanOf(gradient)) : gradient;
  return math.mul(math.sub(rest, along), rows.scale(isCentered, eps));
}

template <bool IsCentered> static void normInputGradient(Composition &composition) {
  composition.give(inputGradient(composition, composition.wide(composition.operand("gradient")), IsCentered));
}

template <bool IsCentered> static void normWeightGradient(Composition &composition) {
  Arithmetic math = composition.math();
  Value input = composition.operand("input"), gradient = composition.wide(composition.operand("gradient"));
  SmallVector<int64_t> last = lastDims(composition.getView(), rankOf(input)), others;
  for (int64_t dim = 0; dim < last.front(); ++dim)
    others.push_back(dim);
  Value normalized = Rows(composition, input, last).normalized(IsCentered, epsilonOf(composition, IsCentered));
  composition.give(math.sum(math.mul(gradient, normalized), others, /*keeps=*/false));
}

/// The gradients of a group norm of one group that `of` names.
static void groupNormGradients(Composition &composition) {
  Arithmetic math = composition.math();
  Value input = composition.operand("input"), gradient = composition.wide(composition.operands("gradients").front());
  SmallVector<int64_t> last = lastDims(composition.getView(), rankOf(input)), others{0};
  others.append(last.begin() + 1, last.end());
  SmallVector<StringRef> names;
  cast<StringAttr>(composition.getView().get("of")).getValue().split(names, ", ");
  for (auto [index, name] : llvm::enumerate(names)) {
    if (name == "input") {
      composition.give(index, inputGradient(composition, gradient, /*isCentered=*/true));
      continue;
    }
    Value factor = gradient;
    if (name == "weight")
      factor = math.mul(gradient, Rows(composition, input, last).normalized(true, epsilonOf(composition, true)));
    composition.give(index, math.sum(factor, others, /*keeps=*/false));
  }
}

void meshplan::addSpreadCompositions(CompositionTable &table) {
  for (StringRef target : {"aten.var.correction", "aten.var_mean.correction"})
    table[target] = {varianceDims, variance<false>};
  for (StringRef target : {"aten.std.correction", "aten.std_mean.correction"})
    table[target] = {varianceDims, variance<true>};
  for (StringRef target : {"aten.layer_norm.default", "aten.native_layer_norm.default", "aten.group_norm.default"})
    table[target] = {normDims<2>, norm<true>};
  for (StringRef target : {"aten.rms_norm.default", "aten._fused_rms_norm.default"})
    table[target] = {normDims<1>, norm<false>};
  table["vjp.aten.group_norm.default"] = {normDims<4>, groupNormGradients};
  table["meshplan.layer_norm_input_gradient"] = {normDims<4>, normInputGradient<true>};
  table["meshplan.layer_norm_weight_gradient"] = {normDims<2>, normWeightGradient<true>};
  table["meshplan.rms_norm_input_gradient"] = {normDims<2>, normInputGradient<false>};
  table["meshplan.rms_norm_weight_gradient"] = {normDims<1>, normWeightGradient<false>};
}
