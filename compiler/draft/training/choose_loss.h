//===- choose_loss.h - the output that is the loss --------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_TRAINING_CHOOSE_LOSS_H
#define MESHPLAN_COMPILER_DRAFT_TRAINING_CHOOSE_LOSS_H

#include "compiler/archive/exported_program.h"
#include "compiler/support/diagnostics.h"
#include <optional>

namespace meshplan {

enum class LossRequest {
  ifNamed,  ///< only an output with the name `loss`
  optional, ///< a loss, with a warning if there is none
  required, ///< a loss, with an error if there is none
};

/// The name of the output that is the loss: `name` if it is not empty, else the output called `loss`, else the only
/// floating-point scalar. Empty if there is none. Reports a wrong `name`, and a required loss that is missing or
/// ambiguous; then there is no result. `file` is the archive.
std::optional<std::string> chooseLoss(const archive::ExportedProgram &program, const std::string &name,
                                      LossRequest request, int32_t file, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_TRAINING_CHOOSE_LOSS_H
