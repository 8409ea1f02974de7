//===- expression.h - numbers that depend on input dims ----------*- C++ -*-===//
//
// A graph exported with dynamic shapes has numbers (extents, arguments) that are expressions over symbols such as
// `s72`, the extent of an input dim. An expression is a small tree, can be printed in infix form, and has a value once
// every symbol has one.
//
// Semantics are Python's: `//` and `%` round towards minus infinity, an integer combined with a float becomes a float,
// and a boolean combined with a number is 0 or 1.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_SYMBOLS_EXPRESSION_H
#define MESHPLAN_COMPILER_ARCHIVE_SYMBOLS_EXPRESSION_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace meshplan::archive {

/// The types of an expression.
using SymbolicValue = std::variant<bool, int64_t, double>;

/// The value of every symbol.
using SymbolBindings = llvm::StringMap<int64_t>;

/// One node of an expression. Immutable once built, so trees may share subtrees.
struct SymbolicExpression {
  enum class Kind {
    Constant,
    Symbol,
    // Arithmetic.
    Add,
    Multiply,
    Divide,
    FloorDivide,
    Modulo,
    Power,
    Maximum,
    Minimum,
    ToFloat,
    Function, ///< a function of the C library, by name
    // From a float to an integer.
    Floor,
    Ceiling,
    Truncate,
    Round,           ///< to the nearest integer, ties to even
    TruncateToFloat, ///< the result is a float
    RoundDecimal,    ///< to a number of decimal digits
    // Bitwise.
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    // Booleans.
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
    Not,
    // Choices.
    Where,     ///< a condition and two values
    Piecewise, ///< pairs; the value of the first pair whose condition holds
    Pair       ///< a value and its condition
  };

  Kind kind = Kind::Constant;
  SymbolicValue constant = int64_t(0); ///< of Constant
  std::string name;                    ///< of Symbol and Function
  std::vector<std::shared_ptr<const SymbolicExpression>> operands;
};

using SymbolicExpressionPtr = std::shared_ptr<const SymbolicExpression>;

/// Parses sympy's srepr, which torch.export writes: `Symbol('s72', positive=True, integer=True)`, `Mul(Integer(2),
/// ...)`, `FloatTrueDiv(Float('1.0', precision=53), ...)`. Fails, with the text of the part, on a function that is not
/// in Kind.
llvm::Expected<SymbolicExpressionPtr> parseExpression(llvm::StringRef text);

/// Infix form, such as `2*s72 + 1`.
std::string toString(const SymbolicExpression &expression);

/// The value under these bindings. Fails on an unbound symbol, a division by zero, and a result that is non-finite or
/// does not fit.
llvm::Expected<SymbolicValue> evaluate(const SymbolicExpression &expression, const SymbolBindings &bindings);

/// Adds the symbols that `expression` depends on.
void collectSymbols(const SymbolicExpression &expression, std::set<std::string> &symbols);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_SYMBOLS_EXPRESSION_H
