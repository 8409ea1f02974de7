//===- operations.h - the table of operations --------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_SYMBOLS_OPERATIONS_H
#define MESHPLAN_COMPILER_ARCHIVE_SYMBOLS_OPERATIONS_H

#include "compiler/archive/symbols/expression.h"

namespace meshplan::archive {

/// The notations of an operation: sympy's, and that of messages.
struct Operation {
  llvm::StringRef function; ///< name in sympy and torch.utils._sympy
  SymbolicExpression::Kind kind;
  size_t fewest, most;  ///< number of operands
  llvm::StringRef text; ///< between operands, or the name of a function
  int precedence;       ///< of an infix operator; 0: `text` is the name of a function
};

constexpr int atomPrecedence = 9;

/// The operation with this name in sympy, or null.
const Operation *findOperation(llvm::StringRef function);
/// An operation of this kind; null for Pair and leaves.
const Operation *findOperation(SymbolicExpression::Kind kind);

/// The function of one float that sympy writes as `OpaqueUnaryFn_sqrt`, by the name `sqrt`; null if there is none.
double (*findFunction(llvm::StringRef name))(double);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_SYMBOLS_OPERATIONS_H
