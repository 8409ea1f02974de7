//===- init.cpp - the init entry of each parameter ---------------------------===//
//
// As with styles (bind/claims.h), a parameter gets its values from the entry that names the fewest parameters, which
// must be marked `override`. Unlike there, every parameter must have an entry, because no weights are loaded.
//
// Example: `init { **.weight normal 0.02; override lm_head.weight normal 0.01; rest zeros }`.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/claims.h"
#include "compiler/frontend/bind/training/training.h"
#include "compiler/support/layer_names.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <iterator>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

class InitBinder {
public:
  InitBinder(const Context &context, const InitStatement &statement, BoundInit &init)
      : context(context), statement(statement), init(init), isNamed(context.model.parameters.size()) {}

  void run();

private:
  void bindEntry(const InitEntry &entry);
  void settle();
  void coverRest();
  void reportUncovered(llvm::ArrayRef<size_t> parameters);

  std::string pathOf(size_t parameter) const {
    return parameterPath(context.model, context.model.parameters[parameter]);
  }

  const Context &context;
  const InitStatement &statement;
  BoundInit &init;
  std::vector<bool> isNamed; ///< by parameter: by an entry other than `rest`
};

} // namespace

void InitBinder::run() {
  for (const InitEntry &entry : statement.entries)
    bindEntry(entry);
  init.entryOf.assign(context.model.parameters.size(), 0);
  settle();
  coverRest();
}

void InitBinder::bindEntry(const InitEntry &entry) {
  BoundInitEntry &bound = init.entries.emplace_back();
  bound.paths = entry.path ? bindPath(context, *entry.path) : BoundPaths{"rest", {}, {}, entry.range};
  bound.values = bindDistribution(context, entry).value_or(InitialValues());
  for (const Operand &operand : entry.distribution)
    bound.text += (bound.text.empty() ? "" : " ") + operand.text;
}

/// Gives each parameter to the entry that names the fewest.
void InitBinder::settle() {
  ClaimMap claims;
  std::vector<EntryMatch> matches;
  for (auto [number, bound] : llvm::enumerate(init.entries)) {
    EntryMatch &match = matches.emplace_back();
    match.path = bound.paths.text;
    match.isOverride = statement.entries[number].isOverride;
    match.range = bound.paths.range;
    for (size_t parameter : bound.paths.parameters) {
      size_t module = context.model.parameters[parameter].names.front().module;
      match.parameters.push_back({module, parameter});
      claims[{Claim::Parameter, module, static_cast<int64_t>(parameter)}].push_back(number);
    }
    llvm::sort(match.parameters);
  }
  for (const auto &[claim, owner] : settleClaims(context, claims, matches)) {
    init.entryOf[claim.index] = owner;
    isNamed[claim.index] = true;
  }
}

void InitBinder::coverRest() {
  std::vector<size_t> left;
  for (size_t parameter = 0; parameter < isNamed.size(); ++parameter)
    if (!isNamed[parameter])
      left.push_back(parameter);
  auto isRest = [](const InitEntry &entry) { return !entry.path; };
  auto rest = llvm::find_if(statement.entries, isRest);
  if (rest == statement.entries.end())
    return reportUncovered(left);
  size_t number = rest - statement.entries.begin();
  if (auto again = std::find_if(std::next(rest), statement.entries.end(), isRest); again != statement.entries.end())
    context.diagnostics.error(again->range, "'rest' is repeated").note(rest->range, "the first one is here");
  if (left.empty() && !context.diagnostics.hasErrors())
    context.diagnostics.warning(rest->range, "'rest' covers nothing: every parameter has an entry of 'init'");
  for (size_t parameter : left)
    init.entryOf[parameter] = number;
  init.entries[number].paths.parameters = std::move(left);
}

/// Weights of one dim are those of norms, whatever their name, and 'rest normal' would draw them around zero.
static std::string uncoveredHelp(const OutlineParameter &parameter, const std::string &name) {
  // A stacked parameter is called `w1.bias` in its list.
  llvm::StringRef leaf = llvm::StringRef(parameter.names.front().leaf).rsplit('.').second;
  if (leaf.empty())
    leaf = parameter.names.front().leaf;
  if (leaf == "bias")
    return "add '" + name + " zeros'";
  if (leaf == "weight" && parameter.shape.size() == (parameter.isStacked ? 2 : 1))
    return "add '" + name + " ones', as norms begin";
  return "add one, or 'rest normal 0.02' for all that is left";
}

/// Reports parameters without an entry, including frozen ones: no weights are loaded for them. One message for each
/// group of names that differ in indices only.
void InitBinder::reportUncovered(llvm::ArrayRef<size_t> parameters) {
  std::vector<std::pair<std::string, std::vector<size_t>>> groups;
  for (size_t parameter : parameters) {
    std::string name = withoutIndices(pathOf(parameter));
    auto group = llvm::find_if(groups, [&](const auto &each) { return each.first == name; });
    if (group == groups.end())
      group = groups.insert(group, {name, {}});
    group->second.push_back(parameter);
  }
  for (const auto &[name, members] : groups) {
    std::string what = "'" + (members.size() > 1 ? name : pathOf(members.front())) + "'";
    if (members.size() > 1)
      what += " (" + std::to_string(members.size()) + " parameters)";
    context.diagnostics.error(statement.range, "no entry of 'init' names " + what)
        .help(uncoveredHelp(context.model.parameters[members.front()],
                            members.size() > 1 ? name : pathOf(members.front())));
  }
}

void bind::bindInit(const Context &context, const InitStatement &statement, BoundPlan &plan) {
  if (context.syntax.optimizers.empty())
    context.diagnostics.error(statement.range, "'init' without an optimizer: only a training begins without weights")
        .help("add 'optimizer KIND { ... }', or remove the statement");
  BoundInit init;
  init.range = statement.range;
  InitBinder(context, statement, init).run();
  plan.init = std::move(init);
}
