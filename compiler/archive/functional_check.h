//===- functional_check.h - refuse graphs that write in place ----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_FUNCTIONAL_CHECK_H
#define MESHPLAN_COMPILER_ARCHIVE_FUNCTIONAL_CHECK_H

#include "compiler/archive/diagnostic.h"
#include "compiler/archive/exported_program.h"

namespace meshplan::archive {

/// Whether a call of `target` (such as `aten.add_.Tensor`) writes an operand.
bool writesOperand(llvm::StringRef target);

/// A node as text for a note: its operator, module and line of code, as far as the archive has them.
std::string describeNode(const ExportedProgram &program, const Node &node);

/// Adds one error for the nodes that write in place (through a view included), one for those that update the statistics
/// of norms as a hidden side effect, and one for those that read by strides.
void checkFunctional(const ExportedProgram &program, const std::string &path, std::vector<Diagnostic> &errors);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_FUNCTIONAL_CHECK_H
