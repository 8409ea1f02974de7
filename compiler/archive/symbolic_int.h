//===- symbolic_int.h - integers that depend on input dims -------*- C++ -*-===//
//
// A graph exported with dynamic shapes has integers (extents, arguments) that
// are expressions over symbols such as `s72`, the extent of an input dim. An
// expression is kept as a small tree, can be printed in infix form, and gives
// a number once every symbol has one.
//
// Integer meaning is Python's: `//` and `%` round towards minus infinity.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_SYMBOLIC_INT_H
#define MESHPLAN_COMPILER_ARCHIVE_SYMBOLIC_INT_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace meshplan::archive {

/// One node of an expression. Immutable once built, so trees share their parts.
struct SymbolicExpression {
  enum class Kind { Constant, Symbol, Add, Multiply, FloorDivide, Modulo, Power, Maximum, Minimum };

  Kind kind = Kind::Constant;
  int64_t constant = 0; ///< of Constant
  std::string symbol;   ///< of Symbol
  std::vector<std::shared_ptr<const SymbolicExpression>> operands;
};

/// Number of every symbol.
using SymbolBindings = llvm::StringMap<int64_t>;

/// An integer that is known, or an expression.
struct SymbolicInt {
  int64_t value = 0;                                    ///< valid when !isSymbolic()
  std::shared_ptr<const SymbolicExpression> expression; ///< null when the integer is known

  SymbolicInt(int64_t value = 0) : value(value) {}
  SymbolicInt(std::shared_ptr<const SymbolicExpression> expression);

  bool isSymbolic() const { return expression != nullptr; }
  bool operator==(const SymbolicInt &other) const;
};

/// Reads what torch.export writes: `Symbol('s72', positive=True, integer=True)`,
/// `Mul(Integer(2), ...)`. Fails, with the text of the part, on a function that
/// is not in Kind.
llvm::Expected<SymbolicInt> parseSymbolicInt(llvm::StringRef text);

/// Infix form, such as `2*s72 + 1`; a number when known.
std::string toString(const SymbolicInt &integer);

/// The number under these bindings. Fails on a symbol that has none, on a
/// division by zero and on a result that does not fit.
llvm::Expected<int64_t> evaluate(const SymbolicInt &integer, const SymbolBindings &bindings);

/// Adds the symbols that `integer` depends on.
void collectSymbols(const SymbolicInt &integer, std::set<std::string> &symbols);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_SYMBOLIC_INT_H
