//===- operations.cpp - the table of operations ------------------*- C++ -*-===//

#include "compiler/archive/symbols/operations.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

namespace meshplan::archive {

using Kind = SymbolicExpression::Kind;

static constexpr size_t any = SIZE_MAX;

// Messages write Python, as the author of the model does: the precedences are Python's, from `or` to `**`. Some
// functions of torch.utils._sympy are one operation here: they differ only in what PyTorch assumes of their operands,
// such as that CleanDiv leaves no remainder. The first row of a kind has the text for messages.
static constexpr Operation operations[] = {
    {"Add", Kind::Add, 1, any, " + ", 5},
    {"Mul", Kind::Multiply, 1, any, "*", 6},
    {"FloatTrueDiv", Kind::Divide, 2, 2, "/", 6},
    {"IntTrueDiv", Kind::Divide, 2, 2, "/", 6},
    {"FloorDiv", Kind::FloorDivide, 2, 2, "//", 6},
    {"CleanDiv", Kind::FloorDivide, 2, 2, "//", 6},
    {"Mod", Kind::Modulo, 2, 2, " % ", 6},
    {"PythonMod", Kind::Modulo, 2, 2, " % ", 6},
    {"Pow", Kind::Power, 2, 2, "**", 7},
    {"PowByNatural", Kind::Power, 2, 2, "**", 7},
    {"FloatPow", Kind::Power, 2, 2, "**", 7},
    {"Max", Kind::Maximum, 1, any, "max", 0},
    {"Min", Kind::Minimum, 1, any, "min", 0},
    {"ToFloat", Kind::ToFloat, 1, 1, "float", 0},
    {"FloorToInt", Kind::Floor, 1, 1, "floor", 0},
    {"CeilToInt", Kind::Ceiling, 1, 1, "ceil", 0},
    {"TruncToInt", Kind::Truncate, 1, 1, "trunc", 0},
    {"RoundToInt", Kind::Round, 1, 1, "round", 0},
    {"TruncToFloat", Kind::TruncateToFloat, 1, 1, "trunc", 0},
    {"RoundDecimal", Kind::RoundDecimal, 2, 2, "round", 0},
    {"BitwiseFn_bitwise_or", Kind::BitOr, 2, 2, " | ", 4},
    {"BitwiseFn_bitwise_xor", Kind::BitXor, 2, 2, " ^ ", 4},
    {"BitwiseFn_bitwise_and", Kind::BitAnd, 2, 2, " & ", 4},
    {"LShift", Kind::ShiftLeft, 2, 2, " << ", 4},
    {"RShift", Kind::ShiftRight, 2, 2, " >> ", 4},
    {"Equality", Kind::Equal, 2, 2, " == ", 3},
    {"Unequality", Kind::NotEqual, 2, 2, " != ", 3},
    {"StrictLessThan", Kind::Less, 2, 2, " < ", 3},
    {"LessThan", Kind::LessEqual, 2, 2, " <= ", 3},
    {"StrictGreaterThan", Kind::Greater, 2, 2, " > ", 3},
    {"GreaterThan", Kind::GreaterEqual, 2, 2, " >= ", 3},
    {"Not", Kind::Not, 1, 1, "not", 0},
    {"And", Kind::And, 1, any, " and ", 2},
    {"Or", Kind::Or, 1, any, " or ", 1},
    {"Where", Kind::Where, 3, 3, "where", 0},
    {"Piecewise", Kind::Piecewise, 1, any, "piecewise", 0},
    {"ExprCondPair", Kind::Pair, 2, 2, " if ", 1},
};

const Operation *findOperation(llvm::StringRef function) {
  const Operation *found = llvm::find_if(operations, [&](const Operation &each) { return each.function == function; });
  return found == std::end(operations) ? nullptr : found;
}

const Operation *findOperation(Kind kind) {
  const Operation *found = llvm::find_if(operations, [&](const Operation &each) { return each.kind == kind; });
  return found == std::end(operations) ? nullptr : found;
}

double (*findFunction(llvm::StringRef name))(double) {
  using Function = double (*)(double);
  return llvm::StringSwitch<Function>(name)
      .Case("sqrt", std::sqrt)
      .Case("cos", std::cos)
      .Case("cosh", std::cosh)
      .Case("sin", std::sin)
      .Case("sinh", std::sinh)
      .Case("tan", std::tan)
      .Case("tanh", std::tanh)
      .Case("asin", std::asin)
      .Case("acos", std::acos)
      .Case("atan", std::atan)
      .Case("asinh", std::asinh)
      .Case("exp", std::exp)
      .Case("log", std::log)
      .Case("log2", std::log2)
      .Default(nullptr);
}

} // namespace meshplan::archive
