//===- write_program.h - writes a solution as a sched.program ---*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_WRITE_PROGRAM_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_WRITE_PROGRAM_H

#include "compiler/scheduling/unroll.h"
#include "compiler/transforms/schedule/build_problem.h"
#include "compiler/transforms/schedule/program_estimates.h"

namespace meshplan {

/// Appends the program of a verified solution, and of what its instances defer, at the builder's insertion point. Ops
/// keep the locations of their originals.
void writeProgram(mlir::OpBuilder &builder, mlir::func::FuncOp function, const ProjectedFunction &projection,
                  const scheduling::Instances &instances, const ProgramEstimates &estimates, LayoutTable &layouts);

/// The name under which traces show what is written for a copy: "pack".
llvm::StringRef writtenName(scheduling::Copy copy);

/// Appends mesh and communicators.
void writeDeclarations(mlir::OpBuilder &builder, plan::MeshOp mesh, const CommunicatorTable &communicators);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_WRITE_PROGRAM_H
