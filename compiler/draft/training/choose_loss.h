//===- choose_loss.h - the output that is the loss --------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_TRAINING_CHOOSE_LOSS_H
#define MESHPLAN_COMPILER_DRAFT_TRAINING_CHOOSE_LOSS_H

#include "compiler/archive/exported_program.h"
#include "compiler/support/diagnostics.h"
#include <optional>

namespace meshplan {

enum class LossWish {
  evident, ///< a loss only if an output is called so
  wanted,  ///< one, with a warning if there is none
  needed,  ///< one
};

/// The name of the output that is the loss: `name`, if that is not empty, else the one called `loss`, else the only one
/// that is one float. Empty if there is none. Reports what is wrong with `name`, and what is needed and not there or
/// not evident; then there is no result. `file` is the archive.
std::optional<std::string> chooseLoss(const archive::ExportedProgram &program, const std::string &name, LossWish wish,
                                      int32_t file, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_TRAINING_CHOOSE_LOSS_H
