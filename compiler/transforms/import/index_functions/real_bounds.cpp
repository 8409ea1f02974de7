//===- real_bounds.cpp - bounds of real tensors ---------------------------===//
//
// Interval arithmetic over real tensors, to prove that an addend cannot outweigh a mask. Bounds are those of exact
// arithmetic: rounding moves a number by far less than the distance between the limit (1e30) and the lowest number of
// f32 and bf16 (about -3e38). Nothing is proved for values that depend on unknown floats; isModerate then accepts what
// layers compute, because scores are of that kind, too.

#include "compiler/transforms/import/index_functions/real_bounds.h"
#include "compiler/sharding/op_record.h"
#include "compiler/transforms/import/index_functions/call_reader.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

using Interval = std::optional<RealInterval>;

static Interval finite(double low, double high) {
  return std::isfinite(low) && std::isfinite(high) ? Interval({low, high}) : std::nullopt;
}

/// The interval of a function of two numbers that is monotone in each on the given intervals.
template <typename Function> static Interval atCorners(RealInterval left, RealInterval right, Function function) {
  double corners[] = {function(left.low, right.low), function(left.low, right.high), function(left.high, right.low),
                      function(left.high, right.high)};
  if (!std::all_of(std::begin(corners), std::end(corners), [](double corner) { return std::isfinite(corner); }))
    return std::nullopt;
  auto [low, high] = std::minmax_element(std::begin(corners), std::end(corners));
  return finite(*low, *high);
}

static Interval hull(RealInterval left, RealInterval right) {
  return finite(std::min(left.low, right.low), std::max(left.high, right.high));
}

/// The interval that an expression gives.
static Interval ofExpression(Expr expr) {
  if (!expr || expr->type == ExprType::Boolean)
    return std::nullopt;
  if (expr->type == ExprType::Integer)
    return expr->low == INT64_MIN || expr->high == INT64_MAX ? std::nullopt : finite(expr->low, expr->high);
  if (expr->kind == ExprKind::Number)
    return finite(expr->number, expr->number);
  if (expr->kind != ExprKind::Select)
    return std::nullopt;
  Interval then = ofExpression(expr->operands[1]), otherwise = ofExpression(expr->operands[2]);
  return then && otherwise ? hull(*then, *otherwise) : std::nullopt;
}

static Interval quotient(RealInterval left, RealInterval right) {
  // A divisor that may be 0 gives no bound.
  if (right.low <= 0 && right.high >= 0)
    return std::nullopt;
  return atCorners(left, right, [](double x, double y) { return x / y; });
}

namespace {

class BoundsSearch {
public:
  explicit BoundsSearch(IndexFunctions &functions) : functions(functions) {}

  Interval of(Value value);

private:
  Interval ofArgument(plan::CallOp call, const CallView &view, StringRef name);
  Interval ofCall(plan::CallOp call);

  // One function for each operator.
  Interval ofSelf(plan::CallOp call, const CallView &view) { return ofArgument(call, view, "self"); }
  Interval ofSum(plan::CallOp call, const CallView &view);
  Interval ofDifference(plan::CallOp call, const CallView &view);
  Interval ofProduct(plan::CallOp call, const CallView &view);
  Interval ofQuotient(plan::CallOp call, const CallView &view);
  Interval ofReciprocal(plan::CallOp call, const CallView &view);
  Interval ofNegation(plan::CallOp call, const CallView &view);
  Interval ofPower(plan::CallOp call, const CallView &view);
  Interval ofArange(plan::CallOp call, const CallView &view);

  IndexFunctions &functions;
  /// Number of values that may still be visited; results are not cached.
  int budget = 64;
};

} // namespace

