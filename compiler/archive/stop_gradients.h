//===- stop_gradients.h - regions without gradients --------------*- C++ -*-===//
//
// In PyTorch what `torch.no_grad()` computes has no gradient, whoever reads it
// (torch/autograd/grad_mode.py); a tensor that is given back as it is, as by
// `x.float()` of floats, is no other one and keeps its own. Once such a region
// is inlined, its nodes look like all others: `aten.detach` stands for its
// border.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_STOP_GRADIENTS_H
#define MESHPLAN_COMPILER_ARCHIVE_STOP_GRADIENTS_H

#include "compiler/archive/exported_program.h"

namespace meshplan::archive {

/// Puts `aten.detach` behind each value that a node without gradients makes of parameters, where nodes with gradients
/// or outputs read it other than to detach it, and has them read that. `program` must be functional.
void stopGradients(ExportedProgram &program);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_STOP_GRADIENTS_H
