//===- evaluate.cpp - sizes and values of a plan ---------------------------===//
//
// Values of a plan are 64-bit integers, and every operation that does not give one exactly is an error at the
// expression: a rounded number of ranks or microbatches would make it another plan. Names may refer to names that the
// plan defines later, so a value is computed when it is asked for; a name that is asked for while it is computed
// depends on itself.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/evaluate.h"

#include "compiler/frontend/fold.h"
#include "compiler/support/nearest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <functional>
#include <map>
#include <utility>

using namespace meshplan;

namespace {

/// Returns the value of a name; reports an error and returns nothing if it has none.
using Lookup = std::function<std::optional<int64_t>(const Expression &)>;

/// Applies one operator; reports overflow and inexact division.
std::optional<int64_t> apply(const Expression &expression, int64_t left, int64_t right, Diagnostics &diagnostics) {
  int64_t result = 0;
  bool overflows = false;
  switch (expression.kind) {
  case Expression::Kind::Negate:
    overflows = __builtin_sub_overflow(int64_t{0}, left, &result);
    break;
  case Expression::Kind::Add:
    overflows = __builtin_add_overflow(left, right, &result);
    break;
  case Expression::Kind::Subtract:
    overflows = __builtin_sub_overflow(left, right, &result);
    break;
  case Expression::Kind::Multiply:
    overflows = __builtin_mul_overflow(left, right, &result);
    break;
  default: {
    // The one quotient that does not fit; the processor traps even when it computes its remainder.
    overflows = left == INT64_MIN && right == -1;
    // Divisions are exact, or errors: 'world / 3' of 8 ranks rounded down would leave two ranks without work.
    if (right == 0 || (!overflows && left % right != 0)) {
      std::string values = std::to_string(left) + " / " + std::to_string(right);
      Diagnostic &error =
          diagnostics.error(expression.range, expression.text + (expression.text == values ? "" : " = " + values) +
                                                  (right == 0 ? " divides by zero" : " is not exact"));
      error.help(right != 0 ? "choose a multiple of " + std::to_string(right) + " to divide"
                            : "give the divisor another value, in the plan or with -D");
      return std::nullopt;
    }
    result = overflows ? 0 : left / right;
  }
  }
  if (overflows) {
    diagnostics.error(expression.range, expression.text + " does not fit in 64 bits");
    return std::nullopt;
  }
  return result;
}

std::optional<int64_t> compute(const Expression &expression, const Lookup &lookup, Diagnostics &diagnostics) {
  if (expression.kind == Expression::Kind::Integer)
    return expression.integer;
  if (expression.kind == Expression::Kind::Name)
    return lookup(expression);
  std::vector<int64_t> values;
  for (const Expression &operand : expression.operands) {
    std::optional<int64_t> value = compute(operand, lookup, diagnostics);
    if (!value)
      return std::nullopt;
    values.push_back(*value);
  }
  return apply(expression, values[0], values.size() > 1 ? values[1] : 0, diagnostics);
}

/// The names of a plan. They are evaluated on first use, so that their order does not matter.
class Evaluator {
public:
  Evaluator(const Syntax &syntax, Diagnostics &diagnostics) : syntax(syntax), diagnostics(diagnostics) {}

  std::optional<Environment> run(llvm::ArrayRef<Definition> definitions);

private:
  struct Entry {
    const Expression *expression = nullptr;
    SourceRange range;
    std::optional<int64_t> value;
    std::string option; ///< `-D tp=4` if the command line gives the value
    // Active: it is being evaluated, so that a use of it is a cycle.
    enum { Open, Active, Done } state = Open;
  };

  void define(const Word &name, const Expression &expression);
  std::vector<std::string> definable() const;
  void override(const Definition &definition);
  std::optional<int64_t> valueOf(const std::string &name, Entry &entry);
  std::optional<int64_t> lookup(const Expression &use);
  std::optional<Environment> environment();
  int64_t sizeOf(const Word &name);
  void reportSize(const Word &name, int64_t size);
  void checkWorld(const Environment &result, int64_t product);

  const Syntax &syntax;
  Diagnostics &diagnostics;
  std::map<std::string, Entry> names;
};

} // namespace

