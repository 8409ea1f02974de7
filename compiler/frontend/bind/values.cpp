//===- values.cpp - inputs, outputs and the loss ---------------------------===//
//
// Extents of symbolic dims come from statements, and spread over names and
// symbols: dims with one name have one extent, and so do dims with one symbol of
// the archive. learnSymbols() repeats until nothing new is learned.
//
// Example: in the archive, ids is [s0, s1] and labels is [s2, s1], because the
// exporter gave the batch of labels a symbol of its own. The plan states
//
//   input ids: [batch = 16, seq = 128]    input labels: [batch, seq]
//
//   statements   s0 = 16, s1 = 128, batch = 16, seq = 128
//   names        s2 = batch = 16
//
// Two values for one name or symbol are an error at the second one; a symbol
// without a value is an error at the first input dim that has it.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind.h"
#include "compiler/frontend/bind/context.h"
#include "compiler/support/nearest.h"
#include "runtime/schema/program_names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <map>
#include <set>
#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

std::vector<std::string> namesOf(llvm::ArrayRef<OutlineValue> values) {
  std::vector<std::string> result;
  for (const OutlineValue &value : values)
    result.push_back(value.name);
  return result;
}

/// The value with this name, else the one with this number.
std::optional<size_t> findValue(llvm::ArrayRef<OutlineValue> values, llvm::StringRef name) {
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i].name == name)
      return i;
  size_t index = 0;
  if (!name.getAsInteger(10, index) && index < values.size())
    return index;
  return std::nullopt;
}

/// An extent and its source in the plan or the archive.
struct Known {
  int64_t extent;
  SourceRange range;
  std::string source; ///< `dim 0 of 'input_ids'`
};

class ValueBinder {
public:
  ValueBinder(const Context &context, BoundPlan &plan) : context(context), plan(plan) {}

  void run();

private:
  struct StatedDim {
    const DimSyntax *syntax;
    std::optional<int64_t> extent;
    AxisList axes;
  };

  std::vector<StatedDim> resolve(const ValueStatement &statement);
  void declare(const ValueStatement &statement, llvm::ArrayRef<StatedDim> stated, const Word &name);
  std::vector<BoundDim> bindDims(const OutlineValue &value, llvm::ArrayRef<StatedDim> stated);

  /// The extent in one call of the model: with `mean`, a step makes one call for each microbatch.
  std::optional<int64_t> extentOfCall(const DimSyntax &dim, int64_t stated);
  /// Reports an archive whose extent differs from the stated one.
  void reportExtent(const StatedDim &dim, int64_t actual, const std::string &source);
  /// `batch = 16` checks a known extent of the archive, or binds its symbol.
  void state(const StatedDim &dim, const OutlineDim &actual, const std::string &source);
  void learn(std::map<std::string, Known> &table, const std::string &name, Known known, llvm::StringRef kind);

  /// Propagates extents between symbols and names of dims, until nothing changes.
  void learnSymbols();
  void learnDim(const BoundDim &dim, const std::string &symbol, const std::string &source);
  void finish(const OutlineValue &value, std::vector<BoundDim> &dims);
  void checkKnown(const BoundInput &input);
  /// Checks that a symbolic dim of an output has the extent of its name.
  void checkNames(const BoundOutput &output);
  void bindLoss();

  const Context &context;
  BoundPlan &plan;
  std::map<std::pair<bool, size_t>, SourceRange> declared;
  std::map<std::string, Known> names;
  std::map<std::string, Known> symbols;
  std::set<std::pair<std::string, std::string>> contradicted;
  std::set<std::string> unbound; ///< symbols without an extent that have been reported, or whose statement has
  bool hasUnknownInput = false;
};

} // namespace

void ValueBinder::run() {
  for (size_t i = 0; i < context.model.inputs.size(); ++i)
    plan.inputs.push_back({i, std::vector<BoundDim>(context.model.inputs[i].dims.size()), {}});
  for (const ValueStatement &statement : context.syntax.values) {
    std::vector<StatedDim> dims = resolve(statement);
    for (const Word &name : statement.names)
      declare(statement, dims, name);
  }
  learnSymbols();
  for (BoundInput &input : plan.inputs) {
    finish(context.model.inputs[input.input], input.dims);
    checkKnown(input);
  }
  for (BoundOutput &output : plan.outputs) {
    finish(context.model.outputs[output.output], output.dims);
    checkNames(output);
  }
  for (const auto &[symbol, known] : symbols)
    plan.symbols.push_back({symbol, known.extent, known.range});
  bindLoss();
}

std::vector<ValueBinder::StatedDim> ValueBinder::resolve(const ValueStatement &statement) {
  std::vector<StatedDim> result;
  std::vector<Word> used;
  for (const DimSyntax &dim : statement.dims) {
    if (!statement.isInput)
      checkDimName(context, dim.name);
    std::optional<int64_t> extent;
    if (dim.extent)
      extent = evaluate(*dim.extent, context.environment, context.diagnostics);
    if (extent && *extent < 1) {
      context.diagnostics.error(dim.extent->range, "an extent is at least 1, and this is " + std::to_string(*extent));
      extent.reset();
    }
    if (extent)
      extent = extentOfCall(dim, *extent);
    result.push_back({&dim, extent, resolveAxes(context, dim.axes, used)});
  }
  return result;
}

