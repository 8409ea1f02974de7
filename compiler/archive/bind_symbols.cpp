//===- bind_symbols.cpp - dynamic shapes become numbers ----------*- C++ -*-===//
//
// Extents and arguments of an export with dynamic shapes are expressions of symbols, such as `s0*s1 + 1`. The plan
// gives extents to dims of inputs. All is checked before anything is replaced, so that the program is unchanged after
// an error.
//
//===----------------------------------------------------------------------===//

#include "compiler/archive/bind_symbols.h"

#include "llvm/ADT/STLExtras.h"

namespace meshplan::archive {

namespace {

/// `dim 0 of input 'input_ids'`, the first input dim that depends on the symbol.
std::string whereUsed(const ExportedProgram &program, const std::string &symbol) {
  for (const Input &input : program.inputs) {
    const Value &value = program.values[input.value];
    for (size_t dim = 0; dim < value.dims.size(); ++dim) {
      std::set<std::string> symbols;
      collectSymbols(value.dims[dim], symbols);
      if (symbols.count(symbol))
        return "dim " + std::to_string(dim) + " of input '" + input.name + "'";
    }
  }
  return "the graph";
}

std::string rangeText(const SymbolRange &range) {
  if (range.maximum == INT64_MAX)
    return "at least " + std::to_string(range.minimum);
  return std::to_string(range.minimum) + " to " + std::to_string(range.maximum);
}

std::vector<Diagnostic> checkBindings(const ExportedProgram &program, const SymbolBindings &bindings) {
  std::vector<Diagnostic> errors;
  for (const SymbolRange &range : program.symbols) {
    std::string what = whereUsed(program, range.symbol);
    auto it = bindings.find(range.symbol);
    if (it == bindings.end())
      errors.push_back({what + " is symbolic ('" + range.symbol + "') and has no extent",
                        {},
                        "give it one in the plan, as in 'input NAME: [batch = 16, ...]'"});
    else if (it->second < range.minimum || it->second > range.maximum)
      errors.push_back(
          {what + " is " + std::to_string(it->second) + ", but the model was exported for " + rangeText(range),
           {},
           "choose an extent in this range or export with another range",
           range.symbol});
  }
  return errors;
}

/// Calls `visit` with every integer of the program, by reference, and with every argument that contains other
/// expressions.
template <typename Visitor> void visitNumbers(ExportedProgram &program, Visitor visit) {
  for (Value &value : program.values)
    for (SymbolicInt &dim : value.dims)
      visit(dim, "an extent of '" + value.name + "'");
  for (Node &node : program.nodes)
    for (NamedArgument &argument : node.arguments) {
      std::string what = "an argument of '" + node.name + "'";
      if (auto *integer = std::get_if<SymbolicInt>(&argument.value))
        visit(*integer, what);
      else if (auto *integers = std::get_if<std::vector<SymbolicInt>>(&argument.value))
        for (SymbolicInt &integer : *integers)
          visit(integer, what);
      else if (std::holds_alternative<SymbolicScalar>(argument.value) ||
               std::holds_alternative<std::vector<SymbolicScalar>>(argument.value))
        visit(argument.value, what);
    }
}

/// The value of an integer under the bindings.
llvm::Expected<SymbolicInt> bound(const SymbolicInt &integer, const SymbolBindings &bindings) {
  llvm::Expected<int64_t> value = evaluate(integer, bindings);
  if (!value)
    return value.takeError();
  return SymbolicInt(*value);
}

llvm::Expected<Argument> bound(const Argument &argument, const SymbolBindings &bindings) {
  if (auto *scalar = std::get_if<SymbolicScalar>(&argument))
    return bindScalar(*scalar, bindings);
  std::vector<double> floats;
  for (const SymbolicScalar &scalar : std::get<std::vector<SymbolicScalar>>(argument)) {
    llvm::Expected<SymbolicValue> value = evaluate(scalar, bindings);
    if (!value)
      return value.takeError();
    floats.push_back(std::get<double>(*value));
  }
  return Argument(std::move(floats));
}

std::optional<int64_t> valueAt(const SymbolicInt &dim, const std::string &symbol, int64_t number,
                               SymbolBindings &bindings) {
  bindings[symbol] = number;
  llvm::Expected<int64_t> value = evaluate(dim, bindings);
  if (value)
    return *value;
  llvm::consumeError(value.takeError());
  return std::nullopt;
}

} // namespace

llvm::Error bindExtent(const SymbolicInt &dim, int64_t extent, SymbolBindings &bindings) {
  auto fail = [&](const std::string &problem) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "extent '" + toString(dim) + "' " + problem);
  };
  std::set<std::string> unknown;
  collectSymbols(dim, unknown);
  for (const auto &binding : bindings)
    unknown.erase(binding.first().str());
  if (unknown.size() > 1)
    return fail("depends on more than one symbol without a value");
  if (!unknown.empty()) {
    // An input dim is a symbol, or linear in one. The candidate is verified below by evaluate().
    const std::string &symbol = *unknown.begin();
    SymbolBindings trial = bindings;
    std::optional<int64_t> offset = valueAt(dim, symbol, 0, trial), atOne = valueAt(dim, symbol, 1, trial);
    int64_t factor = 0, rest = 0;
    // For example, 2 * s + 1 is 1 at 0 and 3 at 1: factor 2, offset 1. The extent 9 gives s = 4; 10 gives 4 as well,
    // and the check below refuses it.
    if (offset && atOne && !__builtin_sub_overflow(*atOne, *offset, &factor) &&
        !__builtin_sub_overflow(extent, *offset, &rest) && factor != 0 && factor != -1)
      bindings[symbol] = rest / factor;
    else
      return fail("cannot be solved for '" + symbol + "'");
  }
  llvm::Expected<int64_t> value = evaluate(dim, bindings);
  if (value && *value == extent)
    return llvm::Error::success();
  std::string actual = value ? "is " + std::to_string(*value) : llvm::toString(value.takeError());
  // The candidate is wrong, and later dims must not be compared with it.
  for (const std::string &symbol : unknown)
    bindings.erase(symbol);
  return fail(unknown.empty() ? actual + ", not " + std::to_string(extent) : "cannot be " + std::to_string(extent));
}

