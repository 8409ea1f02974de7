//===- split_complex.h - complex tensors as pairs of reals -------*- C++ -*-===//
//
// Rotary embeddings are often written with complex numbers. Inside a graph, each complex tensor becomes two real ones
// of its shape, the real and the imaginary part, and every operator becomes operators on these (pair_rules.h): a
// product is four real products, operators that move elements are duplicated, `view_as_complex` selects and
// `view_as_real` stacks. Constants and buffers are read as pairs.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_COMPLEX_SPLIT_COMPLEX_H
#define MESHPLAN_COMPILER_ARCHIVE_COMPLEX_SPLIT_COMPLEX_H

#include "compiler/archive/diagnostic.h"
#include "compiler/archive/exported_program.h"

namespace meshplan::archive {

/// Rewrites `program`, which must be functional and read from the archive `path`. Values without readers are not
/// removed. A persistent buffer becomes a real one with a last dim of 2, as from torch.view_as_real. Refused: complex
/// parameters, inputs, outputs and updates of buffers, and operators without a rule.
void splitComplex(ExportedProgram &program, const std::string &path, std::vector<Diagnostic> &errors);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_COMPLEX_SPLIT_COMPLEX_H
