//===- normalize_loss.cpp - the mean of losses that the plan takes --------===//
//
// See NormalizeLoss in passes.td.
//
//===----------------------------------------------------------------------===//
//
// Example: two samples with 3 and 1 counted targets, losses 1, 2, 3 and 8. `per token` is 14 / 4 = 3.5, `per sample` is
// (2 + 8) / 2 = 5. The loss of the model may be either, or a mean over the ranks' own targets; the plan's definition
// does not depend on how samples are distributed.

#include "compiler/sharding/families/class_losses.h"
#include "compiler/support/layer_names.h"
#include "compiler/transforms/import/index_functions/index_functions.h"
#include "compiler/transforms/import/loss/loss_reduction.h"
#include "compiler/transforms/import/loss/sample_positions.h"
#include "compiler/transforms/import/passes.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/call_builder.h"
#include "dialect/plan/programs.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace meshplan {
#define GEN_PASS_DEF_NORMALIZELOSS
#include "compiler/transforms/import/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;

/// The losses that a call converts, reshapes or sums; the plan replaces the sum by its own. Null for other calls.
static Value reducedLosses(plan::CallOp call) {
  static constexpr StringRef targets[] = {"aten.to.dtype", "aten.sum.default", "aten.sum.dim_IntList",
                                          "aten.mean.default", "aten.mean.dim"};
  std::optional<unsigned> self = CallView::of(call).getOperand("self");
  return self && (keepsOrder(call) || llvm::is_contained(targets, call.getTarget())) ? call.getOperand(*self) : Value();
}

namespace {

/// Redefines the loss of one program.
class LossNormalizer {
public:
  LossNormalizer(func::FuncOp function, plan::NormalizeLossOp statement)
      : statement(statement), text(("'per " + plan::stringifyLossUnit(statement.getPer()) + "'").str()),
        output(function.getBody().front().getTerminator()->getOpOperand(statement.getOutput())),
        name(plan::resultAttr<plan::attr::Name>(function, statement.getOutput())) {}

  LogicalResult run();

private:
  /// The call whose losses alone determine the output.
  FailureOr<plan::CallOp> findCall();
  LogicalResult reportOtherLoss(plan::CallOp other);
  LogicalResult reportMixedSamples(plan::CallOp obstacle);

  CallBuilder make(StringRef target) const { return CallBuilder(target, call); }

  /// The same call with a loss for each target.
  Value losses();
  /// A boolean for each target: true if it counts.
  Value counted();

  Value meanOfTokens();
  FailureOr<Value> meanOfSamples();
  /// The sum of all elements.
  Value sum(Value value);
  /// For each sample the sum of its elements, whose positions SamplePositions describes.
  Value sumOfEach(Value value, int64_t samples, int64_t stride);
  Value converted(Value value, Type element);

  plan::NormalizeLossOp statement;
  std::string text; ///< the text of the plan, in quotes: `per token`
  OpOperand &output;
  StringAttr name;
  plan::CallOp call;
  CallView view;
  Value target;
  Type wide; ///< type in which losses and targets are summed
};

} // namespace

LogicalResult LossNormalizer::run() {
  FailureOr<plan::CallOp> found = findCall();
  if (failed(found))
    return failure();
  call = *found;
  view = CallView::of(call);
  target = call.getOperand(*view.getOperand("target"));
  wide = sumTypeOf(typeOf(call.getResult(0)).getElementType());
  FailureOr<Value> mean =
      statement.getPer() == plan::LossUnit::token ? FailureOr<Value>(meanOfTokens()) : meanOfSamples();
  if (failed(mean))
    return failure();
  Value old = output.get();
  output.set(converted(*mean, typeOf(old).getElementType()));
  // Erases the old reduction, back to the call itself, if nothing else reads it.
  for (auto maker = old.getDefiningOp<plan::CallOp>(); maker && maker->use_empty();) {
    auto next = maker == call ? plan::CallOp() : reducedLosses(maker).getDefiningOp<plan::CallOp>();
    maker.erase();
    maker = next;
  }
  return success();
}

FailureOr<plan::CallOp> LossNormalizer::findCall() {
  for (Value value = output.get();;) {
    auto maker = value.getDefiningOp<plan::CallOp>();
    if (maker && isClassLoss(maker.getTarget()) && value == maker.getResult(0) &&
        CallView::of(maker).getOperand("target"))
      return maker;
    value = maker ? reducedLosses(maker) : Value();
    if (!value)
      return reportOtherLoss(maker);
  }
}

LogicalResult LossNormalizer::reportOtherLoss(plan::CallOp other) {
  auto diagnostic = statement.emitError()
                    << text << " applies to a classification loss, but output '" << name.getValue() << "' is "
                    << (other ? "computed by " + operatorText(other.getTarget(), other.getModule()) : "not computed");
  diagnostic.attachNote(statement.getLoc())
      << "help: return the classification loss (cross_entropy, nll_loss) itself from the model, or leave out " << text
      << " to keep the loss of the model";
  return diagnostic;
}

