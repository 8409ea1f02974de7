//===- archive_facts.h - what a module was imported from --------*- C++ -*-===//
//
// Attributes of the module that say of its archive what no call shows. Messages
// depend on them, and nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_PLAN_ARCHIVE_FACTS_H
#define MESHPLAN_DIALECT_PLAN_ARCHIVE_FACTS_H

#include "llvm/ADT/StringRef.h"

namespace meshplan::plan {

/// `run_decompositions({})` has made the graph.
inline constexpr llvm::StringLiteral isDecomposedName = "plan.is_decomposed";
/// The model was exported after `model.eval()`, as dropouts show.
inline constexpr llvm::StringLiteral isEvaluatedName = "plan.is_evaluated";

} // namespace meshplan::plan

#endif // MESHPLAN_DIALECT_PLAN_ARCHIVE_FACTS_H
