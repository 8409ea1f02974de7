//===- positive_gates.cpp - gates that are not 0 --------------------------===//

#include "compiler/transforms/import/experts/loops/positive_gates.h"
#include "compiler/transforms/import/experts/call_patterns.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

namespace {

/// How an operator makes positive results.
enum class Positive {
  never,    ///< it does not, or is not known
  always,   ///< of anything
  ofFirst,  ///< of a positive first operand: it moves, takes or sums elements of it
  ofNumber, ///< of a positive operand and a positive number
  ofAll,    ///< of positive operands
};

} // namespace

static Positive positiveOf(const CallView &view) {
  return llvm::StringSwitch<Positive>(view.target)
      .Cases({"aten.softmax.int", "aten._softmax.default", "aten.sigmoid.default", "aten.exp.default"},
             Positive::always)
      .Cases({"aten.topk.default", "aten.sort.default", "aten.sort.stable", "aten.max.dim", "aten.amax.default",
              "aten.gather.default", "aten.index.Tensor", "aten.index_select.default", "aten.sum.dim_IntList",
              "aten.mean.dim", "aten.clamp_min.default"},
             Positive::ofFirst)
      .Cases({"aten.mul.Tensor", "aten.mul.Scalar", "aten.div.Tensor", "aten.div.Scalar", "aten.add.Tensor",
              "aten.add.Scalar"},
             view.get("rounding_mode") || view.getFloat("alpha", 1) <= 0 ? Positive::never : Positive::ofNumber)
      .Cases({"aten.cat.default", "aten.stack.default"}, Positive::ofAll)
      .Default(Positive::never);
}

static bool isPositive(SparseGatesReader &gates, Value value, unsigned depth) {
  constexpr unsigned deepest = 32;
  plan::CallOp call = callOf(value);
  if (!call || depth == deepest || !isa<FloatType>(elementOf(value)))
    return false;
  auto isPositiveOperand = [&](Value operand) { return ::isPositive(gates, operand, depth + 1); };
  CallView view = CallView::of(call);
  // The gates of all experts have some that are positive.
  if (view.target == "aten.sum.dim_IntList" && isAlong(call, rankOf(call.getOperand(0)) - 1))
    if (std::optional<SparseGates> sparse = gates.read(call.getOperand(0));
        sparse && sparse->fill == 0 && (sparse->values ? isPositiveOperand(sparse->values) : sparse->number > 0))
      return true;
  switch (positiveOf(view)) {
  case Positive::always:
    return true;
  case Positive::ofFirst:
    return isPositiveOperand(call.getOperand(0));
  case Positive::ofNumber:
    return (call.getNumOperands() != 1 || !isa_and_present<FloatAttr, IntegerAttr>(view.get("other")) ||
            view.getFloat("other", 0) > 0) &&
           llvm::all_of(call.getOperands(), isPositiveOperand);
  case Positive::ofAll:
    return llvm::all_of(call.getOperands(), isPositiveOperand);
  case Positive::never:
    break;
  }
  bool isMoved =
      convertsElements(call) || keepsOrder(call) ||
      readThroughMovement(gates.functions.builder, value, coordinatesOf(gates.functions.builder, shapeOf(value)));
  return isMoved && isPositiveOperand(call.getOperand(0));
}

bool meshplan::isPositive(SparseGatesReader &gates, Value value) { return ::isPositive(gates, value, 0); }
