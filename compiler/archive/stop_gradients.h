//===- stop_gradients.h - regions without gradients --------------*- C++ -*-===//
//
// In PyTorch, a result computed under `torch.no_grad()` has no gradient in any of its readers
// (torch/autograd/grad_mode.py). A tensor that is returned unchanged, as by `x.float()` of floats, is the same tensor
// and keeps its gradient. Once such a region is inlined, its nodes look like all others, so `aten.detach` marks its
// border.
//
// Example: with torch.no_grad(): m = w * 2; then y = m + w. The graph becomes m = mul(w, 2); d = detach(m); y = add(d,
// w), and w gets its gradient from the sum only.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_STOP_GRADIENTS_H
#define MESHPLAN_COMPILER_ARCHIVE_STOP_GRADIENTS_H

#include "compiler/archive/exported_program.h"

namespace meshplan::archive {

/// Inserts `aten.detach` after each value that a node without gradients computes from parameters, if nodes with
/// gradients or outputs read it (other than by a detach), and makes them read its result. `program` must be functional.
void stopGradients(ExportedProgram &program);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_STOP_GRADIENTS_H
