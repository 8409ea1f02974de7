//===- decide_call.h - decides the factors a call divides -------*- C++ -*-===//
//
// From the shardings of the operands of one call to the axes of its factors,
// the shardings that its operands must have, and those of its results. Pure.
//
// Example: aten.linear with input [4, 16], weight [8, 16] and result [4, 8] on
// a mesh dp = 2, tp = 2. The factors are b = 4, o = 8 (parallel) and c = 16
// (sum).
//
//   input   [b, c]   arrives as [{dp}, {tp}]   offers b: {dp}, c: {tp}
//   weight  [o, c]   arrives as [{}, {tp}]     offers c: {tp}
//   decision         b: {dp}  o: {}  c: {tp}
//   result  [b, o]   [{dp}, {}], partial sum over tp, because c is contracted
//
// With an undivided weight the decision is the same, and the weight must be
// sliced over tp first. Operands make their offers in `order`; an offer that
// contradicts an earlier one is not taken, and the operand is resharded.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_DECIDE_CALL_H
#define MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_DECIDE_CALL_H

#include "compiler/sharding/op_record.h"
#include "compiler/sharding/projection.h"

namespace meshplan {

struct CallDecision {
  FactorDivisions factors;
  llvm::SmallVector<plan::ShardingAttr> operands;
  llvm::SmallVector<plan::ShardingAttr> results;
  /// For each factor, the operand that gave it its axes, or -1.
  llvm::SmallVector<int> source;
  /// The first operand whose axes do not fit its factors, and the reason.
  std::optional<std::pair<unsigned, Misfit>> misfit;
  /// The first operand of which an axis is larger than a factor and was split into digits: there are more ranks than
  /// heads.
  std::optional<std::pair<unsigned, Misfit>> cut;
};

struct CallProblem {
  const FactorRule &rule;
  plan::MeshOp mesh;
  /// Shardings of the operands as they arrive.
  llvm::SmallVector<plan::ShardingAttr> operands;
  /// Operand indices in order of precedence.
  llvm::SmallVector<unsigned> order;
  /// Axes of factors that are decided before any operand is read: empty, or one for each factor.
  FactorDivisions given = {};
  /// Operands whose first dims cannot be resharded, and the number of these dims. No other operand divides their
  /// factors.
  llvm::SmallVector<std::pair<unsigned, int64_t>> fixed = {};
};

/// Decides a call. Partial operands stay partial; the caller must have reduced those that the call does not accept.
CallDecision decideCall(const CallProblem &problem);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_DECIDE_CALL_H
