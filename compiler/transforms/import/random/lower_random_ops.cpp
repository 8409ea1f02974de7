//===- lower_random_ops.cpp - random numbers by element position ----------===//
//
// See LowerRandomOps in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/families/random_ops.h"
#include "compiler/transforms/import/erase_unread.h"
#include "compiler/transforms/import/passes.h"
#include "compiler/transforms/import/random/distributions.h"
#include "compiler/transforms/import/random/written_dropout.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/call_builder.h"
#include "dialect/plan/new_arguments.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/schema/program_names.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

namespace meshplan {
#define GEN_PASS_DEF_LOWERRANDOMOPS
#include "compiler/transforms/import/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using plan::StandIn;

namespace {

/// Lowers one call. Its number distinguishes its random numbers from those of other calls.
class CallLowering {
public:
  CallLowering(plan::CallOp call, func::FuncOp function, int64_t number)
      : call(call), view(CallView::of(call)), function(function), number(number) {}

  /// Returns false, without changing the call, if there is no form that is independent of the layout. Otherwise the
  /// call has no readers left, or has itself taken that form.
  bool run();

private:
  using Lowering = bool (CallLowering::*)();

  bool lowerDropout();
  bool lowerFeatureDropout() { return dropFeatures(); }
  bool lowerAlphaDropout() { return keepStatistics(/*ofFeatures=*/false); }
  bool lowerFeatureAlphaDropout() { return keepStatistics(/*ofFeatures=*/true); }
  bool lowerBernoulli();
  bool lowerBernoulliOfTensor();
  bool lowerUniform();
  bool lowerDistribution();
  bool lowerAttention() { return appendDraws(); }
  bool lowerRowDropout();

  bool appendDraws();
  bool dropFeatures();
  bool keepStatistics(bool ofFeatures);

  Value seed() { return setting(program_names::seed, 0); }
  Value step() { return setting(program_names::step, 1); }
  Value setting(StringRef name, double value) {
    return plan::settingArgument(function, name, value, /*isPlaced=*/false, UnknownLoc::get(call.getContext()));
  }

  Value operand(StringRef name) const {
    std::optional<unsigned> index = view.getOperand(name);
    return index ? call->getOperand(*index) : Value();
  }

  Value drop(Value input, double p);
  Value uniform(ArrayRef<int64_t> shape, Type element);
  Value compare(StringRef target, Value value, double number);
  Value scalar(StringRef target, Value value, double number);
  Value binary(StringRef target, Value left, Value right);
  Value convert(Value value, Type element);
  bool replaceWith(Value value);
  /// The same with the result of a call that evaluation replaces by something else.
  bool replaceWith(Value value, StandIn inEvaluation);

