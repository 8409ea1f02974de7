//===- bind_symbols.h - dynamic shapes become numbers ------------*- C++ -*-===//
//
// A plan gives every symbolic dim its extent. After bindSymbols, no number in the program is symbolic.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_BIND_SYMBOLS_H
#define MESHPLAN_COMPILER_ARCHIVE_BIND_SYMBOLS_H

#include "compiler/archive/diagnostic.h"
#include "compiler/archive/exported_program.h"

namespace meshplan::archive {

/// Solves `dim == extent` for the symbol of `dim` that has no value yet, and binds it. `dim` is the dim of an input.
/// Fails, and binds nothing, if no integer solves it, or if `dim` is known and has another extent.
llvm::Error bindExtent(const SymbolicInt &dim, int64_t extent, SymbolBindings &bindings);

/// Adds the symbols that the numbers of an argument depend on.
void collectSymbols(const Argument &argument, std::set<std::string> &symbols);

/// Evaluates the scalar and returns it as an argument of an operator. Fails if `evaluate` fails.
llvm::Expected<Argument> bindScalar(const SymbolicScalar &scalar, const SymbolBindings &bindings);

/// Replaces every expression in `program` by its value and clears `program.symbols`. On errors the program is
/// unchanged: a symbol without a value (reported with the input dim that it stands for), a value outside the exported
/// range, or an expression that cannot be evaluated. Symbols that masks define have the numbers of data_extents.h.
std::vector<Diagnostic> bindSymbols(ExportedProgram &program, const SymbolBindings &bindings);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_BIND_SYMBOLS_H