void ValueBinder::declare(const ValueStatement &statement, llvm::ArrayRef<StatedDim> stated, const Word &name) {
  const auto &values = statement.isInput ? context.model.inputs : context.model.outputs;
  std::string kind = statement.isInput ? "input" : "output";
  std::optional<size_t> index = findValue(values, name.text);
  if (!index) {
    hasUnknownInput |= statement.isInput;
    context.diagnostics.error(name.range, "unknown " + kind + " '" + name.text + "'")
        .help(suggest(name.text, namesOf(values), kind + "s of the model"));
    return;
  }
  auto [earlier, isNew] = declared.try_emplace({statement.isInput, *index}, name.range);
  if (!isNew) {
    context.diagnostics.error(name.range, kind + " '" + name.text + "' is declared twice")
        .note(earlier->second, "the other declaration is here")
        .help("keep one of them");
    return;
  }
  const OutlineValue &value = values[*index];
  if (value.dims.size() != statement.dims.size()) {
    // The plan's dims cannot be matched with the archive's; do not report these symbols as unbound, too.
    for (const OutlineDim &dim : value.dims)
      unbound.insert(dim.symbol);
    context.diagnostics
        .error(name.range, kind + " '" + name.text + "' has " + std::to_string(value.dims.size()) +
                               " dims, and the plan lists " + std::to_string(statement.dims.size()))
        .help("list every dim, with '_' for one without a name");
    return;
  }
  std::vector<BoundDim> dims = bindDims(value, stated);
  if (statement.isInput)
    plan.inputs[*index] = {*index, std::move(dims), name.range};
  else
    plan.outputs.push_back({*index, std::move(dims), name.range});
}

std::vector<BoundDim> ValueBinder::bindDims(const OutlineValue &value, llvm::ArrayRef<StatedDim> stated) {
  std::vector<BoundDim> result;
  for (size_t i = 0; i < stated.size(); ++i) {
    const Word &name = stated[i].syntax->name;
    BoundDim dim{name.text == "_" ? "" : name.text, 0, stated[i].axes, stated[i].syntax->range};
    std::string source = "dim " + std::to_string(i) + " of '" + value.name + "'";
    if (stated[i].extent)
      state(stated[i], value.dims[i], source);
    else if (stated[i].syntax->extent)
      unbound.insert(value.dims[i].symbol);
    if (value.dims[i].symbol.empty())
      learn(names, dim.name, {value.dims[i].extent, dim.range, source}, "dim name");
    result.push_back(std::move(dim));
  }
  return result;
}

std::optional<int64_t> ValueBinder::extentOfCall(const DimSyntax &dim, int64_t stated) {
  int64_t calls = dim.name.text == program_names::batchDim ? plan.microbatches.calls() : 1;
  if (stated % calls == 0)
    return stated / calls;
  context.diagnostics
      .error(dim.extent->range, "the batch has " + std::to_string(stated) + " samples, and " + std::to_string(calls) +
                                    " microbatches need a multiple of " + std::to_string(calls))
      .note(plan.microbatches.range, "the microbatches are here")
      .help("use a batch of " + (stated < calls ? "" : std::to_string(stated / calls * calls) + " or ") +
            std::to_string((stated / calls + 1) * calls));
  return std::nullopt;
}

void ValueBinder::reportExtent(const StatedDim &dim, int64_t actual, const std::string &source) {
  int64_t calls = dim.syntax->name.text == program_names::batchDim ? plan.microbatches.calls() : 1;
  std::string wanted = std::to_string(*dim.extent), whole = std::to_string(*dim.extent * calls);
  if (calls == 1) {
    context.diagnostics
        .error(dim.syntax->extent->range,
               source + " is " + std::to_string(actual) + " in the model, and the plan states " + wanted)
        .help("leave out the extent, or export the model with " + wanted);
    return;
  }
  context.diagnostics
      .error(dim.syntax->extent->range, source + " is " + std::to_string(actual) +
                                            " in the model, which is called with one microbatch, and that has " +
                                            whole + " / " + std::to_string(calls) + " = " + wanted)
      .note(plan.microbatches.range, "the microbatches are here")
      .help("export the model with a batch of " + wanted +
            " or a symbolic one, or write 'batch = " + std::to_string(actual * calls) + "'")
      .help("without 'mean' the model is called with the whole batch, and no operator may mix samples but by sums");
}

void ValueBinder::state(const StatedDim &dim, const OutlineDim &actual, const std::string &source) {
  if (!actual.symbol.empty())
    learn(symbols, actual.symbol, {*dim.extent, dim.syntax->range, source}, "symbol");
  else if (actual.extent != *dim.extent)
    reportExtent(dim, actual.extent, source);
  if (!actual.symbol.empty() && dim.syntax->name.text != "_")
    learn(names, dim.syntax->name.text, {*dim.extent, dim.syntax->range, source}, "dim name");
}