std::optional<Environment> Evaluator::run(llvm::ArrayRef<Definition> definitions) {
  size_t before = diagnostics.errorCount();
  for (const LetStatement &let : syntax.lets)
    define(let.name, let.value);
  if (!syntax.meshes.empty())
    for (const AxisDefinition &axis : syntax.meshes.front().axes)
      define(axis.name, axis.size);
  for (const FoldStatement &fold : syntax.folds)
    for (const AxisDefinition &name : fold.names)
      define(name.name, name.size);
  for (const Definition &definition : definitions)
    override(definition);
  // All of them, because a wrong definition is an error even if nothing uses it.
  for (auto &[name, entry] : names)
    valueOf(name, entry);
  if (diagnostics.errorCount() != before)
    return std::nullopt;
  return environment();
}

void Evaluator::define(const Word &name, const Expression &expression) {
  if (name.text == "world") {
    diagnostics.error(name.range, "'world' is the number of ranks and cannot be defined here")
        .help("give it on the command line: -D world=N");
    return;
  }
  auto [entry, isNew] = names.try_emplace(name.text);
  if (!isNew)
    diagnostics.error(name.range, "'" + name.text + "' is defined twice")
        .note(entry->second.range, "the first definition is here")
        .help("axes and 'let' values share their names: rename one");
  else
    entry->second = {&expression, name.range, std::nullopt, "", Entry::Open};
}

std::vector<std::string> Evaluator::definable() const {
  std::vector<std::string> result = {"world"};
  for (const auto &[name, entry] : names)
    if (name != "world")
      result.push_back(name);
  return result;
}

void Evaluator::override(const Definition &definition) {
  std::string shown = "-D " + definition.name + "=" + definition.value;
  int64_t value = 0;
  // Reported for the plan as a whole: it has no location for a definition of the command line.
  auto error = [&](const std::string &problem) -> Diagnostic & {
    return diagnostics.error({syntax.name.range.file}, shown + ": " + problem);
  };
  if (definition.name != "world" && names.count(definition.name) == 0) {
    error("the plan has no axis or value '" + definition.name + "'")
        .help(suggest(definition.name, definable(), "names of this plan"));
    return;
  }
  if (llvm::StringRef(definition.value).getAsInteger(10, value)) {
    bool isNumber = llvm::all_of(llvm::StringRef(definition.value).ltrim('-'), llvm::isDigit) &&
                    llvm::StringRef(definition.value).ltrim('-') != "";
    error("'" + definition.value + (isNumber ? "' does not fit in 64 bits" : "' is not an integer"))
        .help("write -D " + definition.name + "=N with an integer N");
    // The name counts as defined, so that expressions that use it cause no further errors.
    names[definition.name].state = Entry::Done;
    return;
  }
  Entry &entry = names[definition.name];
  if (!entry.option.empty() && entry.value != value)
    error("'" + definition.name + "' is given twice, as " + std::to_string(*entry.value) + " and as " +
          definition.value)
        .help("give it once");
  entry.option = shown;
  entry.value = value;
  entry.state = Entry::Done;
  if (definition.name == "world" && value < 1)
    error("there is at least one rank").help("write -D world=N with N of at least 1");
}

std::optional<int64_t> Evaluator::valueOf(const std::string &name, Entry &entry) {
  if (entry.state == Entry::Open) {
    entry.state = Entry::Active;
    entry.value = compute(*entry.expression, [&](const Expression &use) { return lookup(use); }, diagnostics);
    entry.state = Entry::Done;
  }
  return entry.value;
}

std::optional<int64_t> Evaluator::lookup(const Expression &use) {
  auto found = names.find(use.name);
  if (found == names.end() && use.name == "world") {
    diagnostics.error(use.range, "'world' is not given").help("give the number of ranks: -D world=N");
    return std::nullopt;
  }
  if (found == names.end()) {
    diagnostics.error(use.range, "unknown name '" + use.name + "'")
        .help(suggest(use.name, definable(), "names of this plan"));
    return std::nullopt;
  }
  if (found->second.state == Entry::Active) {
    diagnostics.error(use.range, "'" + use.name + "' depends on itself")
        .note(found->second.range, "it is defined here");
    return std::nullopt;
  }
  return valueOf(use.name, found->second);
}

