//===- split_complex.h - complex tensors as pairs of reals -------*- C++ -*-===//
//
// Rotary embeddings are often written with complex numbers. Inside of a graph
// each complex tensor becomes two real ones of its shape, real and imaginary
// part, and every operator what it does to these (pair_rules.h): products are
// four real ones, what moves elements does so twice, `view_as_complex` selects
// and `view_as_real` stacks. Constants and buffers are read as pairs.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_COMPLEX_SPLIT_COMPLEX_H
#define MESHPLAN_COMPILER_ARCHIVE_COMPLEX_SPLIT_COMPLEX_H

#include "compiler/archive/diagnostic.h"
#include "compiler/archive/exported_program.h"

namespace meshplan::archive {

/// Rewrites `program`, which must be functional and of the archive `path`; what nothing reads any more stays among its
/// values. A persistent buffer becomes a real one with a last dim of 2, as torch.view_as_real gives it.
/// Refused: complex parameters, inputs, outputs and updates of buffers, and operators without a rule.
void splitComplex(ExportedProgram &program, const std::string &path, std::vector<Diagnostic> &errors);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_COMPLEX_SPLIT_COMPLEX_H