void collectSymbols(const Argument &argument, std::set<std::string> &symbols) {
  if (const auto *integer = std::get_if<SymbolicInt>(&argument))
    collectSymbols(*integer, symbols);
  else if (const auto *integers = std::get_if<std::vector<SymbolicInt>>(&argument))
    for (const SymbolicInt &each : *integers)
      collectSymbols(each, symbols);
  else if (const auto *scalar = std::get_if<SymbolicScalar>(&argument))
    collectSymbols(*scalar->expression, symbols);
  else if (const auto *scalars = std::get_if<std::vector<SymbolicScalar>>(&argument))
    for (const SymbolicScalar &each : *scalars)
      collectSymbols(*each.expression, symbols);
}

llvm::Expected<Argument> bindScalar(const SymbolicScalar &scalar, const SymbolBindings &bindings) {
  llvm::Expected<SymbolicValue> value = evaluate(scalar, bindings);
  if (!value)
    return value.takeError();
  if (const bool *truth = std::get_if<bool>(&*value))
    return Argument(*truth);
  return Argument(std::get<double>(*value));
}

std::vector<Diagnostic> bindSymbols(ExportedProgram &program, const SymbolBindings &given) {
  std::vector<Diagnostic> errors = checkBindings(program, given);
  if (!errors.empty())
    return errors;
  SymbolBindings bindings = given;
  for (const auto &extent : program.dataExtents)
    bindings[extent.first()] = extent.second;
  // Two walks, so that the program is changed completely or not at all.
  visitNumbers(program, [&](auto &number, const std::string &what) {
    if (auto value = bound(number, bindings); !value)
      errors.push_back({what + ": " + llvm::toString(value.takeError()), {}, ""});
  });
  if (!errors.empty())
    return errors;
  visitNumbers(program, [&](auto &number, const std::string &) { number = llvm::cantFail(bound(number, bindings)); });
  program.symbols.clear();
  for (const Value &value : program.values) {
    if (llvm::any_of(value.dims, [](const SymbolicInt &dim) { return dim.value < 0; }))
      errors.push_back({"an extent of '" + value.name + "' becomes negative", {}, "choose larger extents"});
    else if (!hasPossibleSize(value))
      errors.push_back({"'" + value.name + "' has more bytes than 64 bits can count", {}, "choose smaller extents"});
  }
  return errors;
}

} // namespace meshplan::archive