LogicalResult LossNormalizer::reportMixedSamples(plan::CallOp obstacle) {
  auto diagnostic = statement.emitError() << text << " needs the sample of each target of "
                                          << operatorText(call.getTarget(), call.getModule());
  if (obstacle)
    diagnostic << ", and " << operatorText(obstacle.getTarget(), obstacle.getModule()) << " may mix samples";
  else
    diagnostic << ", and they come from no input with a dim 'batch'";
  diagnostic.attachNote(statement.getLoc())
      << "help: use targets that are an input with a dim 'batch' or a view of one, or write 'per token'";
  return diagnostic;
}

Value LossNormalizer::losses() {
  RankedTensorType logits = view.operands[*view.getOperand("self")], classes = typeOf(target);
  SmallVector<int64_t> shape(classes.getShape());
  // Targets that are probabilities also have a dim of classes.
  if (isa<FloatType>(classes.getElementType()))
    shape.erase(shape.begin() + (shape.size() > 1 ? 1 : 0));
  OpBuilder builder(call);
  NamedAttrList args(call.getArgs());
  args.set("reduction", builder.getI64IntegerAttr(static_cast<int64_t>(LossReduction::None)));
  SmallVector<Type> types(call.getResultTypes());
  types.front() = RankedTensorType::get(shape, logits.getElementType());
  auto each = plan::CallOp::create(builder, call.getLoc(), types, call.getTarget(), call.getOperands(),
                                   args.getDictionary(builder.getContext()), call.getModuleAttr());
  plan::copyModuleRuns(each, call);
  return each.getResult(0);
}

Value LossNormalizer::counted() {
  return make("aten.ne.Scalar")
      .tensor("self", target)
      .integer("other", view.getInt("ignore_index", -100))
      .build(typeOf(target).getShape(), IntegerType::get(call.getContext(), 1));
}

Value LossNormalizer::converted(Value value, Type element) {
  if (typeOf(value).getElementType() == element)
    return value;
  return make("aten.to.dtype").tensor("self", value).type("dtype", element).build(typeOf(value).getShape(), element);
}

Value LossNormalizer::sum(Value value) {
  CallBuilder builder = make("aten.sum.default");
  builder.tensor("self", value);
  if (typeOf(value).getElementType() != wide)
    builder.type("dtype", wide);
  return builder.build({}, wide);
}

Value LossNormalizer::meanOfTokens() {
  Value each = losses();
  // Every probability counts.
  if (isa<FloatType>(typeOf(target).getElementType()))
    return make("aten.mean.default").tensor("self", converted(each, wide)).build({}, wide);
  Value total = sum(each), count = sum(counted());
  return make("aten.div.Tensor").tensor("self", total).tensor("other", count).build({}, wide);
}

Value LossNormalizer::sumOfEach(Value value, int64_t samples, int64_t stride) {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  size_t own = 0;
  // A dim that is exactly the samples needs no reshape, which would have to be divided as well.
  for (int64_t below = typeOf(value).getNumElements(); own < shape.size(); ++own) {
    below /= shape[own];
    if (shape[own] == samples && below == stride)
      break;
  }
  if (own == shape.size()) {
    // The samples are a part of a dim: split it.
    shape = {typeOf(value).getNumElements() / (samples * stride), samples, stride};
    own = 1;
    value = make("aten.reshape.default")
                .tensor("self", value)
                .integers("shape", shape)
                .build(shape, typeOf(value).getElementType());
  }
  SmallVector<int64_t> others;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (dim != own)
      others.push_back(dim);
  // An empty list would mean all dims.
  if (others.empty())
    return converted(value, wide);
  CallBuilder sum = make("aten.sum.dim_IntList");
  sum.tensor("self", value).integers("dim", others);
  if (typeOf(value).getElementType() != wide)
    sum.type("dtype", wide);
  return sum.build({samples}, wide);
}

FailureOr<Value> LossNormalizer::meanOfSamples() {
  std::optional<int64_t> samples = countSamples(*call->getBlock());
  SamplePositions positions = samples ? findSamples(target, *samples) : SamplePositions();
  if (!positions.stride)
    return reportMixedSamples(positions.obstacle);
  // Each sample has the same number of probabilities.
  if (isa<FloatType>(typeOf(target).getElementType()))
    return meanOfTokens();
  Value total = sumOfEach(losses(), *samples, *positions.stride);
  Value count = sumOfEach(counted(), *samples, *positions.stride);
  // A sample without counted targets has loss 0.
  Value atLeastOne = make("aten.clamp.default").tensor("self", count).number("min", 1).build({*samples}, wide);
  Value means = make("aten.div.Tensor").tensor("self", total).tensor("other", atLeastOne).build({*samples}, wide);
  return make("aten.mean.default").tensor("self", means).build({}, wide);
}

namespace {
struct NormalizeLossPass : meshplan::impl::NormalizeLossBase<NormalizeLossPass> {
  void runOnOperation() final {
    SmallVector<plan::NormalizeLossOp> statements(getOperation().getOps<plan::NormalizeLossOp>());
    auto forward = plan::programOf(getOperation(), base::ProgramRole::forward);
    for (plan::NormalizeLossOp statement : statements) {
      if (forward && failed(LossNormalizer(forward, statement).run()))
        return signalPassFailure();
      statement.erase();
    }
  }
};
} // namespace