  plan::CallOp call;
  CallView view;
  func::FuncOp function;
  int64_t number;
};

} // namespace

//===----------------------------------------------------------------------===//
// Building blocks
//===----------------------------------------------------------------------===//

Value CallLowering::drop(Value input, double p) {
  return CallBuilder("meshplan.dropout", call)
      .tensor("input", input)
      .tensor("seed", seed())
      .tensor("step", step())
      .number("p", p)
      .integer("number", number)
      .build(typeOf(input).getShape(), typeOf(input).getElementType());
}

Value CallLowering::uniform(ArrayRef<int64_t> shape, Type element) {
  return CallBuilder("meshplan.uniform", call)
      .tensor("seed", seed())
      .tensor("step", step())
      .integers("size", shape)
      .integer("number", number)
      .type("dtype", element)
      .build(shape, element);
}

Value CallLowering::compare(StringRef target, Value value, double number) {
  return CallBuilder(target, call)
      .tensor("self", value)
      .number("other", number)
      .build(typeOf(value).getShape(), IntegerType::get(call.getContext(), 1));
}

Value CallLowering::scalar(StringRef target, Value value, double number) {
  return CallBuilder(target, call)
      .tensor("self", value)
      .number("other", number)
      .build(typeOf(value).getShape(), typeOf(value).getElementType());
}

/// The result has the shape and type of `left`.
Value CallLowering::binary(StringRef target, Value left, Value right) {
  return CallBuilder(target, call)
      .tensor("self", left)
      .tensor("other", right)
      .build(typeOf(left).getShape(), typeOf(left).getElementType());
}

Value CallLowering::convert(Value value, Type element) {
  return CallBuilder("aten.to.dtype", call)
      .tensor("self", value)
      .type("dtype", element)
      .build(typeOf(value).getShape(), element);
}

bool CallLowering::replaceWith(Value value) {
  call->getResult(0).replaceAllUsesWith(value);
  return true;
}

static Value mark(Value value, StandIn inEvaluation) {
  plan::setOpAttr<plan::attr::InEvaluation>(value.getDefiningOp(),
                                            plan::StandInAttr::get(value.getContext(), inEvaluation));
  return value;
}

bool CallLowering::replaceWith(Value value, StandIn inEvaluation) { return replaceWith(mark(value, inEvaluation)); }

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

bool CallLowering::run() {
  auto lowering = llvm::StringSwitch<Lowering>(view.target)
                      .Cases({"aten.dropout.default", "aten.native_dropout.default"}, &CallLowering::lowerDropout)
                      .Case("aten.feature_dropout.default", &CallLowering::lowerFeatureDropout)
                      .Case("aten.alpha_dropout.default", &CallLowering::lowerAlphaDropout)
                      .Case("aten.feature_alpha_dropout.default", &CallLowering::lowerFeatureAlphaDropout)
                      .Case("aten.bernoulli.p", &CallLowering::lowerBernoulli)
                      .Cases({"aten.bernoulli.default", "aten.bernoulli.Tensor"}, &CallLowering::lowerBernoulliOfTensor)
                      .Cases({"aten.rand.default", "aten.rand_like.default"}, &CallLowering::lowerUniform)
                      .Case("meshplan.attention", &CallLowering::lowerAttention)
                      .Case("meshplan.dropout_rows", &CallLowering::lowerRowDropout)
                      .Default(isDistribution(call) ? &CallLowering::lowerDistribution : nullptr);
  return lowering && call.getNumResults() > 0 && (this->*lowering)();
}

/// The mask that native_dropout also returns marks the kept elements.
bool CallLowering::lowerDropout() {
  Value input = operand("input");
  double p = view.getFloat("p", 0);
  if (!input || input.getType() != call.getResult(0).getType() || !isa<FloatType>(typeOf(input).getElementType()))
    return false;
  if (call.getNumResults() > 1 && !call.getResult(1).use_empty()) {
    // The same number and step give the same uniform numbers as the dropout below, so that the mask fits it.
    Value words = uniform(typeOf(input).getShape(), Float64Type::get(call.getContext()));
    call.getResult(1).replaceAllUsesWith(mark(compare("aten.ge.Scalar", words, p), StandIn::ones));
  }
  return replaceWith(drop(input, p), StandIn::first_operand);
}

/// [samples, features, 1, ...]: drops a feature at all positions together.
static SmallVector<int64_t> featureShape(RankedTensorType type) {
  SmallVector<int64_t> shape(type.getRank(), 1);
  std::copy_n(type.getShape().begin(), 2, shape.begin());
  return shape;
}

bool CallLowering::dropFeatures() {
  Value input = operand("input");
  if (!input || typeOf(input).getRank() < 2)
    return false;
  SmallVector<int64_t> shape = featureShape(typeOf(input));
  Type element = typeOf(input).getElementType();
  Value ones =
      CallBuilder("aten.ones.default", call).integers("size", shape).type("dtype", element).build(shape, element);
  return replaceWith(binary("aten.mul.Tensor", input, drop(ones, view.getFloat("p", 0))), StandIn::first_operand);
}

/// As torch.nn.AlphaDropout: dropped elements become the lowest value of a selu, and all elements are scaled and
/// shifted so that mean and variance stay the same.
bool CallLowering::keepStatistics(bool ofFeatures) {
  Value input = operand("input");
  if (!input || (ofFeatures && typeOf(input).getRank() < 2))
    return false;
  double p = view.getFloat("p", 0);
  // The slope would be infinite.
  if (p >= 1)
    return replaceWith(scalar("aten.mul.Scalar", input, 0), StandIn::first_operand);
  constexpr double alpha = 1.7580993408473766;
  double slope = 1 / std::sqrt((alpha * alpha * p + 1) * (1 - p));
  SmallVector<int64_t> shape =
      ofFeatures ? featureShape(typeOf(input)) : SmallVector<int64_t>(typeOf(input).getShape());
  Value words = uniform(shape, Float32Type::get(call.getContext()));
  Value kept = convert(compare("aten.ge.Scalar", words, p), typeOf(input).getElementType());
  Value moved = scalar("aten.add.Scalar", scalar("aten.mul.Scalar", scalar("aten.add.Scalar", kept, -1), alpha * slope),
                       alpha * slope * p);
  Value scaled = mark(binary("aten.mul.Tensor", input, scalar("aten.mul.Scalar", kept, slope)), StandIn::first_operand);
  return replaceWith(binary("aten.add.Tensor", scaled, moved), StandIn::first_operand);
}

bool CallLowering::lowerBernoulli() {
  RankedTensorType type = typeOf(call.getResult(0));
  Value words = uniform(type.getShape(), Float32Type::get(call.getContext()));
  double p = view.getFloat("p", 0.5);
  Value drawn = convert(compare("aten.lt.Scalar", words, p), type.getElementType());
  replaceWith(drawn);
  markWrittenDropouts(drawn, p);
  return true;
}

/// 1 where the probability is greater than the drawn number. Computed as the sign of their difference, whose derivative
/// is zeros as in PyTorch; a comparison would have no derivative.
bool CallLowering::lowerBernoulliOfTensor() {
  Value probability = operand(view.target == "aten.bernoulli.Tensor" ? "p" : "self");
  if (!probability)
    return false;
  RankedTensorType type = typeOf(call.getResult(0));
  bool isDouble = typeOf(probability).getElementType().isF64();
  Value words = uniform(type.getShape(), isDouble ? Type(Float64Type::get(call.getContext()))
                                                  : Type(Float32Type::get(call.getContext())));
  auto unary = [&](StringRef target, Value value) {
    return CallBuilder(target, call).tensor("self", value).build(type.getShape(), typeOf(words).getElementType());
  };
  Value difference = CallBuilder("aten.sub.Tensor", call)
                         .tensor("self", probability)
                         .tensor("other", words)
                         .build(type.getShape(), typeOf(words).getElementType());
  return replaceWith(
      convert(unary("aten.relu.default", unary("aten.sign.default", difference)), type.getElementType()));
}

bool CallLowering::lowerUniform() {
  RankedTensorType type = typeOf(call.getResult(0));
  return isa<FloatType>(type.getElementType()) && replaceWith(uniform(type.getShape(), type.getElementType()));
}

bool CallLowering::lowerDistribution() {
  auto draw = [&](Type element) { return uniform(typeOf(call.getResult(0)).getShape(), element); };
  Value drawn = distribute(call, draw);
  return drawn && replaceWith(drawn);
}

/// The call stays and gets the operands from which its random numbers follow.
bool CallLowering::appendDraws() {
  SmallVector<Value> operands(call.getOperands());
  NamedAttrList args(call.getArgs());
  for (auto [name, value] : {std::pair<StringRef, Value>("seed", seed()), {"step", step()}}) {
    args.set(name, plan::OperandRefAttr::get(call.getContext(), operands.size()));
    operands.push_back(value);
  }
  args.set("number", IntegerAttr::get(IntegerType::get(call.getContext(), 64), number));
  call->setOperands(operands);
  call.setArgsAttr(args.getDictionary(call.getContext()));
  return true;
}

/// Rows of experts have positions of their own.
bool CallLowering::lowerRowDropout() {
  mark(call.getResult(0), StandIn::first_operand);
  return appendDraws();
}

namespace {

struct LowerRandomOpsPass : meshplan::impl::LowerRandomOpsBase<LowerRandomOpsPass> {
  void runOnOperation() final {
    func::FuncOp function = getOperation();
    int64_t number = 0;
    for (Block &block : function.getBody()) {
      for (auto call : llvm::make_early_inc_range(block.getOps<plan::CallOp>()))
        // The number counts lowered calls in program order. It is part of the random numbers, so a change of this order
        // changes what a model draws.
        if (drawsRandomNumbers(CallView::of(call)) && CallLowering(call, function, number).run())
          ++number;
      eraseUnread(block);
    }
  }
};

} // namespace
