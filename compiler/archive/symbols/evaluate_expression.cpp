//===- evaluate_expression.cpp - expressions become values -------*- C++ -*-===//
//
// Expressions are evaluated as Python does it, since PyTorch computed the sizes of the export by them: integers divide
// towards minus infinity and never overflow, floats are those of the C library. A result that does not fit in 64 bits,
// or is NaN, has no value.
//
//===----------------------------------------------------------------------===//

#include "compiler/archive/symbols/operations.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstdlib>
#include <optional>

namespace meshplan::archive {

using Kind = SymbolicExpression::Kind;
using Result = std::optional<SymbolicValue>; ///< nothing if there is no value

namespace {

bool isFloat(const SymbolicValue &value) { return std::holds_alternative<double>(value); }

int64_t integerOf(const SymbolicValue &value) {
  const bool *truth = std::get_if<bool>(&value);
  return truth ? *truth : std::get<int64_t>(value);
}

double floatOf(const SymbolicValue &value) {
  const double *number = std::get_if<double>(&value);
  return number ? *number : static_cast<double>(integerOf(value));
}

bool truthOf(const SymbolicValue &value) { return isFloat(value) ? floatOf(value) != 0 : integerOf(value) != 0; }

Result finite(double number) { return std::isfinite(number) ? Result(number) : std::nullopt; }

Result whole(double number) {
  // 2^63 is a double, INT64_MAX is not: comparing with it would round up and accept 2^63.
  constexpr double beyond = 9223372036854775808.0;
  bool fits = number >= -beyond && number < beyond;
  return fits ? Result(static_cast<int64_t>(number)) : std::nullopt;
}

/// Rounds towards minus infinity, as Python.
Result divideWhole(Kind kind, int64_t left, int64_t right) {
  // The quotient of the second case does not fit, and C++ leaves it undefined.
  if (right == 0 || (left == INT64_MIN && right == -1))
    return std::nullopt;
  int64_t quotient = left / right, remainder = left % right;
  if (remainder != 0 && (remainder < 0) != (right < 0)) {
    --quotient;
    remainder += right;
  }
  return kind == Kind::FloorDivide ? quotient : remainder;
}

Result powerWhole(int64_t base, int64_t exponent) {
  if (exponent < 0 || exponent > 64)
    return std::nullopt;
  int64_t result = 1;
  for (int64_t i = 0; i < exponent; ++i)
    if (__builtin_mul_overflow(result, base, &result))
      return std::nullopt;
  return result;
}

Result shift(Kind kind, int64_t number, int64_t bits) {
  if (bits < 0 || bits > 62)
    return std::nullopt;
  int64_t result = number >> bits;
  bool overflows = kind == Kind::ShiftLeft && __builtin_mul_overflow(number, int64_t(1) << bits, &result);
  return overflows ? std::nullopt : Result(result);
}

Result ofIntegers(Kind kind, int64_t left, int64_t right) {
  int64_t result = 0;
  switch (kind) {
  case Kind::Add:
    return __builtin_add_overflow(left, right, &result) ? std::nullopt : Result(result);
  case Kind::Multiply:
    return __builtin_mul_overflow(left, right, &result) ? std::nullopt : Result(result);
  case Kind::Maximum:
    return std::max(left, right);
  case Kind::Minimum:
    return std::min(left, right);
  case Kind::Power:
    return powerWhole(left, right);
  case Kind::BitAnd:
    return left & right;
  case Kind::BitOr:
    return left | right;
  case Kind::BitXor:
    return left ^ right;
  case Kind::ShiftLeft:
  case Kind::ShiftRight:
    return shift(kind, left, right);
  default:
    return divideWhole(kind, left, right);
  }
}

Result ofFloats(Kind kind, double left, double right) {
  switch (kind) {
  case Kind::Add:
    return finite(left + right);
  case Kind::Multiply:
    return finite(left * right);
  case Kind::Divide:
    return finite(left / right);
  case Kind::Power:
    return finite(std::pow(left, right));
  case Kind::Maximum:
    return std::max(left, right);
  case Kind::Minimum:
    return std::min(left, right);
  default:
    return std::nullopt;
  }
}

/// Rounds to decimal digits, as Python's round with two arguments.
Result roundDecimal(double number, int64_t digits) {
  if (digits < 0 || digits > 300)
    return std::nullopt;
  std::string text;
  // Through decimal text, as Python does: scaling by a power of ten would round twice.
  llvm::raw_string_ostream(text) << llvm::format("%.*f", static_cast<int>(digits), number);
  return finite(std::strtod(text.c_str(), nullptr));
}

std::optional<bool> compare(Kind kind, const SymbolicValue &left, const SymbolicValue &right) {
  bool inFloats = isFloat(left) || isFloat(right);
  bool less = inFloats ? floatOf(left) < floatOf(right) : integerOf(left) < integerOf(right);
  bool equal = inFloats ? floatOf(left) == floatOf(right) : integerOf(left) == integerOf(right);
  switch (kind) {
  case Kind::Equal:
    return equal;
  case Kind::NotEqual:
    return !equal;
  case Kind::Less:
    return less;
  case Kind::LessEqual:
    return less || equal;
  case Kind::Greater:
    return !less && !equal;
  case Kind::GreaterEqual:
    return !less;
  default:
    return std::nullopt;
  }
}

/// One step of an operation on two operands; operations on more are folded from the left.
Result ofTwo(Kind kind, const SymbolicValue &left, const SymbolicValue &right) {
  if (kind == Kind::And || kind == Kind::Or)
    return kind == Kind::And ? truthOf(left) && truthOf(right) : truthOf(left) || truthOf(right);
  if (std::optional<bool> truth = compare(kind, left, right))
    return *truth;
  if (kind == Kind::RoundDecimal)
    return isFloat(right) ? std::nullopt : roundDecimal(floatOf(left), integerOf(right));
  bool inFloats = kind == Kind::Divide || isFloat(left) || isFloat(right);
  return inFloats ? ofFloats(kind, floatOf(left), floatOf(right)) : ofIntegers(kind, integerOf(left), integerOf(right));
}

/// An operation on one operand. For other kinds the operand itself, with which the fold begins.
Result ofOne(const SymbolicExpression &tree, const SymbolicValue &value) {
  switch (tree.kind) {
  case Kind::ToFloat:
    return finite(floatOf(value));
  case Kind::Function:
    return finite(findFunction(tree.name)(floatOf(value)));
  case Kind::Floor:
    return isFloat(value) ? whole(std::floor(floatOf(value))) : value;
  case Kind::Ceiling:
    return isFloat(value) ? whole(std::ceil(floatOf(value))) : value;
  case Kind::Truncate:
    return isFloat(value) ? whole(std::trunc(floatOf(value))) : value;
  case Kind::Round:
    return isFloat(value) ? whole(std::nearbyint(floatOf(value))) : value;
  case Kind::TruncateToFloat:
    return finite(std::trunc(floatOf(value)));
  case Kind::Not:
    return !truthOf(value);
  default:
    return value;
  }
}

class Evaluator {
public:
  explicit Evaluator(const SymbolBindings &bindings) : bindings(bindings) {}

