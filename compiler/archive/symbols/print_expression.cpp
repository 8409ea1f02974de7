//===- print_expression.cpp - expressions as text ----------------*- C++ -*-===//

#include "compiler/archive/symbols/operations.h"

#include <charconv>

namespace meshplan::archive {

using Kind = SymbolicExpression::Kind;

namespace {

int precedence(const SymbolicExpression &tree) {
  const Operation *operation = findOperation(tree.kind);
  return operation && operation->precedence != 0 ? operation->precedence : atomPrecedence;
}

std::string print(const SymbolicExpression &tree, int outer);

std::string printConstant(const SymbolicValue &value) {
  if (const bool *truth = std::get_if<bool>(&value))
    return *truth ? "True" : "False";
  if (const int64_t *integer = std::get_if<int64_t>(&value))
    return std::to_string(*integer);
  char buffer[32];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, std::get<double>(value));
  std::string text(buffer, end);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string printList(const SymbolicExpression &tree, llvm::StringRef separator, int outer) {
  std::string text;
  for (const SymbolicExpressionPtr &operand : tree.operands) {
    std::string part = print(*operand, outer);
    if (!text.empty()) {
      // The sign of -7//s0 is that of the 7 alone.
      bool isWhole = operand->kind == Kind::Constant || operand->kind == Kind::Multiply || operand->kind == Kind::Add;
      bool negative = tree.kind == Kind::Add && isWhole && part.front() == '-';
      text += negative ? " - " : separator.str();
      part.erase(0, negative ? 1 : 0);
    }
    text += part;
  }
  return text;
}

std::string printPower(const SymbolicExpression &tree, int own) {
  std::string base = print(*tree.operands[0], own + 1);
  // A power binds tighter than the sign of its base: -2**s0 is -(2**s0).
  if (base.front() == '-')
    base = "(" + base + ")";
  return base + "**" + print(*tree.operands[1], own + 1);
}

std::string print(const SymbolicExpression &tree, int outer) {
  if (tree.kind == Kind::Constant)
    return printConstant(tree.constant);
  if (tree.kind == Kind::Symbol)
    return tree.name;
  const Operation *operation = findOperation(tree.kind);
  if (!operation || operation->precedence == 0)
    return (operation ? operation->text.str() : tree.name) + "(" + printList(tree, ", ", 0) + ")";
  int own = precedence(tree);
  std::string text = tree.kind == Kind::Power
                         ? printPower(tree, own)
                         : printList(tree, operation->text, tree.kind == Kind::Add ? own : own + 1);
  return own < outer ? "(" + text + ")" : text;
}

} // namespace

std::string toString(const SymbolicExpression &expression) { return print(expression, 0); }

} // namespace meshplan::archive
