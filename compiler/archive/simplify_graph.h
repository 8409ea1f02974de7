//===- simplify_graph.h - remove what has no meaning here --------*- C++ -*-===//
//
// Exact rewrites of a functional graph, so that the importer sees one form:
//   - conversions of type, device and layout become `aten.to.dtype(self, dtype)`;
//     one that keeps the type goes away, unless it names a type of floats, which
//     autocast may have given another one
//   - alias, lift and lift_fresh_copy go away; dropout that drops nothing too,
//     and is noted where it is only switched off
// What stops gradients stays: regions without gradients have an `aten.detach` at
// their border (stop_gradients.h).
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_SIMPLIFY_GRAPH_H
#define MESHPLAN_COMPILER_ARCHIVE_SIMPLIFY_GRAPH_H

#include "compiler/archive/exported_program.h"

namespace meshplan::archive {

/// True for operators that only change type, device or layout.
bool isConversion(llvm::StringRef target);

/// The operand that the node's one result is itself, as Tensor.to returns `self` where nothing is to do (PyTorch's
/// native/TensorConversions.cpp); noValue where the result is a tensor of its own, if only a view or a copy. Of nodes
/// as they were exported.
ValueId givenBack(const ExportedProgram &program, const Node &node);

/// Rewrites `program`, which must be functional. Values that nothing makes or
/// reads any more are removed, so all ids change.
void simplifyGraph(ExportedProgram &program);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_SIMPLIFY_GRAPH_H
