//===- adopted_styles.h - the styles of a foreign plan ----------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_ADOPTED_STYLES_H
#define MESHPLAN_COMPILER_DRAFT_ADOPTED_STYLES_H

#include "compiler/adopt/adopted_plan.h"
#include "compiler/draft/choose_styles.h"
#include "compiler/draft/draft_text.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {

/// Adds the styles of a foreign plan to the draft, and returns them as choices, in the order of `Draft::styles`. Styles
/// of one submodule of equal layers, or of one module outside of layers, are a group: they are kept or dropped
/// together. Modules with matrices that the plan does not name are undivided.
std::vector<StyleChoice> takeAdoptedStyles(const AdoptedPlan &plan, Draft &draft);

/// The clauses that state whole inputs for the modules that read them whole, by module: ", input [_, _], input 1 [_]".
std::map<std::string, std::string> wholeInputClauses(const AdoptedPlan &plan, mlir::func::FuncOp program);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_ADOPTED_STYLES_H
