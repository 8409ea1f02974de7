//===- fold.h - digits of axes by name ---------------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_FRONTEND_FOLD_H
#define MESHPLAN_COMPILER_FRONTEND_FOLD_H

#include "compiler/frontend/mesh.h"
#include "compiler/frontend/syntax.h"

namespace meshplan {

/// Adds the names of a fold to the mesh, whose axes are known; `sizes` are those of the names, all at least 1. Reports
/// axes that the mesh does not have or that are listed twice, sizes with another product, and names that are not made
/// of digits; then the mesh stays as it is.
void resolveFold(const FoldStatement &fold, llvm::ArrayRef<int64_t> sizes, Mesh &mesh, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_FOLD_H