  llvm::Expected<SymbolicValue> run(const SymbolicExpression &tree) const {
    switch (tree.kind) {
    case Kind::Constant:
      return tree.constant;
    case Kind::Symbol: {
      auto it = bindings.find(tree.name);
      if (it == bindings.end())
        return llvm::createStringError("symbol '" + tree.name + "' has no value");
      return it->second;
    }
    case Kind::Where:
      return choose(*tree.operands[0], *tree.operands[1], *tree.operands[2]);
    case Kind::Piecewise:
      return piecewise(tree);
    default:
      return fold(tree);
    }
  }

private:
  llvm::Expected<SymbolicValue> choose(const SymbolicExpression &condition, const SymbolicExpression &value,
                                       const SymbolicExpression &other) const {
    llvm::Expected<SymbolicValue> holds = run(condition);
    if (!holds)
      return holds;
    // Only the branch that is taken is evaluated: the other one may have no value, such as a division by 0 that the
    // condition guards.
    return run(truthOf(*holds) ? value : other);
  }

  llvm::Expected<SymbolicValue> piecewise(const SymbolicExpression &tree) const {
    for (const SymbolicExpressionPtr &pair : tree.operands) {
      llvm::Expected<SymbolicValue> holds = run(*pair->operands[1]);
      if (!holds)
        return holds;
      if (truthOf(*holds))
        return run(*pair->operands[0]);
    }
    return llvm::createStringError("'" + toString(tree) + "' has no value");
  }

  llvm::Expected<SymbolicValue> fold(const SymbolicExpression &tree) const {
    Result result;
    bool inFloats = false;
    for (const SymbolicExpressionPtr &operand : tree.operands) {
      llvm::Expected<SymbolicValue> value = run(*operand);
      if (!value)
        return value;
      inFloats |= isFloat(*value) || tree.kind == Kind::Divide;
      result = result ? ofTwo(tree.kind, *result, *value) : ofOne(tree, *value);
      if (!result)
        return llvm::createStringError("'" + toString(tree) + "' has no " +
                                       (inFloats ? "value" : "64-bit integer value"));
    }
    return *result;
  }

  const SymbolBindings &bindings;
};

} // namespace

llvm::Expected<SymbolicValue> evaluate(const SymbolicExpression &expression, const SymbolBindings &bindings) {
  return Evaluator(bindings).run(expression);
}

} // namespace meshplan::archive