/// The interval after conversion to the element type: truncated for integers. Nullopt outside the range of the type,
/// where floats become infinite and integers wrap.
static Interval asElements(RealInterval interval, Type type) {
  double low = interval.low, high = interval.high;
  if (auto number = dyn_cast<FloatType>(type)) {
    double largest = APFloat::getLargest(number.getFloatSemantics()).convertToDouble();
    return low >= -largest && high <= largest ? Interval(interval) : std::nullopt;
  }
  ElementRange range = rangeOf(type);
  low = std::trunc(low);
  high = std::trunc(high);
  bool fits = range.type == ExprType::Integer && low >= static_cast<double>(range.low) &&
              high < static_cast<double>(range.high) + 1;
  return fits ? finite(low, high) : std::nullopt;
}

/// The interval of the elements of a constant.
static Interval ofNumbers(DenseFPElementsAttr numbers) {
  double low = INFINITY, high = -INFINITY;
  for (const APFloat &number : numbers.getValues<APFloat>()) {
    if (number.isNaN())
      return std::nullopt;
    low = std::min(low, number.convertToDouble());
    high = std::max(high, number.convertToDouble());
  }
  return finite(low, high);
}

Interval BoundsSearch::of(Value value) {
  if (--budget < 0)
    return std::nullopt;
  if (auto constant = value.getDefiningOp<plan::ConstantOp>())
    if (auto numbers = dyn_cast<DenseFPElementsAttr>(constant.getValue()))
      return ofNumbers(numbers);
  if (Interval known = ofExpression(functions.of(value)))
    return known;
  auto call = value.getDefiningOp<plan::CallOp>();
  Interval computed = call && call.getNumResults() == 1 ? ofCall(call) : std::nullopt;
  return computed ? asElements(*computed, getElementTypeOrSelf(value.getType())) : std::nullopt;
}

/// The interval of a tensor argument or a literal.
Interval BoundsSearch::ofArgument(plan::CallOp call, const CallView &view, StringRef name) {
  if (std::optional<unsigned> operand = view.getOperand(name))
    return of(call.getOperand(*operand));
  double number = view.getFloat(name, NAN);
  return finite(number, number);
}

Interval BoundsSearch::ofCall(plan::CallOp call) {
  // A moved tensor has the bounds of its source.
  Indices coordinates =
      coordinatesOf(functions.builder, cast<RankedTensorType>(call.getResult(0).getType()).getShape());
  if (std::optional<MovedRead> moved = readThroughMovement(functions.builder, call.getResult(0), coordinates))
    return of(moved->operand);
  using Rule = Interval (BoundsSearch::*)(plan::CallOp, const CallView &);
  Rule rule =
      llvm::StringSwitch<Rule>(call.getTarget())
          .Cases({"aten.to.dtype", "aten.to.dtype_layout", "aten._to_copy.default"}, &BoundsSearch::ofSelf)
          .Cases({"aten.add.Tensor", "aten.add.Scalar"}, &BoundsSearch::ofSum)
          .Cases({"aten.sub.Tensor", "aten.sub.Scalar"}, &BoundsSearch::ofDifference)
          .Cases({"aten.mul.Tensor", "aten.mul.Scalar"}, &BoundsSearch::ofProduct)
          .Cases({"aten.div.Tensor", "aten.div.Scalar"}, &BoundsSearch::ofQuotient)
          .Case("aten.reciprocal.default", &BoundsSearch::ofReciprocal)
          .Case("aten.neg.default", &BoundsSearch::ofNegation)
          .Cases({"aten.pow.Tensor_Tensor", "aten.pow.Tensor_Scalar", "aten.pow.Scalar"}, &BoundsSearch::ofPower)
          .Cases({"aten.arange.default", "aten.arange.start", "aten.arange.start_step"}, &BoundsSearch::ofArange)
          .Default(nullptr);
  return rule ? (this->*rule)(call, CallView::of(call)) : std::nullopt;
}

Interval BoundsSearch::ofSum(plan::CallOp call, const CallView &view) {
  Interval self = ofSelf(call, view), other = ofArgument(call, view, "other");
  double alpha = view.getFloat("alpha", 1);
  return self && other ? atCorners(*self, *other, [alpha](double x, double y) { return x + alpha * y; }) : std::nullopt;
}

