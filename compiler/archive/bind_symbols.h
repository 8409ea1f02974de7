//===- bind_symbols.h - dynamic shapes become numbers ------------*- C++ -*-===//
//
// A plan gives every symbolic dim its extent. After bindSymbols, no number in
// the program is symbolic.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_BIND_SYMBOLS_H
#define MESHPLAN_COMPILER_ARCHIVE_BIND_SYMBOLS_H

#include "compiler/archive/diagnostic.h"
#include "compiler/archive/exported_program.h"

namespace meshplan::archive {

/// Makes the input dim `dim` have `extent`: binds the one symbol that it depends
/// on and that has no value yet. Fails, and binds nothing, when no integer does
/// it, or when `dim` is known and has another extent.
llvm::Error bindExtent(const SymbolicInt &dim, int64_t extent, SymbolBindings &bindings);

/// Adds the symbols that the numbers of an argument depend on.
void collectSymbols(const Argument &argument, std::set<std::string> &symbols);

/// The float or the truth value under these bindings, as an operator takes it. Fails as `evaluate`.
llvm::Expected<Argument> bindScalar(const SymbolicScalar &scalar, const SymbolBindings &bindings);

/// Replaces every expression in `program` by its number and clears
/// `program.symbols`. On errors the program is left as it was: a symbol
/// without a number (named with the input dim that it is), a number outside the
/// range that was exported, an expression that has no value.
std::vector<Diagnostic> bindSymbols(ExportedProgram &program, const SymbolBindings &bindings);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_BIND_SYMBOLS_H
