//===- check_training_mode.h - exports in evaluation mode -------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_CHECK_TRAINING_MODE_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_CHECK_TRAINING_MODE_H

#include "compiler/archive/exported_program.h"
#include "compiler/frontend/bind.h"

namespace meshplan {

/// Warns of a plan with an optimizer whose model was exported in evaluation mode, which inactive dropouts show; with
/// `strict` this is an error. Graphs after run_decompositions({}) do not show it.
void checkTrainingMode(const archive::ExportedProgram &program, const BoundPlan &plan, bool strict,
                       Diagnostics &diagnostics);

/// Warns of a plan with an optimizer whose model applies custom autograd functions: an archive does not contain their
/// backward.
void checkCustomFunctions(const archive::ExportedProgram &program, const BoundPlan &plan, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_CHECK_TRAINING_MODE_H
