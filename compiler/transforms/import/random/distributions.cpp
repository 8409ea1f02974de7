//===- distributions.cpp - distributions from uniform numbers -------------===//
//
// Uniform numbers are multiples of 2^-32 in f64. Adding half of that excludes 0
// and 1, so that all functions are finite. All further computation is in f64,
// and the result is rounded once to its type.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/import/random/distributions.h"
#include "compiler/sharding/families/random_ops.h"
#include "compiler/sharding/op_record.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/call_builder.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace meshplan;

namespace {

class DistributionCall {
public:
  DistributionCall(plan::CallOp call, llvm::function_ref<Value(Type element)> draw)
      : call(call), view(CallView::of(call)), draw(draw), type(cast<RankedTensorType>(call->getResult(0).getType())),
        name(view.target.split('.').second.split('.').first) {}

  Value run();

private:
  static constexpr double half = 0x1p-33; // half of the distance of uniform numbers

  Value normal();
  Value normalWith(double mean, double deviation);
  Value uniform();
  Value exponential();
  Value cauchy();
  Value geometric();
  Value integers();

  double number(StringRef argument, double otherwise) const { return view.getFloat(argument, otherwise); }
  Value even() { return draw(Float64Type::get(call.getContext())); }
  /// A tensor argument. Its gradient is zeros, as in PyTorch.
  Value parameter(StringRef argument);

  Value unary(StringRef target, Value self) {
    return CallBuilder(target, call)
        .tensor("self", self)
        .build(type.getShape(), cast<RankedTensorType>(self.getType()).getElementType());
  }
  Value with(StringRef target, Value self, double other) {
    return CallBuilder(target, call)
        .tensor("self", self)
        .number("other", other)
        .build(type.getShape(), cast<RankedTensorType>(self.getType()).getElementType());
  }
  Value with(StringRef target, Value self, Value other) {
    return CallBuilder(target, call)
        .tensor("self", self)
        .tensor("other", other)
        .build(type.getShape(), cast<RankedTensorType>(self.getType()).getElementType());
  }
  Value times(Value self, double factor) { return factor == 1 ? self : with("aten.mul.Scalar", self, factor); }
  Value plus(Value self, double addend) { return addend == 0 ? self : with("aten.add.Scalar", self, addend); }
  Value rounded(Value self) {
    return CallBuilder("aten.to.dtype", call)
        .tensor("self", self)
        .type("dtype", type.getElementType())
        .build(type.getShape(), type.getElementType());
  }

  plan::CallOp call;
  CallView view;
  llvm::function_ref<Value(Type element)> draw;
  RankedTensorType type;
  StringRef name;
};

} // namespace

bool meshplan::isDistribution(plan::CallOp call) {
  StringRef target = call.getTarget(), name = target.split('.').second.split('.').first;
  return target.starts_with("aten.") &&
         llvm::StringSwitch<bool>(name)
             .Cases({"normal", "normal_functional", "randn", "randn_like", "log_normal"}, true)
             .Cases({"uniform", "exponential", "cauchy", "geometric", "randint", "randint_like"}, true)
             .Default(false);
}

Value DistributionCall::run() {
  bool isInteger = name.starts_with("randint");
  if (!isInteger && !isa<FloatType>(type.getElementType()))
    return {};
  if (isInteger)
    return integers();
  if (name == "uniform")
    return uniform();
  if (name == "exponential")
    return exponential();
  if (name == "cauchy")
    return cauchy();
  if (name == "geometric")
    return geometric();
  if (name == "log_normal")
    return rounded(unary("aten.exp.default", normalWith(number("mean", 1), number("std", 2))));
  return normal();
}

Value DistributionCall::parameter(StringRef argument) {
  std::optional<unsigned> index = view.getOperand(argument);
  if (!index)
    return {};
  Value value = call->getOperand(*index);
  auto own = cast<RankedTensorType>(value.getType());
  Value stopped =
      CallBuilder("aten.detach.default", call).tensor("self", value).build(own.getShape(), own.getElementType());
  plan::setOpAttr<plan::attr::ZeroGradient>(stopped.getDefiningOp(), UnitAttr::get(call->getContext()));
  if (own.getShape() == type.getShape())
    return stopped;
  return CallBuilder("aten.expand.default", call)
      .tensor("self", stopped)
      .integers("size", type.getShape())
      .build(type.getShape(), own.getElementType());
}

/// In f64. For u in (0, 1): sqrt(2) * erfinv(2 u - 1).
Value DistributionCall::normalWith(double mean, double deviation) {
  // 2 (u + half) - 1 in (-1, 1): erfinv is infinite at both ends.
  Value centered = plus(times(even(), 2), 2 * half - 1);
  return plus(times(unary("aten.erfinv.default", centered), std::numbers::sqrt2 * deviation), mean);
}

/// Mean and deviation are numbers or tensors.
Value DistributionCall::normal() {
  Value mean = parameter("mean"), deviation = parameter("std");
  if (!deviation) {
    Value drawn = rounded(normalWith(mean ? 0 : number("mean", 0), number("std", 1)));
    return mean ? with("aten.add.Tensor", drawn, mean) : drawn;
  }
  Value drawn = with("aten.mul.Tensor", rounded(normalWith(0, 1)), deviation);
  return mean ? with("aten.add.Tensor", drawn, mean) : plus(drawn, number("mean", 0));
}

Value DistributionCall::uniform() {
  double from = number("from", 0), to = number("to", 1);
  return plus(times(draw(type.getElementType()), to - from), from);
}

/// -log(u) / lambd. Models take the logarithm of it, so no number may be rounded to 0, as the smallest ones would be in
/// f16.
Value DistributionCall::exponential() {
  Value drawn = times(unary("aten.log.default", plus(even(), half)), -1 / number("lambd", 1));
  if (type.getElementType().isF16())
    drawn = CallBuilder("aten.clamp_min.default", call)
                .tensor("self", drawn)
                .number("min", 0x1p-14)
                .build(type.getShape(), Float64Type::get(call.getContext()));
  return rounded(drawn);
}

Value DistributionCall::cauchy() {
  Value angle = times(plus(even(), half - 0.5), std::numbers::pi);
  return rounded(plus(times(unary("aten.tan.default", angle), number("sigma", 1)), number("median", 0)));
}

/// The number of trials until the first success: 1, 2, ...
Value DistributionCall::geometric() {
  double p = number("p", 0.5);
  if (!(p > 0 && p < 1))
    return {};
  Value trials = times(unary("aten.log.default", plus(even(), half)), 1 / std::log1p(-p));
  return rounded(unary("aten.ceil.default", trials));
}

/// Integers from `low` up to, but not including, `high`. Ranges larger than a random word are not supported.
Value DistributionCall::integers() {
  double low = number("low", 0), high = number("high", 0);
  if (!(high > low) || high - low > 0x1p32 || std::abs(low) > 0x1p52)
    return {};
  return rounded(plus(unary("aten.floor.default", times(even(), high - low)), low));
}

Value meshplan::distribute(plan::CallOp call, llvm::function_ref<Value(Type element)> draw) {
  return DistributionCall(call, draw).run();
}
