//===- decide_call.h - which factors a call divides -------------*- C++ -*-===//
//
// Pure: from the shardings of the operands of one call to the axes of its
// factors, the shardings that its operands must have, and those of its results.
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
  /// For each factor the operand whose sharding gave it its axes, or -1.
  llvm::SmallVector<int> source;
  /// An operand whose axes do not fit its factors, and where.
  std::optional<std::pair<unsigned, ProjectionBlock>> block;
  /// An operand of which an axis is larger than a factor and was cut: more ranks than heads.
  std::optional<std::pair<unsigned, ProjectionBlock>> cut;
};

struct CallProblem {
  const FactorRule &rule;
  plan::MeshOp mesh;
  /// Shardings of the operands as they come.
  llvm::SmallVector<plan::ShardingAttr> operands;
  /// Operand numbers, the one whose layout is to win first.
  llvm::SmallVector<unsigned> order;
};

/// Decides a call. Operands that are partial stay partial; the caller has reduced those that may not enter.
CallDecision decideCall(const CallProblem &problem);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_DECIDE_CALL_H