void ValueBinder::learn(std::map<std::string, Known> &table, const std::string &name, Known known,
                        llvm::StringRef kind) {
  if (name.empty())
    return;
  auto [entry, isNew] = table.try_emplace(name, known);
  if (isNew || entry->second.extent == known.extent || !contradicted.insert({kind.str(), name}).second)
    return;
  Diagnostic &error = context.diagnostics.error(
      known.range, (kind + " '" + name + "' has two extents: " + known.source + " is ").str() +
                       std::to_string(known.extent) + ", " + entry->second.source + " is " +
                       std::to_string(entry->second.extent));
  if (entry->second.range.hasLine() && !(entry->second.range == known.range))
    error.note(entry->second.range, "the other one is here");
  error.help(kind == "symbol" ? "dims of one symbol have one extent in the model: give them the same"
                              : "dims with the same name have the same extent: give one of the dims another name");
}

void ValueBinder::learnSymbols() {
  // One round is not enough: a name learned from the last input may bind a symbol of the first. Knowledge only grows,
  // so this ends.
  for (size_t before = 0, after = 1; before != after;) {
    before = names.size() + symbols.size();
    for (const BoundInput &input : plan.inputs)
      for (size_t i = 0; i < input.dims.size(); ++i)
        learnDim(input.dims[i], context.model.inputs[input.input].dims[i].symbol,
                 "dim " + std::to_string(i) + " of '" + context.model.inputs[input.input].name + "'");
    after = names.size() + symbols.size();
  }
}

void ValueBinder::learnDim(const BoundDim &dim, const std::string &symbol, const std::string &source) {
  if (symbol.empty() || contradicted.count({"symbol", symbol}) != 0)
    return;
  if (auto named = names.find(dim.name); named != names.end())
    learn(symbols, symbol, {named->second.extent, dim.range, source}, "symbol");
  if (auto bound = symbols.find(symbol); bound != symbols.end())
    learn(names, dim.name, {bound->second.extent, dim.range, source}, "dim name");
}

void ValueBinder::finish(const OutlineValue &value, std::vector<BoundDim> &dims) {
  for (size_t i = 0; i < dims.size(); ++i) {
    const OutlineDim &outline = value.dims[i];
    auto symbol = symbols.find(outline.symbol);
    dims[i].extent = outline.symbol.empty() ? outline.extent : symbol != symbols.end() ? symbol->second.extent : 0;
  }
}

void ValueBinder::checkKnown(const BoundInput &input) {
  const OutlineValue &value = context.model.inputs[input.input];
  for (size_t i = 0; i < input.dims.size(); ++i) {
    const BoundDim &dim = input.dims[i];
    const std::string &symbol = value.dims[i].symbol;
    // An input without a declaration may be meant by a misspelt one, which has been reported.
    bool isMisspelt = hasUnknownInput && !input.range.hasLine();
    if (dim.extent != 0 || symbol.empty() || isMisspelt || !unbound.insert(symbol).second)
      continue;
    context.diagnostics
        .error(dim.range.hasLine() ? dim.range : context.syntax.range, "dim " + std::to_string(i) + " of input '" +
                                                                           value.name + "' has no extent: it is '" +
                                                                           symbol + "' in the model")
        .help("give it one: '" + (dim.name.empty() ? "NAME" : dim.name) + " = NUMBER' in 'input " + value.name +
              ": [...]'");
  }
}

void ValueBinder::checkNames(const BoundOutput &output) {
  const OutlineValue &value = context.model.outputs[output.output];
  for (size_t i = 0; i < output.dims.size(); ++i)
    if (const BoundDim &dim = output.dims[i]; dim.extent != 0)
      learn(names, dim.name, {dim.extent, dim.range, "dim " + std::to_string(i) + " of '" + value.name + "'"},
            "dim name");
}

void ValueBinder::bindLoss() {
  for (const LossStatement &loss : context.syntax.losses) {
    std::optional<size_t> output = findValue(context.model.outputs, loss.output.text);
    if (!output)
      context.diagnostics.error(loss.output.range, "unknown output '" + loss.output.text + "'")
          .help(suggest(loss.output.text, namesOf(context.model.outputs), "outputs of the model"));
    else if (size_t rank = context.model.outputs[*output].dims.size(); rank != 0)
      context.diagnostics
          .error(loss.output.range,
                 "the loss is a scalar, and output '" + loss.output.text + "' has " + std::to_string(rank) + " dims")
          .help("return the mean or the sum of the losses from the model");
    else
      plan.loss = BoundLoss{*output, loss.range, bindLossUnit(context, loss, plan)};
  }
}

llvm::StringMap<int64_t> meshplan::dimExtents(const BoundPlan &plan) {
  llvm::StringMap<int64_t> extents;
  for (const BoundInput &input : plan.inputs)
    for (const BoundDim &dim : input.dims)
      if (!dim.name.empty())
        extents[dim.name] = dim.extent;
  return extents;
}

void bind::bindValues(const Context &context, BoundPlan &plan) { ValueBinder(context, plan).run(); }
