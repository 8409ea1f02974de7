//===- symbolic_int.cpp - numbers of a graph, known or symbolic --*- C++ -*-===//

#include "compiler/archive/symbolic_int.h"

namespace meshplan::archive {

SymbolicInt::SymbolicInt(SymbolicExpressionPtr tree) {
  const int64_t *known =
      tree->kind == SymbolicExpression::Kind::Constant ? std::get_if<int64_t>(&tree->constant) : nullptr;
  if (known)
    value = *known;
  else
    expression = std::move(tree);
}

bool SymbolicInt::operator==(const SymbolicInt &other) const {
  if (expression == other.expression)
    return isSymbolic() || value == other.value;
  // Trees are compared by their text, because equal extents may be separate trees.
  return isSymbolic() && other.isSymbolic() && toString(*this) == toString(other);
}

bool SymbolicScalar::operator==(const SymbolicScalar &other) const {
  return type == other.type && toString(*expression) == toString(*other.expression);
}

llvm::Expected<SymbolicInt> parseSymbolicInt(llvm::StringRef text) {
  llvm::Expected<SymbolicExpressionPtr> tree = parseExpression(text);
  if (!tree)
    return tree.takeError();
  return SymbolicInt(std::move(*tree));
}

std::string toString(const SymbolicInt &integer) {
  return integer.isSymbolic() ? toString(*integer.expression) : std::to_string(integer.value);
}

static llvm::Error wrongType(const SymbolicExpression &expression, const char *type) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "'" + toString(expression) + "' is not " + type);
}

llvm::Expected<int64_t> evaluate(const SymbolicInt &integer, const SymbolBindings &bindings) {
  if (!integer.isSymbolic())
    return integer.value;
  llvm::Expected<SymbolicValue> value = evaluate(*integer.expression, bindings);
  if (!value)
    return value.takeError();
  if (const int64_t *number = std::get_if<int64_t>(&*value))
    return *number;
  return wrongType(*integer.expression, "an integer");
}

llvm::Expected<SymbolicValue> evaluate(const SymbolicScalar &scalar, const SymbolBindings &bindings) {
  llvm::Expected<SymbolicValue> value = evaluate(*scalar.expression, bindings);
  if (!value || value->index() == (scalar.type == SymbolicScalar::Type::Bool ? 0 : 2))
    return value;
  // sympy may write a whole float as an integer.
  if (const int64_t *number = std::get_if<int64_t>(&*value); number && scalar.type == SymbolicScalar::Type::Float)
    return static_cast<double>(*number);
  return wrongType(*scalar.expression, scalar.type == SymbolicScalar::Type::Bool ? "a truth value" : "a float");
}

void collectSymbols(const SymbolicInt &integer, std::set<std::string> &symbols) {
  if (integer.isSymbolic())
    collectSymbols(*integer.expression, symbols);
}

} // namespace meshplan::archive
