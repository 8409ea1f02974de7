//===- symbolic_int.cpp - integers that depend on input dims -----*- C++ -*-===//

#include "compiler/archive/symbolic_int.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <optional>

namespace meshplan::archive {

using Expression = SymbolicExpression;
using Kind = SymbolicExpression::Kind;
using Pointer = std::shared_ptr<const SymbolicExpression>;

SymbolicInt::SymbolicInt(Pointer tree) {
  if (tree->kind == Kind::Constant)
    value = tree->constant;
  else
    expression = std::move(tree);
}

bool SymbolicInt::operator==(const SymbolicInt &other) const {
  if (expression == other.expression)
    return isSymbolic() || value == other.value;
  return isSymbolic() && other.isSymbolic() && toString(*this) == toString(other);
}

namespace {

llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// Recursive descent over sympy's srepr, `Name(argument, ..., keyword=value)`.
class Parser {
public:
  explicit Parser(llvm::StringRef text) : rest(text) {}

  llvm::Expected<SymbolicInt> parse() {
    llvm::StringRef text = rest;
    llvm::Expected<Pointer> tree = parseCall();
    if (!tree)
      return tree.takeError();
    if (!rest.trim().empty())
      return fail("unexpected '" + rest + "' after an integer expression in '" + text + "'");
    return SymbolicInt(*tree);
  }

private:
  static constexpr int maxDepth = 200;

  llvm::Expected<Pointer> parseCall() {
    llvm::StringRef text = rest = rest.ltrim();
    llvm::StringRef name = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    rest = rest.drop_front(name.size());
    if (name.empty() || !rest.consume_front("(") || ++depth > maxDepth)
      return fail("malformed integer expression '" + text + "'");
    llvm::Expected<Pointer> tree = parseArguments(name);
    if (tree && !rest.consume_front(")"))
      return fail("malformed integer expression '" + text + "'");
    --depth;
    return tree;
  }

  llvm::Expected<Pointer> parseArguments(llvm::StringRef name) {
    Expression tree;
    if (name == "Integer") {
      llvm::StringRef number = rest;
      rest = rest.ltrim();
      bool bad = rest.consumeInteger(10, tree.constant);
      rest = rest.ltrim();
      if (bad || !rest.starts_with(")"))
        return fail("malformed integer '" + number + "'");
      return std::make_shared<Expression>(std::move(tree));
    }
    if (name == "Symbol") {
      bool isQuoted = rest.consume_front("'");
      auto [symbol, after] = rest.split('\'');
      tree.kind = Kind::Symbol;
      tree.symbol = symbol.str();
      if (!isQuoted || symbol.empty())
        return fail("a symbol without a name");
      // What follows is sympy's assumptions; the range constraints say more.
      rest = after.drop_until([](char c) { return c == ')'; });
      return std::make_shared<Expression>(std::move(tree));
    }
    std::optional<Kind> kind = functionKind(name);
    if (!kind)
      return fail("integer function '" + name + "' is not supported");
    tree.kind = *kind;
    do {
      llvm::Expected<Pointer> operand = parseCall();
      if (!operand)
        return operand.takeError();
      tree.operands.push_back(std::move(*operand));
      rest = rest.ltrim();
    } while (rest.consume_front(","));
    bool binary = *kind == Kind::FloorDivide || *kind == Kind::Modulo || *kind == Kind::Power;
    if (binary && tree.operands.size() != 2)
      return fail("integer function '" + name + "' needs two operands");
    return std::make_shared<Expression>(std::move(tree));
  }

  static std::optional<Kind> functionKind(llvm::StringRef name) {
    return llvm::StringSwitch<std::optional<Kind>>(name)
        .Case("Add", Kind::Add)
        .Case("Mul", Kind::Multiply)
        .Cases({"FloorDiv", "CleanDiv"}, Kind::FloorDivide)
        .Cases({"Mod", "PythonMod"}, Kind::Modulo)
        .Cases({"Pow", "PowByNatural"}, Kind::Power)
        .Case("Max", Kind::Maximum)
        .Case("Min", Kind::Minimum)
        .Default(std::nullopt);
  }

