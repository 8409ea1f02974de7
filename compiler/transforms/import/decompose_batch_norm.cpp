//===- decompose_batch_norm.cpp - statistics of the whole batch -----------===//
//
// See DecomposeBatchNorm in passes.td.
//
//===----------------------------------------------------------------------===//
//
// A batch norm in training needs mean and variance over the whole batch, also where the batch is divided. As separate
// operators the two means are sums over ranks, which propagation reduces, and all else is elementwise.
//
// Two passes, the mean before the squares, as PyTorch: the sum of squares minus the square of the sum would cancel.
//
//   batch of 12 over dp = 2, 6 channels: a rank has [6, 6, ...]
//   mean       partial sums over 6 samples, all-reduced over dp
//   variance   partial sums of squared distances from this mean, all-reduced

#include "compiler/sharding/families/random_ops.h"
#include "compiler/transforms/import/erase_unread.h"
#include "compiler/transforms/import/passes.h"
#include "dialect/plan/argument_table.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/call_builder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {
#define GEN_PASS_DEF_DECOMPOSEBATCHNORM
#include "compiler/transforms/import/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;

namespace {

/// One batch norm. With running statistics it returns their new values.
class BatchNorm {
public:
  explicit BatchNorm(plan::CallOp call) : call(call), view(CallView::of(call)) {}

  void lower();

private:
  Value operand(StringRef name) const {
    std::optional<unsigned> index = view.getOperand(name);
    return index ? Value(call->getOperand(*index)) : Value();
  }

  /// The mean over all dims but the channels, kept with size 1. In evaluation the running mean is used, if there is
  /// one.
  Value mean(Value of, Value running);
  /// Marks `made` so that evaluation reads the buffer instead.
  void readInEvaluation(Value made, Value running);
  /// Reshapes a tensor of channels to [1, channels, 1, ...] in the type of `like`.
  Value perChannel(Value channels, Value like);
  Value normalized(Value centered, Value deviation);
  /// (1 - momentum) * running + momentum * factor * statistic
  Value moved(Value running, Value statistic, double factor);

  Value binary(StringRef target, Value left, Value right) {
    return CallBuilder(target, call)
        .tensor("self", left)
        .tensor("other", right)
        .build(typeOf(left).getShape(), typeOf(left).getElementType());
  }
  Value scalar(StringRef target, Value self, double other) {
    return CallBuilder(target, call)
        .tensor("self", self)
        .number("other", other)
        .build(typeOf(self).getShape(), typeOf(self).getElementType());
  }
  Value viewed(Value self, ArrayRef<int64_t> shape) {
    return CallBuilder("aten.view.default", call)
        .tensor("self", self)
        .integers("size", shape)
        .build(shape, typeOf(self).getElementType());
  }
  Value viewedAs(Value self, unsigned result) {
    RankedTensorType type = typeOf(call.getResult(result));
    return converted(viewed(self, type.getShape()), type.getElementType());
  }
  Value converted(Value self, Type element) {
    return typeOf(self).getElementType() == element ? self
                                                    : CallBuilder("aten.to.dtype", call)
                                                          .tensor("self", self)
                                                          .type("dtype", element)
                                                          .build(typeOf(self).getShape(), element);
  }

  plan::CallOp call;
  CallView view;
  SmallVector<int64_t> channelShape; ///< [1, channels, 1, ...]
};

} // namespace

Value BatchNorm::mean(Value of, Value running) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < typeOf(of).getRank(); ++dim)
    if (dim != 1)
      dims.push_back(dim);
  Value made = CallBuilder("aten.mean.dim", call)
                   .tensor("self", of)
                   .integers("dim", dims)
                   .flag("keepdim", true)
                   .build(channelShape, typeOf(of).getElementType());
  readInEvaluation(made, running);
  return made;
}

/// If a module is called several times, a later call reads the result of the previous call, which is marked with the
/// buffer.
void BatchNorm::readInEvaluation(Value made, Value running) {
  Attribute buffer;
  if (auto argument = dyn_cast_or_null<BlockArgument>(running))
    buffer = plan::referenceTo(argument);
  else if (running)
    buffer = running.getDefiningOp()->getAttrOfType<plan::ArgumentRefAttr>(plan::attr::InEvaluation::getNameStr());
  if (buffer)
    plan::setOpAttr<plan::attr::InEvaluation>(made.getDefiningOp(), buffer);
}

