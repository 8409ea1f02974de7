//===- symbolic_int.h - numbers of a graph, known or symbolic ----*- C++ -*-===//
//
// Extents and arguments of a graph: known, or expressions over the extents of
// input dims (symbols/expression.h).
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_SYMBOLIC_INT_H
#define MESHPLAN_COMPILER_ARCHIVE_SYMBOLIC_INT_H

#include "compiler/archive/symbols/expression.h"

namespace meshplan::archive {

/// An integer that is known, or an expression.
struct SymbolicInt {
  int64_t value = 0;                ///< valid when !isSymbolic()
  SymbolicExpressionPtr expression; ///< null when the integer is known

  SymbolicInt(int64_t value = 0) : value(value) {}
  SymbolicInt(SymbolicExpressionPtr expression);

  bool isSymbolic() const { return expression != nullptr; }
  bool operator==(const SymbolicInt &other) const;
};

/// A float or a truth value that is an expression.
struct SymbolicScalar {
  enum class Type { Float, Bool };

  Type type = Type::Float;
  SymbolicExpressionPtr expression;

  bool operator==(const SymbolicScalar &other) const;
};

/// Parses an integer as torch.export writes it (parseExpression).
llvm::Expected<SymbolicInt> parseSymbolicInt(llvm::StringRef text);

/// Infix form, such as `2*s72 + 1`; a number when known.
std::string toString(const SymbolicInt &integer);

/// The number under these bindings. Fails as `evaluate` of an expression, and if the result is not an integer.
llvm::Expected<int64_t> evaluate(const SymbolicInt &integer, const SymbolBindings &bindings);

/// The float or boolean under these bindings. Fails as `evaluate` of an expression, and if the result has another type.
llvm::Expected<SymbolicValue> evaluate(const SymbolicScalar &scalar, const SymbolBindings &bindings);

/// Adds the symbols that `integer` depends on.
void collectSymbols(const SymbolicInt &integer, std::set<std::string> &symbols);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_SYMBOLIC_INT_H
