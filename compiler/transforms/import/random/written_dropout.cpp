//===- written_dropout.cpp - dropouts as separate operators ---------------===//
//
// Values derived from the draw by numbers are `scale * drawn + shift`. A
// dropout multiplies by `drawn / kept`. An alpha dropout multiplies by `slope *
// drawn` and adds the lowest value of a selu where it drops, shifted so that
// mean and variance stay the same (see CallLowering::keepStatistics).
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/import/random/written_dropout.h"
#include "compiler/sharding/families/random_ops.h"
#include "dialect/plan/attributes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;
using namespace meshplan;

namespace {

struct Scaled {
  double scale = 1, shift = 0;
};

class DropoutMarker {
public:
  DropoutMarker(Value drawn, double kept) : drawn(drawn), kept(kept) {}

  void run() {
    follow(drawn, {});
    for (auto [value, scaled] : scaledDraws)
      if (isMask(scaled))
        markMask(value);
      else if (near(scaled.scale, slope()) && scaled.shift == 0)
        for (Operation *product : value.getUsers())
          markAlpha(product, value);
  }

private:
  void follow(Value value, Scaled scaled) {
    // Reached on a second path: already followed.
    if (!scaledDraws.insert({value, scaled}).second)
      return;
    for (Operation *user : value.getUsers())
      if (std::optional<Scaled> made = scaledBy(user, value, scaled))
        follow(user->getResult(0), *made);
  }

  static std::optional<Scaled> scaledBy(Operation *user, Value value, Scaled scaled);
  // Models compute the factors in f32 or in Python's floats, which differ in the last digits of f32.
  static bool near(double left, double right) { return std::abs(left - right) <= 1e-6 * std::abs(right); }
  bool isMask(Scaled scaled) const { return scaled.shift == 0 && near(scaled.scale, 1 / kept); }
  double slope() const { return 1 / std::sqrt((alpha * alpha * (1 - kept) + 1) * kept); }

  void markMask(Value mask);
  void markAlpha(Operation *product, Value factor);
  bool addsLowest(Operation *sum, Value product) const;
  static void mark(Operation *op, plan::StandIn what) {
    plan::setOpAttr<plan::attr::InEvaluation>(op, plan::StandInAttr::get(op->getContext(), what));
  }
  /// Evaluation forwards the operand of a product or sum.
  static void forward(Operation *op, Value operand) {
    mark(op, op->getOperand(0) == operand ? plan::StandIn::first_operand : plan::StandIn::second_operand);
  }
  /// The other operand of a product or sum with `known`; null if `op` is neither.
  static Value other(Operation *op, StringRef target, Value known);

  static constexpr double alpha = 1.7580993408473766;
  Value drawn;
  double kept;
  llvm::MapVector<Value, Scaled> scaledDraws;
};

} // namespace

/// The scale and shift after `user`, if it combines the value with a number or converts it.
std::optional<Scaled> DropoutMarker::scaledBy(Operation *user, Value value, Scaled scaled) {
  auto call = dyn_cast<plan::CallOp>(user);
  if (!call || call.getNumOperands() != 1 || call.getNumResults() != 1)
    return std::nullopt;
  CallView view = CallView::of(call);
  if (view.target == "aten.to.dtype" && isa<FloatType>(view.results[0].getElementType()))
    return scaled;
  Attribute given = view.get("other");
  if (!isa_and_nonnull<FloatAttr, IntegerAttr>(given) || view.getFloat("alpha", 1) != 1 || view.get("rounding_mode"))
    return std::nullopt;
  double number = view.getFloat("other", 0);
  return llvm::StringSwitch<std::optional<Scaled>>(view.target)
      .Cases({"aten.add.Scalar", "aten.add.Tensor"}, Scaled{scaled.scale, scaled.shift + number})
      .Cases({"aten.sub.Scalar", "aten.sub.Tensor"}, Scaled{scaled.scale, scaled.shift - number})
      .Cases({"aten.mul.Scalar", "aten.mul.Tensor"}, Scaled{scaled.scale * number, scaled.shift * number})
      .Cases({"aten.div.Scalar", "aten.div.Tensor"}, Scaled{scaled.scale / number, scaled.shift / number})
      .Default(std::nullopt);
}

Value DropoutMarker::other(Operation *op, StringRef target, Value known) {
  auto call = dyn_cast<plan::CallOp>(op);
  if (!call || call.getTarget() != target || call.getNumOperands() != 2 ||
      CallView::of(call).getFloat("alpha", 1) != 1 || call.getOperand(0) == call.getOperand(1))
    return {};
  return call.getOperand(call.getOperand(0) == known ? 1 : 0);
}

/// Without dropout, the products forward their other operand. Other readers of the mask, such as a view of it, read
/// ones.
void DropoutMarker::markMask(Value mask) {
  mark(mask.getDefiningOp(), plan::StandIn::ones);
  for (Operation *product : mask.getUsers())
    if (Value input = other(product, "aten.mul.Tensor", mask))
      forward(product, input);
}

void DropoutMarker::markAlpha(Operation *product, Value factor) {
  Value input = other(product, "aten.mul.Tensor", factor);
  if (!input)
    return;
  Value scaled = product->getResult(0);
  if (scaled.use_empty() || !llvm::all_of(scaled.getUsers(), [&](Operation *sum) { return addsLowest(sum, scaled); }))
    return;
  forward(product, input);
  for (Operation *sum : scaled.getUsers())
    forward(sum, scaled);
}

bool DropoutMarker::addsLowest(Operation *sum, Value product) const {
  Value moved = other(sum, "aten.add.Tensor", product);
  auto found = moved ? scaledDraws.find(moved) : scaledDraws.end();
  return found != scaledDraws.end() && near(found->second.scale, alpha * slope()) &&
         near(found->second.shift, -alpha * slope() * kept);
}

void meshplan::markWrittenDropouts(Value drawn, double kept) {
  if (kept > 0)
    DropoutMarker(drawn, kept).run();
}
