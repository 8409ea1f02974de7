//===- archive_facts.h - facts about the imported archive -------*- C++ -*-===//
//
// Attributes of the module that record how its archive was exported. Only
// messages to the user read them.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_PLAN_ARCHIVE_FACTS_H
#define MESHPLAN_DIALECT_PLAN_ARCHIVE_FACTS_H

#include "llvm/ADT/StringRef.h"

namespace meshplan::plan {

/// The graph was decomposed with `run_decompositions({})`.
inline constexpr llvm::StringLiteral isDecomposedName = "plan.is_decomposed";
/// The model was exported after `model.eval()`: its dropouts are inactive.
inline constexpr llvm::StringLiteral isEvaluatedName = "plan.is_evaluated";

} // namespace meshplan::plan

#endif // MESHPLAN_DIALECT_PLAN_ARCHIVE_FACTS_H