std::optional<Environment> Evaluator::environment() {
  Environment result;
  size_t before = diagnostics.errorCount();
  if (!syntax.meshes.empty())
    result.mesh.range = syntax.meshes.front().range;
  int64_t product = 1;
  for (size_t i = 0; !syntax.meshes.empty() && i < syntax.meshes.front().axes.size(); ++i) {
    const Word &name = syntax.meshes.front().axes[i].name;
    int64_t size = sizeOf(name);
    if (size >= 1 && __builtin_mul_overflow(product, size, &product))
      diagnostics.error(result.mesh.range, "the number of ranks does not fit in 64 bits");
    result.mesh.axes.push_back({name.text, size, name.range});
  }
  checkWorld(result, product);
  for (const FoldStatement &fold : syntax.folds) {
    std::vector<int64_t> sizes;
    for (const AxisDefinition &name : fold.names)
      sizes.push_back(sizeOf(name.name));
    // A fold of a wrong mesh, or with a size below one, which has been reported, would be wrong for no other reason.
    if (diagnostics.errorCount() == before)
      resolveFold(fold, sizes, result.mesh, diagnostics);
  }
  if (diagnostics.errorCount() != before)
    return std::nullopt;
  for (const auto &[name, entry] : names)
    result.values[name] = *entry.value;
  result.values["world"] = product;
  return result;
}

/// The size of an axis or of a name of a fold; reports a wrong one.
int64_t Evaluator::sizeOf(const Word &name) {
  int64_t size = *names[name.text].value;
  if (size < 1)
    reportSize(name, size);
  // The compiler's name for the time axis (timeAxisName of the plan dialect).
  if (name.text == "microbatch")
    diagnostics.error(name.range, "an axis cannot be named 'microbatch': microbatches follow one another in time")
        .help("give the axis another name");
  return size;
}

void Evaluator::reportSize(const Word &name, int64_t size) {
  const std::string &option = names[name.text].option;
  std::string message = "axis '" + name.text + "' has size " + std::to_string(size);
  Diagnostic &error = diagnostics.error(option.empty() ? name.range : SourceRange{name.range.file},
                                        (option.empty() ? "" : option + ": ") + message);
  if (!option.empty())
    error.note(name.range, "the axis is here");
  error.help("an axis has at least one rank");
}

void Evaluator::checkWorld(const Environment &result, int64_t product) {
  auto world = names.find("world");
  if (world == names.end() || world->second.value == product)
    return;
  std::string sizes;
  for (const MeshAxis &axis : result.mesh.axes)
    sizes += (sizes.empty() ? "" : " * ") + axis.name + " (" + std::to_string(axis.size) + ")";
  std::string ranks = std::to_string(*world->second.value);
  if (sizes.empty())
    diagnostics.error(syntax.range, "the plan has no mesh, so it is for 1 rank, and world is " + ranks)
        .help("add 'mesh dp = world'");
  else
    diagnostics
        .error(result.mesh.range,
               "the mesh is " + sizes + " = " + std::to_string(product) + " ranks, and world is " + ranks)
        .help("let one axis follow: 'mesh A = world / B, B = SIZE'");
}

std::optional<Environment> meshplan::evaluatePlan(const Syntax &syntax, llvm::ArrayRef<Definition> definitions,
                                                  Diagnostics &diagnostics) {
  return Evaluator(syntax, diagnostics).run(definitions);
}

std::optional<int64_t> meshplan::evaluate(const Expression &expression, const Environment &environment,
                                          Diagnostics &diagnostics) {
  auto lookup = [&](const Expression &use) -> std::optional<int64_t> {
    auto found = environment.values.find(use.name);
    if (found != environment.values.end())
      return found->second;
    std::vector<std::string> names;
    for (const auto &entry : environment.values)
      names.push_back(entry.getKey().str());
    llvm::sort(names);
    diagnostics.error(use.range, "unknown name '" + use.name + "'")
        .help(suggest(use.name, names, "names of this plan"));
    return std::nullopt;
  };
  return compute(expression, lookup, diagnostics);
}
