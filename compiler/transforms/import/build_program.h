//===- build_program.h - archive and plan to plan dialect -------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_BUILD_PROGRAM_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_BUILD_PROGRAM_H

#include "compiler/frontend/bind.h"
#include "compiler/transforms/import/outline_model.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace meshplan {

/// Builds the module of a bound plan: the mesh, one plan.style for each styled module, and @forward with a plan.call
/// for each node. Symbols of `program` must be bound (archive::bindSymbols). Reports errors and returns null for
/// programs that the IR cannot represent (complex numbers, an input that cannot be divided) and for statements that no
/// later phase supports.
mlir::OwningOpRef<mlir::ModuleOp> buildProgram(const archive::ExportedProgram &program, const ProgramOutline &outline,
                                               const BoundPlan &plan, Diagnostics &diagnostics,
                                               mlir::MLIRContext &context);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_BUILD_PROGRAM_H
