//===- evaluate.h - sizes and values of a plan -------------------*- C++ -*-===//
//
// The integers of a plan: `let` values, sizes of axes and folds, `world`, and definitions of the command line that
// override them
// (`-D name=value`).
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_EVALUATE_H
#define MESHPLAN_COMPILER_FRONTEND_EVALUATE_H

#include "compiler/frontend/mesh.h"
#include "compiler/frontend/syntax.h"

#include "llvm/ADT/StringMap.h"

#include <optional>
#include <string>
#include <vector>

namespace meshplan {

/// One `-D name=value` of the command line.
struct Definition {
  std::string name;
  std::string value;
};

/// The values of names in expressions.
struct Environment {
  Mesh mesh;
  llvm::StringMap<int64_t> values; ///< axes, names of folds, lets and `world`
};

/// Evaluates mesh, folds and lets. A plan without a mesh has one rank. `world` is the value of `-D world=N`; without
/// it, the product of the axis sizes. Reports unknown and repeated names, cycles, inexact division, overflow, a size
/// below one, a product of sizes that is not `world`, a fold whose names are not digits (resolveFold), and a definition
/// whose name the plan does not have; then the result is empty.
std::optional<Environment> evaluatePlan(const Syntax &syntax, llvm::ArrayRef<Definition> definitions,
                                        Diagnostics &diagnostics);

/// Evaluates one expression; reports an error and returns nothing if it has no value.
std::optional<int64_t> evaluate(const Expression &expression, const Environment &environment, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_EVALUATE_H