Value BatchNorm::perChannel(Value channels, Value like) {
  return viewed(converted(channels, typeOf(like).getElementType()), channelShape);
}

Value BatchNorm::normalized(Value centered, Value deviation) {
  Value result = binary("aten.mul.Tensor", centered, deviation);
  if (Value weight = operand("weight"))
    result = binary("aten.mul.Tensor", result, perChannel(weight, result));
  if (Value bias = operand("bias"))
    result = binary("aten.add.Tensor", result, perChannel(bias, result));
  return converted(result, typeOf(call.getResult(0)).getElementType());
}

Value BatchNorm::moved(Value running, Value statistic, double factor) {
  double momentum = view.getFloat("momentum", 0.1);
  Value channels = converted(viewed(statistic, typeOf(running).getShape()), typeOf(running).getElementType());
  Value added = scalar("aten.mul.Scalar", channels, momentum * factor);
  Value made = binary("aten.add.Tensor", scalar("aten.mul.Scalar", running, 1 - momentum), added);
  readInEvaluation(made, running);
  return made;
}

void BatchNorm::lower() {
  Value input = operand("input"), runningMean = operand("running_mean"), runningVariance = operand("running_var");
  bool isTraining = view.getBool("training", true);
  RankedTensorType type = typeOf(input);
  Type wide = type.getElementType().isF64() ? type.getElementType() : Type(Float32Type::get(call.getContext()));
  channelShape.assign(type.getRank(), 1);
  channelShape[1] = type.getDimSize(1);
  Value numbers = converted(input, wide);
  Value average = isTraining ? mean(numbers, runningMean) : perChannel(runningMean, numbers);
  Value centered = binary("aten.sub.Tensor", numbers, average);
  Value variance = isTraining ? mean(binary("aten.mul.Tensor", centered, centered), runningVariance)
                              : perChannel(runningVariance, numbers);
  Value deviation = CallBuilder("aten.rsqrt.default", call)
                        .tensor("self", scalar("aten.add.Scalar", variance, view.getFloat("eps", 1e-5)))
                        .build(channelShape, wide);
  SmallVector<Value> results{normalized(centered, deviation), {}, {}, runningMean, runningVariance};
  results.truncate(call.getNumResults());
  if (isTraining && results.size() > 2) {
    results[1] = viewedAs(average, 1);
    results[2] = viewedAs(deviation, 2);
  }
  if (isTraining && results.size() > 4) {
    double count = static_cast<double>(type.getNumElements() / type.getDimSize(1));
    results[3] = moved(runningMean, average, 1);
    // PyTorch normalizes by the biased variance and stores the unbiased one.
    results[4] = moved(runningVariance, variance, count / (count - 1));
  }
  for (auto [old, made] : llvm::zip_equal(call.getResults(), results))
    if (made)
      old.replaceAllUsesWith(made);
}

/// True if a batch norm computes statistics of the batch without updating buffers in place. Forms that update buffers
/// in place are handled by other passes or by the reader of archives.
static bool hasStatistics(const CallView &view) {
  bool isRunning = view.getOperand("running_mean") && view.getOperand("running_var");
  if (view.target == "aten._native_batch_norm_legit_functional.default")
    return isRunning && view.results.size() == 5;
  bool isStateless = view.target == "aten._native_batch_norm_legit.no_stats" && view.results.size() == 3;
  bool isWhole = view.target == "aten.batch_norm.default" && view.results.size() == 1;
  return (isStateless || isWhole) && !view.getOperand("running_mean") && !view.getOperand("running_var") &&
         view.getBool("training", false);
}

/// Statistics over a single element are an error in PyTorch when the graph is made.
static bool canBeLowered(plan::CallOp call) {
  CallView view = CallView::of(call);
  std::optional<unsigned> input = view.getOperand("input");
  return hasStatistics(view) && input && view.operands[*input].getRank() > 1 &&
         view.operands[*input].getNumElements() > view.operands[*input].getDimSize(1);
}

namespace {

struct DecomposeBatchNormPass : meshplan::impl::DecomposeBatchNormBase<DecomposeBatchNormPass> {
  void runOnOperation() final {
    for (Block &block : getOperation().getBody()) {
      for (auto call : llvm::make_early_inc_range(block.getOps<plan::CallOp>()))
        if (canBeLowered(call))
          BatchNorm(call).lower();
      eraseUnread(block);
    }
  }
};

} // namespace
