//===- simplify_graph.h - remove nodes without effect ------------*- C++ -*-===//
//
// Exact rewrites of a functional graph, so that the importer sees one form:
//
// - Conversions of type, device and layout become `aten.to.dtype(self, dtype)`. One that keeps the type is removed,
//   unless it names a float type, which the operand may not have under autocast.
// - alias, lift and lift_fresh_copy are removed, and inactive dropout; dropout that is only switched off is recorded.
//
// Stops of gradients are kept: regions without gradients have an `aten.detach` at their border (stop_gradients.h).
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_SIMPLIFY_GRAPH_H
#define MESHPLAN_COMPILER_ARCHIVE_SIMPLIFY_GRAPH_H

#include "compiler/archive/exported_program.h"

namespace meshplan::archive {

/// True for operators that only change type, device or layout.
bool isConversion(llvm::StringRef target);

/// The operand that is itself the result of the node, as Tensor.to returns `self` if there is nothing to convert
/// (PyTorch's native/TensorConversions.cpp); noValue if the result is another tensor, even if only a view or a copy.
/// For nodes as they were exported.
ValueId givenBack(const ExportedProgram &program, const Node &node);

/// Rewrites `program`, which must be functional. Values that no node produces or reads any more are removed, so all ids
/// change.
void simplifyGraph(ExportedProgram &program);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_SIMPLIFY_GRAPH_H
