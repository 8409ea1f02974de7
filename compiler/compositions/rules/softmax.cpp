//===- softmax.cpp - softmax and related operators over split dims --------===//
//
// The maximum of each row and the sum of its exponentials are reduced over ranks (see composition.h). As in PyTorch on
// CPU, 16-bit rows are computed in f32 and rounded once.
//
//===----------------------------------------------------------------------===//

#include "compiler/compositions/composition_rules.h"

using namespace mlir;
using namespace meshplan;

/// Bytes of the maximum and the sum of a row, in f32 at most.
static constexpr int64_t twoNumbers = 8;

static std::optional<ComposedDims> softmaxDims(const CallView &call, plan::MeshOp) {
  return oneDim(call, "self", call.getInt("dim", -1), twoNumbers);
}

/// The operand, converted to the argument `dtype` if there is one.
static Value converted(const Composition &composition) {
  auto type = dyn_cast_or_null<TypeAttr>(composition.getView().get("dtype"));
  Value self = composition.operand("self");
  return type ? composition.math().convert(self, type.getValue()) : self;
}

static SmallVector<int64_t> softmaxDim(const Composition &composition, int64_t rank) {
  int64_t dim = composition.getView().getInt("dim", -1);
  return {dim < 0 ? dim + rank : dim};
}

/// `what` distinguishes the sums by the maxima that were subtracted from `rows`.
static Value sumOfExponentials(const Composition &composition, StringRef what, Value self, Value rows,
                               ArrayRef<int64_t> dims) {
  return composition.know(what, self, dims, [&] {
    return composition.reduce("aten.sum.dim_IntList", composition.math().unary("aten.exp.default", rows), dims);
  });
}

static Value maximaOf(const Composition &composition, Value self, ArrayRef<int64_t> dims) {
  return composition.know("maximum", self, dims, [&] { return composition.reduce("aten.amax.default", self, dims); });
}

static void softmax(Composition &composition) {
  Arithmetic math = composition.math();
  Value self = converted(composition);
  SmallVector<int64_t> dims = softmaxDim(composition, rankOf(self));
  Value rows = math.sub(composition.wide(self), composition.wide(maximaOf(composition, self, dims)));
  Value shares = math.unary("aten.exp.default", rows);
  Value sums = composition.know("sum of exponentials", self, dims,
                                [&] { return composition.reduce("aten.sum.dim_IntList", shares, dims); });
  composition.give(math.div(shares, sums));
}

static void logSoftmax(Composition &composition) {
  Arithmetic math = composition.math();
  Value self = converted(composition);
  SmallVector<int64_t> dims = softmaxDim(composition, rankOf(self));
  Value rows = math.sub(composition.wide(self), composition.wide(maximaOf(composition, self, dims)));
  Value sums = sumOfExponentials(composition, "sum of exponentials", self, rows, dims);
  composition.give(math.sub(rows, math.unary("aten.log.default", sums)));
}

//===----------------------------------------------------------------------===//
// logsumexp
//===----------------------------------------------------------------------===//

static std::optional<ComposedDims> logSumExpDims(const CallView &call, plan::MeshOp) {
  std::optional<unsigned> self = call.getOperand("self");
  return severalDims(call, "self", self ? dimsOf(call, call.operands[*self].getRank()) : std::nullopt, twoNumbers);
}

/// An infinite maximum is not subtracted: inf - inf would be NaN, but a row of minus infinities has the result minus
/// infinity.
static void logSumExp(Composition &composition) {
  Arithmetic math = composition.math();
  Value self = composition.operand("self");
  if (!isa<FloatType>(elementOf(self)))
    self = math.convert(self, elementOf(composition.result()));
  SmallVector<int64_t> dims = *dimsOf(composition.getView(), rankOf(self));
  Value maxima = composition.wide(maximaOf(composition, self, dims));
  Value isInfinite = composition.make("aten.isinf.default")
                         .tensor("self", maxima)
                         .build(shapeOf(maxima), IntegerType::get(self.getContext(), 1));
  Value shift = math.dropWhere(isInfinite, maxima);
  Value rows = math.sub(composition.wide(self), shift);
  Value sums = sumOfExponentials(composition, "sum of exponentials by finite maxima", self, rows, dims);
  composition.give(math.add(math.unary("aten.log.default", sums), shift));
}

//===----------------------------------------------------------------------===//
// Derivatives, computed from the gradient and the result
//===----------------------------------------------------------------------===//

/// Both operands have the dim; one sum per row is reduced.
static std::optional<ComposedDims> gradientDims(const CallView &call, plan::MeshOp) {
  std::optional<ComposedDims> dims = oneDim(call, "grad_output", call.getInt("dim", -1), twoNumbers / 2);
  if (std::optional<unsigned> output = call.getOperand("output"); dims && output)
    dims->operands.push_back(*output);
  return dims;
}

static void softmaxGradient(Composition &composition) {
  Arithmetic math = composition.math();
  Value gradient = composition.wide(composition.operand("grad_output"));
  Value output = composition.wide(composition.operand("output"));
  SmallVector<int64_t> dims = softmaxDim(composition, rankOf(output));
  Value sums = composition.reduce("aten.sum.dim_IntList", math.mul(gradient, output), dims);
  composition.give(math.mul(math.sub(gradient, sums), output));
}

static void logSoftmaxGradient(Composition &composition) {
  Arithmetic math = composition.math();
  Value gradient = composition.wide(composition.operand("grad_output"));
  Value output = composition.wide(composition.operand("output"));
  SmallVector<int64_t> dims = softmaxDim(composition, rankOf(output));
  Value sums = composition.reduce("aten.sum.dim_IntList", gradient, dims);
  composition.give(math.sub(gradient, math.mul(math.unary("aten.exp.default", output), sums)));
}

void meshplan::addSoftmaxCompositions(CompositionTable &table) {
  table["aten.softmax.int"] = table["aten._softmax.default"] = {softmaxDims, softmax};
  table["aten.log_softmax.int"] = table["aten._log_softmax.default"] = {softmaxDims, logSoftmax};
  table["aten.logsumexp.default"] = {logSumExpDims, logSumExp};
  table["aten._softmax_backward_data.default"] = {gradientDims, softmaxGradient};
  table["aten._log_softmax_backward_data.default"] = {gradientDims, logSoftmaxGradient};
}
