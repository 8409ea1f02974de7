//===- parse_expression.cpp - sympy's text to a tree -------------*- C++ -*-===//
//
// Example: `Add(Mul(Integer(2), Symbol('s0', integer=True)), Integer(1))` is 2*s0 + 1.
//
//===----------------------------------------------------------------------===//

#include "compiler/archive/symbols/operations.h"

#include "llvm/ADT/StringExtras.h"

namespace meshplan::archive {

using Kind = SymbolicExpression::Kind;

namespace {

/// Recursive descent over sympy's srepr, `Name(argument, ..., keyword=value)`.
class Parser {
public:
  explicit Parser(llvm::StringRef text) : rest(text) {}

  llvm::Expected<SymbolicExpressionPtr> parse() {
    llvm::StringRef text = rest;
    llvm::Expected<SymbolicExpressionPtr> tree = parseCall();
    if (!tree)
      return tree.takeError();
    if (!rest.trim().empty())
      return llvm::createStringError("unexpected '" + rest + "' after a symbolic expression in '" + text + "'");
    return std::move(*tree);
  }

private:
  static constexpr int maxDepth = 200;

  llvm::Expected<SymbolicExpressionPtr> parseCall() {
    llvm::StringRef text = rest = rest.ltrim();
    llvm::StringRef name = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    rest = rest.drop_front(name.size());
    if (name == "true" || name == "false")
      return constant(name == "true");
    if (name.empty() || !rest.consume_front("(") || ++depth > maxDepth)
      return llvm::createStringError("malformed symbolic expression '" + text + "'");
    llvm::Expected<SymbolicExpressionPtr> tree = parseArguments(name);
    if (tree && !rest.consume_front(")"))
      return llvm::createStringError("malformed symbolic expression '" + text + "'");
    --depth;
    return tree;
  }

  static SymbolicExpressionPtr constant(SymbolicValue value) {
    auto tree = std::make_shared<SymbolicExpression>();
    tree->constant = value;
    return tree;
  }

  llvm::Expected<SymbolicExpressionPtr> parseArguments(llvm::StringRef name) {
    if (name == "Integer")
      return parseInteger();
    if (name == "Float")
      return parseFloat();
    if (name == "Symbol")
      return parseSymbol();
    return parseOperation(name);
  }

  llvm::Expected<SymbolicExpressionPtr> parseInteger() {
    llvm::StringRef number = rest;
    int64_t value = 0;
    rest = rest.ltrim();
    bool bad = rest.consumeInteger(10, value);
    rest = rest.ltrim();
    if (bad || !rest.starts_with(")"))
      return llvm::createStringError("malformed integer '" + number + "'");
    return constant(value);
  }

  /// The quoted text; everything after it up to the closing bracket is skipped: sympy's precision, or its assumptions,
  /// which the range constraints subsume. Empty if nothing is quoted.
  llvm::StringRef parseQuoted() {
    bool isQuoted = rest.consume_front("'");
    auto [text, after] = rest.split('\'');
    if (!isQuoted || text.empty())
      return "";
    rest = after.drop_until([](char c) { return c == ')'; });
    return text;
  }

  llvm::Expected<SymbolicExpressionPtr> parseFloat() {
    llvm::StringRef number = rest;
    double value = 0;
    if (parseQuoted().getAsDouble(value, /*AllowInexact=*/true))
      return llvm::createStringError("malformed float '" + number + "'");
    return constant(value);
  }

  llvm::Expected<SymbolicExpressionPtr> parseSymbol() {
    auto tree = std::make_shared<SymbolicExpression>();
    tree->kind = Kind::Symbol;
    tree->name = parseQuoted();
    if (tree->name.empty())
      return llvm::createStringError("a symbol without a name");
    return tree;
  }

  llvm::Expected<SymbolicExpressionPtr> parseOperation(llvm::StringRef name) {
    static constexpr Operation ofOneFloat = {"", Kind::Function, 1, 1, "", 0};
    auto tree = std::make_shared<SymbolicExpression>();
    const Operation *operation = findOperation(name);
    if (llvm::StringRef function = name; function.consume_front("OpaqueUnaryFn_") && findFunction(function)) {
      operation = &ofOneFloat;
      tree->name = function;
    }
    if (!operation)
      return llvm::createStringError("symbolic function '" + name + "' is not supported");
    tree->kind = operation->kind;
    do {
      llvm::Expected<SymbolicExpressionPtr> operand = parseCall();
      if (!operand)
        return operand.takeError();
      tree->operands.push_back(std::move(*operand));
      rest = rest.ltrim();
    } while (rest.consume_front(","));
    size_t count = tree->operands.size();
    if (count < operation->fewest || count > operation->most)
      return llvm::createStringError("symbolic function '" + name + "' takes " + llvm::Twine(operation->fewest) +
                                     (operation->fewest == 1 ? " operand" : " operands") + ", and this has " +
                                     llvm::Twine(count));
    for (const SymbolicExpressionPtr &operand : tree->operands)
      // Pairs are operands of Piecewise only, and Piecewise has no other operands. Evaluation relies on both.
      if ((operand->kind == Kind::Pair) != (tree->kind == Kind::Piecewise))
        return llvm::createStringError("symbolic function '" + name + "' and its operands do not go together");
    return tree;
  }

  llvm::StringRef rest;
  int depth = 0;
};

} // namespace

llvm::Expected<SymbolicExpressionPtr> parseExpression(llvm::StringRef text) {
  llvm::Expected<SymbolicExpressionPtr> tree = Parser(text).parse();
  if (tree && (*tree)->kind == Kind::Pair)
    return llvm::createStringError("malformed symbolic expression '" + text + "'");
  return tree;
}

void collectSymbols(const SymbolicExpression &expression, std::set<std::string> &symbols) {
  if (expression.kind == Kind::Symbol)
    symbols.insert(expression.name);
  for (const SymbolicExpressionPtr &operand : expression.operands)
    collectSymbols(*operand, symbols);
}

} // namespace meshplan::archive
