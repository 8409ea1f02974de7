//===- operations.h - what expressions are made of ---------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_SYMBOLS_OPERATIONS_H
#define MESHPLAN_COMPILER_ARCHIVE_SYMBOLS_OPERATIONS_H

#include "compiler/archive/symbols/expression.h"

namespace meshplan::archive {

/// How an expression of one kind is written: by sympy, and in a message.
struct Operation {
  llvm::StringRef function; ///< of sympy and of torch.utils._sympy
  SymbolicExpression::Kind kind;
  size_t fewest, most;  ///< operands
  llvm::StringRef text; ///< between operands, or in front of them in parentheses
  int precedence;       ///< of an operator between operands; 0: `text` is the name of a function
};

constexpr int atomPrecedence = 9;

/// The operation that sympy writes so, or null.
const Operation *findOperation(llvm::StringRef function);
/// Any operation of this kind; of Pair and leaves, null.
const Operation *findOperation(SymbolicExpression::Kind kind);

/// The function of one float that sympy writes as `OpaqueUnaryFn_sqrt`, by the name `sqrt`; null if there is none.
double (*findFunction(llvm::StringRef name))(double);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_SYMBOLS_OPERATIONS_H
