//===- expression.h - numbers that depend on input dims ----------*- C++ -*-===//
//
// A graph exported with dynamic shapes has numbers (extents, arguments) that are expressions over symbols such as
// `s72`, the extent of an input dim. An expression is kept as a small tree, can be printed in infix form, and has a
// value once every symbol has one.
//
// Values mean what they mean in Python: `//` and `%` round towards minus infinity, an integer beside a float becomes a
// float, and a truth value beside a number is 0 or 1.
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

/// What an expression can be.
using SymbolicValue = std::variant<bool, int64_t, double>;

/// Number of every symbol.
using SymbolBindings = llvm::StringMap<int64_t>;

/// One node of an expression. Immutable once built, so trees share their parts.
struct SymbolicExpression {
  enum class Kind {
    Constant,
    Symbol,
    // Of numbers.
    Add,
    Multiply,
    Divide,
    FloorDivide,
    Modulo,
    Power,
    Maximum,
    Minimum,
    ToFloat,
    Function, ///< of the C library, by name
    // From a float to a whole number.
    Floor,
    Ceiling,
    Truncate,
    Round,           ///< to the nearest, halves to even
    TruncateToFloat, ///< which stays a float
    RoundDecimal,    ///< to so many digits behind the point
    // Of bits.
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    // Truth values.
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
    Piecewise, ///< pairs, of which the first holds whose condition does
    Pair       ///< a value and its condition
  };

  Kind kind = Kind::Constant;
  SymbolicValue constant = int64_t(0); ///< of Constant
  std::string name;                    ///< of Symbol and Function
  std::vector<std::shared_ptr<const SymbolicExpression>> operands;
};

using SymbolicExpressionPtr = std::shared_ptr<const SymbolicExpression>;

/// Reads what torch.export writes, sympy's srepr: `Symbol('s72', positive=True, integer=True)`, `Mul(Integer(2), ...)`,
/// `FloatTrueDiv(Float('1.0', precision=53), ...)`. Fails, with the text of the part, on a function that is not in
/// Kind.
llvm::Expected<SymbolicExpressionPtr> parseExpression(llvm::StringRef text);

/// Infix form, such as `2*s72 + 1`.
std::string toString(const SymbolicExpression &expression);

/// The value under these bindings. Fails on a symbol that has none, on a division by zero and on a result that is not
/// finite or does not fit.
llvm::Expected<SymbolicValue> evaluate(const SymbolicExpression &expression, const SymbolBindings &bindings);

/// Adds the symbols that `expression` depends on.
void collectSymbols(const SymbolicExpression &expression, std::set<std::string> &symbols);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_SYMBOLS_EXPRESSION_H
