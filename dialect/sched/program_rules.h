//===- program_rules.h - rules of a program beside its order ----*- C++ -*-===//
//
// Parts of the verifier of sched.program. Each reports the first breach of its rules. program_verifier.cpp walks the
// steps.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_SCHED_PROGRAM_RULES_H
#define MESHPLAN_DIALECT_SCHED_PROGRAM_RULES_H

#include "dialect/sched/sched.h"

namespace meshplan::sched {

/// P3, P18, P20 to P24: names differ, states have their parameters, nothing is updated twice, and what is found by role
/// or by name is there once.
llvm::LogicalResult verifyDeclarations(ProgramOp program);

/// P9, P10, P14 to P17, P19: the timeline lists the microbatches of known programs in their order, and ends with the
/// program itself.
llvm::LogicalResult verifyTimeline(ProgramOp program);

/// P2, P4, P5, P12, P13, P26, T1, W3, W5, W7: what holds for each step wherever it is in the order.
llvm::LogicalResult verifySteps(ProgramOp program);

/// "collective" or "copy", for messages.
inline llvm::StringRef kindOf(mlir::Operation *started) { return mlir::isa<StartOp>(started) ? "collective" : "copy"; }

} // namespace meshplan::sched

#endif // MESHPLAN_DIALECT_SCHED_PROGRAM_RULES_H