Interval BoundsSearch::ofDifference(plan::CallOp call, const CallView &view) {
  Interval self = ofSelf(call, view), other = ofArgument(call, view, "other");
  double alpha = view.getFloat("alpha", 1);
  return self && other ? atCorners(*self, *other, [alpha](double x, double y) { return x - alpha * y; }) : std::nullopt;
}

Interval BoundsSearch::ofProduct(plan::CallOp call, const CallView &view) {
  Interval self = ofSelf(call, view), other = ofArgument(call, view, "other");
  return self && other ? atCorners(*self, *other, [](double x, double y) { return x * y; }) : std::nullopt;
}

Interval BoundsSearch::ofQuotient(plan::CallOp call, const CallView &view) {
  Interval self = ofSelf(call, view), other = ofArgument(call, view, "other");
  return self && other ? quotient(*self, *other) : std::nullopt;
}

Interval BoundsSearch::ofReciprocal(plan::CallOp call, const CallView &view) {
  Interval self = ofSelf(call, view);
  return self ? quotient({1, 1}, *self) : std::nullopt;
}

Interval BoundsSearch::ofNegation(plan::CallOp call, const CallView &view) {
  Interval self = ofSelf(call, view);
  return self ? finite(-self->high, -self->low) : std::nullopt;
}

Interval BoundsSearch::ofPower(plan::CallOp call, const CallView &view) {
  // A power of a positive base is monotone in both arguments, for each fixed value of the other.
  Interval base = ofSelf(call, view), exponent = ofArgument(call, view, "exponent");
  if (!base || !exponent || base->low <= 0)
    return std::nullopt;
  return atCorners(*base, *exponent, [](double x, double y) { return std::pow(x, y); });
}

Interval BoundsSearch::ofArange(plan::CallOp, const CallView &view) {
  double start = view.getFloat("start", 0), end = view.getFloat("end", NAN);
  return finite(std::min(start, end), std::max(start, end));
}

Interval meshplan::boundsOf(Value value, IndexFunctions &functions) { return BoundsSearch(functions).of(value); }

/// Far from the lowest number of f32 and bf16, but larger than any score.
static constexpr double moderate = 1e30;

static bool hasModerateLiterals(plan::CallOp call) {
  return llvm::all_of(call.getArgs(), [](NamedAttribute argument) {
    auto number = dyn_cast<FloatAttr>(argument.getValue());
    return !number || std::abs(number.getValueAsDouble()) <= moderate;
  });
}

/// True for products and other sums over a dim. A value that a layer computes is as far from the lowest numbers as the
/// scores are.
static bool contracts(plan::CallOp call) {
  CallView view = CallView::of(call);
  const OpRecord *record = OpRegistry::get().lookup(view.target);
  return record && !record->picksElements && llvm::any_of(factorRuleOf(view, record).factors, [](const Factor &factor) {
           return factor.kind == FactorKind::sum;
         });
}

/// True for parameters and for integers (positions, lengths, masks).
static bool isModerateArgument(BlockArgument argument) {
  return plan::argumentKind(argument) == plan::ArgumentKind::parameter ||
         !isa<FloatType>(getElementTypeOrSelf(argument.getType()));
}

bool meshplan::isModerate(Value value, IndexFunctions &functions) {
  if (Interval known = boundsOf(value, functions))
    return known->low >= -moderate && known->high <= moderate;
  SmallVector<Value> open{value};
  llvm::DenseSet<Value> seen{value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      if (!isModerateArgument(argument))
        return false;
      continue;
    }
    auto call = next.getDefiningOp<plan::CallOp>();
    if (call && !hasModerateLiterals(call))
      return false;
    // The search ends at products: what they read does not matter.
    if (call && contracts(call))
      continue;
    bool isNumbers = !call && isa<FloatType>(getElementTypeOrSelf(next.getType()));
    Interval known = isNumbers ? boundsOf(next, functions) : std::nullopt;
    if (isNumbers && (!known || std::max(-known->low, known->high) > moderate))
      return false;
    for (Value operand : next.getDefiningOp()->getOperands())
      if (seen.insert(operand).second)
        open.push_back(operand);
  }
  return true;
}
