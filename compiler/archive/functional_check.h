//===- functional_check.h - refuse graphs that write in place ----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_FUNCTIONAL_CHECK_H
#define MESHPLAN_COMPILER_ARCHIVE_FUNCTIONAL_CHECK_H

#include "compiler/archive/diagnostic.h"
#include "compiler/archive/exported_program.h"

namespace meshplan::archive {

/// Whether a call of `target` (such as `aten.add_.Tensor`) writes an operand.
bool writesOperand(llvm::StringRef target);

/// A node for a note: its operator, module and line of code, as far as the archive says.
std::string describeNode(const ExportedProgram &program, const Node &node);

/// Adds one error for the nodes that write in place, a view included, one for
/// those that update batch-norm statistics without saying so, and one for those
/// that read by strides.
void checkFunctional(const ExportedProgram &program, const std::string &path, std::vector<Diagnostic> &errors);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_FUNCTIONAL_CHECK_H
