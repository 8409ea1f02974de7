//===- linearity.cpp - operands in which a call is linear -----------------===//

#include "compiler/sharding/record_support/linearity.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace meshplan {

bool keepsSums(Type from, Type to) {
  // A partial sum stays one if converting each addend and then adding gives what adding and then converting gives. A
  // narrower type rounds every addend. An integer from a float cuts each addend off: 0.6 + 0.6 is 1, not 0 + 0. A flag
  // is not a number to add: true + true is true. Of two types of one width, as f16 and bf16, neither contains the
  // other.
  bool sameKind = isa<FloatType>(from) == isa<FloatType>(to);
  return sameKind && !from.isInteger(1) && from.getIntOrFloatBitWidth() <= to.getIntOrFloatBitWidth() &&
         (from == to || from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth());
}

/// The operands of a set of arguments; empty if one of them cannot be a partial sum.
static SmallVector<unsigned, 2> operandsOf(const CallView &call, ArgumentSet names) {
  SmallVector<unsigned, 2> set;
  for (StringRef name : names) {
    std::optional<unsigned> operand = call.getOperand(name);
    if (!operand || call.results.empty() ||
        !keepsSums(call.operands[*operand].getElementType(), call.results.front().getElementType()))
      return {};
    if (!llvm::is_contained(set, *operand))
      set.push_back(*operand);
  }
  llvm::sort(set);
  return set;
}

/// True if another argument refers to one of the operands: x * x is linear in neither x.
static bool isUsedElsewhere(const CallView &call, ArgumentSet names, ArrayRef<unsigned> set) {
  return llvm::any_of(call.args, [&](NamedAttribute argument) {
    std::optional<unsigned> operand = call.getOperand(argument.getName());
    return operand && llvm::is_contained(set, *operand) && !llvm::is_contained(names, argument.getName().getValue());
  });
}

Linearity linearIn(const CallView &call, std::initializer_list<ArgumentSet> sets) {
  Linearity linearity;
  for (ArgumentSet names : sets) {
    SmallVector<unsigned, 2> set = operandsOf(call, names);
    // A set stands for operands that are partial together: a + b of partial sums is partial, but with only `a` partial
    // every rank would add all of `b`, which then counts once for each rank.
    if (!set.empty() && !isUsedElsewhere(call, names, set))
      linearity.sets.push_back(set);
  }
  return linearity;
}

Linearity inSelf(const CallView &call) { return linearIn(call, {{"self"}}); }

Linearity inInput(const CallView &call) { return linearIn(call, {{"input"}}); }

Linearity inGradient(const CallView &call) { return linearIn(call, {{"gradient"}}); }

Linearity inWeight(const CallView &call) { return linearIn(call, {{"weight"}}); }

Linearity inSource(const CallView &call) { return linearIn(call, {{"source"}}); }

Linearity notLinear(const CallView &) { return {}; }

Linearity movesOperand(const CallView &call) {
  Linearity linearity;
  if (call.operands.empty() || call.results.empty())
    return linearity;
  Type from = call.operands.front().getElementType(), to = call.results.front().getElementType();
  if (from == to || keepsSums(from, to))
    linearity.sets.push_back({0});
  // Without a conversion also a maximum over ranks, or any other reduction, commutes with moving elements.
  linearity.movesElements = from == to;
  return linearity;
}

} // namespace meshplan