  llvm::StringRef rest;
  int depth = 0;
};

int precedence(const Expression &tree) {
  switch (tree.kind) {
  case Kind::Add:
    return 1;
  case Kind::Multiply:
  case Kind::FloorDivide:
  case Kind::Modulo:
    return 2;
  case Kind::Power:
    return 3;
  default:
    return 4;
  }
}

std::string print(const Expression &tree, int outer);

std::string printList(const Expression &tree, llvm::StringRef separator, int outer) {
  std::string text;
  for (const Pointer &operand : tree.operands) {
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

std::string print(const Expression &tree, int outer) {
  std::string text;
  int own = precedence(tree);
  switch (tree.kind) {
  case Kind::Constant:
    return std::to_string(tree.constant);
  case Kind::Symbol:
    return tree.symbol;
  case Kind::Add:
    text = printList(tree, " + ", own);
    break;
  case Kind::Multiply:
    text = printList(tree, "*", own + 1);
    break;
  case Kind::FloorDivide:
    text = printList(tree, "//", own + 1);
    break;
  case Kind::Modulo:
    text = printList(tree, " % ", own + 1);
    break;
  case Kind::Power:
    text = print(*tree.operands[0], own + 1);
    // A power binds tighter than the sign of its base: -2**s0 is -(2**s0).
    if (text.front() == '-')
      text = "(" + text + ")";
    text += "**" + print(*tree.operands[1], own + 1);
    break;
  case Kind::Maximum:
    return ("max(" + llvm::Twine(printList(tree, ", ", 0)) + ")").str();
  case Kind::Minimum:
    return ("min(" + llvm::Twine(printList(tree, ", ", 0)) + ")").str();
  }
  return own < outer ? ("(" + llvm::Twine(text) + ")").str() : text;
}

/// One binary step of an operator; nothing when there is no 64-bit result.
std::optional<int64_t> apply(Kind kind, int64_t left, int64_t right) {
  int64_t result = 1;
  switch (kind) {
  case Kind::Add:
    return __builtin_add_overflow(left, right, &result) ? std::nullopt : std::optional(result);
  case Kind::Multiply:
    return __builtin_mul_overflow(left, right, &result) ? std::nullopt : std::optional(result);
  case Kind::Maximum:
    return std::max(left, right);
  case Kind::Minimum:
    return std::min(left, right);
  case Kind::FloorDivide:
  case Kind::Modulo: {
    if (right == 0 || (left == INT64_MIN && right == -1))
      return std::nullopt;
    int64_t quotient = left / right, remainder = left % right;
    if (remainder != 0 && (remainder < 0) != (right < 0)) {
      --quotient;
      remainder += right;
    }
    return kind == Kind::FloorDivide ? quotient : remainder;
  }
  default:
    if (right < 0 || right > 64)
      return std::nullopt;
    for (int64_t i = 0; i < right; ++i)
      if (__builtin_mul_overflow(result, left, &result))
        return std::nullopt;
    return result;
  }
}

llvm::Expected<int64_t> evaluateTree(const Expression &tree, const SymbolBindings &bindings) {
  if (tree.kind == Kind::Constant)
    return tree.constant;
  if (tree.kind == Kind::Symbol) {
    auto it = bindings.find(tree.symbol);
    if (it == bindings.end())
      return fail("symbol '" + tree.symbol + "' has no value");
    return it->second;
  }
  std::optional<int64_t> result;
  for (const Pointer &operand : tree.operands) {
    llvm::Expected<int64_t> value = evaluateTree(*operand, bindings);
    if (!value)
      return value;
    result = result ? apply(tree.kind, *result, *value) : *value;
    if (!result)
      return fail("'" + print(tree, 0) + "' has no 64-bit integer value");
  }
  return *result;
}

void collect(const Expression &tree, std::set<std::string> &symbols) {
  if (tree.kind == Kind::Symbol)
    symbols.insert(tree.symbol);
  for (const Pointer &operand : tree.operands)
    collect(*operand, symbols);
}

} // namespace

llvm::Expected<SymbolicInt> parseSymbolicInt(llvm::StringRef text) { return Parser(text).parse(); }

std::string toString(const SymbolicInt &integer) {
  return integer.isSymbolic() ? print(*integer.expression, 0) : std::to_string(integer.value);
}

llvm::Expected<int64_t> evaluate(const SymbolicInt &integer, const SymbolBindings &bindings) {
  if (!integer.isSymbolic())
    return integer.value;
  return evaluateTree(*integer.expression, bindings);
}

void collectSymbols(const SymbolicInt &integer, std::set<std::string> &symbols) {
  if (integer.isSymbolic())
    collect(*integer.expression, symbols);
}

} // namespace meshplan::archive
