//===- init.cpp - the init entry of each parameter ---------------------------===//
//
// As with styles (bind/claims.h), the entry that names fewest parameters gives a parameter its values, and it must say
// so with `override`. Unlike there, every parameter must have an entry: without weights there is nothing to fall back
// on.
//
// Example: `init { **.weight normal 0.02; override lm_head.weight normal 0.01; rest zeros }`.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/training/training.h"
#include "compiler/support/layer_names.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <iterator>
#include <set>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

class InitBinder {
public:
  InitBinder(const Context &context, const InitStatement &statement, BoundInit &init)
      : context(context), statement(statement), init(init), claimants(context.model.parameters.size()) {}

  void run();

private:
  void bindEntry(const InitEntry &entry);
  void settle();
  void compare(size_t inner, size_t outer, size_t parameter);
  void reportConflicts();
  void reportIdleOverrides();
  void coverRest();
  void reportUncovered(llvm::ArrayRef<size_t> parameters);

  std::string pathOf(size_t parameter) const {
    return parameterPath(context.model, context.model.parameters[parameter]);
  }

  const Context &context;
  const InitStatement &statement;
  BoundInit &init;
  std::vector<std::vector<size_t>> claimants;                         ///< by parameter: entries other than `rest`
  std::map<std::pair<size_t, size_t>, std::vector<size_t>> conflicts; ///< parameters by pair of entries
  std::set<std::pair<size_t, size_t>> compared;
  std::set<size_t> busyOverrides;
};

} // namespace

void InitBinder::run() {
  for (const InitEntry &entry : statement.entries)
    bindEntry(entry);
  init.entryOf.assign(context.model.parameters.size(), 0);
  settle();
  reportConflicts();
  reportIdleOverrides();
  coverRest();
}

void InitBinder::bindEntry(const InitEntry &entry) {
  size_t number = init.entries.size();
  BoundInitEntry &bound = init.entries.emplace_back();
  bound.paths = entry.path ? bindPath(context, *entry.path) : BoundPaths{"rest", {}, {}, entry.range};
  bound.values = bindDistribution(context, entry).value_or(InitialValues());
  for (const Operand &operand : entry.distribution)
    bound.text += (bound.text.empty() ? "" : " ") + operand.text;
  for (size_t parameter : bound.paths.parameters)
    claimants[parameter].push_back(number);
}

/// Gives each parameter to the entry that names least.
void InitBinder::settle() {
  for (size_t parameter = 0; parameter < claimants.size(); ++parameter) {
    std::vector<size_t> &claims = claimants[parameter];
    llvm::stable_sort(claims, [&](size_t left, size_t right) {
      auto key = [&](size_t entry) {
        return std::pair(init.entries[entry].paths.parameters.size(), !statement.entries[entry].isOverride);
      };
      return key(left) < key(right);
    });
    for (size_t i = 0; i + 1 < claims.size(); ++i)
      compare(claims[i], claims[i + 1], parameter);
    if (!claims.empty())
      init.entryOf[parameter] = claims.front();
  }
}

void InitBinder::compare(size_t inner, size_t outer, size_t parameter) {
  auto isOverride = [&](size_t entry) { return statement.entries[entry].isOverride; };
  if (!isOverride(inner) && !isOverride(outer)) {
    conflicts[std::minmax(inner, outer)].push_back(parameter);
    return;
  }
  for (size_t entry : {inner, outer})
    if (isOverride(entry))
      busyOverrides.insert(entry);
  const std::vector<size_t> &small = init.entries[inner].paths.parameters,
                            &large = init.entries[outer].paths.parameters;
  bool isStrictSubset =
      small.size() < large.size() && std::includes(large.begin(), large.end(), small.begin(), small.end());
  if (!compared.insert({inner, outer}).second || (isOverride(inner) && isStrictSubset))
    return;
  size_t other = isOverride(inner) ? outer : inner, override = isOverride(inner) ? inner : outer;
  context.diagnostics
      .error(init.entries[override].paths.range, "an override must name a strict subset of what it overrides")
      .note(init.entries[other].paths.range, "the other entry is here")
      .help("narrow the override to parameters of the other entry, and to fewer than all of them");
}

void InitBinder::reportConflicts() {
  for (const auto &[pair, parameters] : conflicts) {
    std::string more = parameters.size() > 1 ? " and " + std::to_string(parameters.size() - 1) + " more" : "";
    context.diagnostics
        .error(init.entries[pair.second].paths.range,
               "two entries of 'init' name '" + pathOf(parameters.front()) + "'" + more)
        .note(init.entries[pair.first].paths.range, "the other entry is here")
        .help("narrow one of them, or mark the one that names less with 'override'");
  }
}

void InitBinder::reportIdleOverrides() {
  for (size_t number = 0; number < init.entries.size(); ++number) {
    const InitEntry &entry = statement.entries[number];
    if (entry.isOverride && !init.entries[number].paths.parameters.empty() && !busyOverrides.count(number))
      context.diagnostics.error(entry.range, "'" + init.entries[number].paths.text + "' overrides nothing")
          .help("remove 'override'");
  }
}

void InitBinder::coverRest() {
  std::vector<size_t> left;
  for (size_t parameter = 0; parameter < claimants.size(); ++parameter)
    if (claimants[parameter].empty())
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
  llvm::StringRef leaf = parameter.names.front().leaf;
  if (leaf == "bias")
    return "add '" + name + " zeros'";
  if (leaf == "weight" && parameter.shape.size() == 1)
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
