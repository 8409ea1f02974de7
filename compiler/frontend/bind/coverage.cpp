//===- coverage.cpp - modules and parameters without an entry --------------===//
//
// A parameter that no entry claims is left to the innermost `rest` whose block
// contains one of the modules that hold it. Two `rest` that both contain one of
// them, and neither of which is inside the other, are an error.
//
// Example: with `rest: replicate` at the top and `rest: colwise tp` in the block
// `layers.*`, an unclaimed parameter of layers.0.mlp is colwise and one of
// lm_head is replicated.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/context.h"
#include "compiler/support/layer_names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

class RestBinder {
public:
  RestBinder(const Context &context, llvm::ArrayRef<EntryStyles> styles, BoundPlan &plan);
  void run(const std::vector<bool> &claimed);

private:
  struct Rest {
    size_t entry;
    std::vector<size_t> scope; ///< modules in its block
    std::set<size_t> taken;
  };

  void addRest(size_t entry);

  /// True if the block of `inner` is written inside the block of `outer`.
  bool isInside(const Rest &inner, const Rest &outer) const;

  /// Assigns the parameter to the innermost `rest` around the modules that hold it.
  void place(size_t parameter);
  void reportTwo(const Rest &a, const Rest &b, size_t parameter);

  /// Reports one error for each group of modules that differ in indices only. If some parameters of a module are
  /// placed, the error names the others.
  void reportUncovered(const std::vector<bool> &claimed);
  struct Group {
    std::string path; ///< of the first module
    size_t module;
    size_t count = 0;
  };
  void reportGroup(const std::string &key, const Group &group);
  /// The entry that states a border of the module, or null.
  const EntryMatch *borderEntry(size_t module) const;
  void finish(const Rest &rest);
  void countModules(const std::vector<bool> &claimed);

  const Context &context;
  llvm::ArrayRef<EntryStyles> styles;
  BoundPlan &plan;
  std::vector<Rest> rests;
  std::vector<size_t> uncovered;
  std::set<std::pair<size_t, size_t>> reported;
};

} // namespace

RestBinder::RestBinder(const Context &context, llvm::ArrayRef<EntryStyles> styles, BoundPlan &plan)
    : context(context), styles(styles), plan(plan) {
  for (size_t i = 0; i < plan.entries.size(); ++i)
    if (plan.entries[i].isRest)
      addRest(i);
}

void RestBinder::run(const std::vector<bool> &claimed) {
  for (size_t parameter = 0; parameter < claimed.size(); ++parameter)
    if (!claimed[parameter])
      place(parameter);
  reportUncovered(claimed);
  for (const Rest &rest : rests)
    finish(rest);
  countModules(claimed);
}

void RestBinder::addRest(size_t entry) {
  const EntryStatement &statement = context.syntax.entries[entry];
  std::optional<PatternSequence> block = parsePattern(statement.blocks, context.diagnostics);
  if (block)
    rests.push_back({entry, context.modules.match(subtreePattern(std::move(*block))), {}});
  if (!styles[entry].placements.empty())
    context.diagnostics.error(statement.range, "'rest' takes a style, not a 'parameter' clause");
}

bool RestBinder::isInside(const Rest &inner, const Rest &outer) const {
  const auto &in = context.syntax.entries[inner.entry].blocks;
  const auto &out = context.syntax.entries[outer.entry].blocks;
  return in.size() > out.size() && std::equal(out.begin(), out.end(), in.begin(),
                                              [](const auto &a, const auto &b) { return a.range == b.range; });
}

void RestBinder::place(size_t parameter) {
  Rest *owner = nullptr;
  // A tied parameter is held by several modules, which may be in different blocks.
  for (const OutlineParameterName &name : context.model.parameters[parameter].names)
    for (Rest &rest : rests) {
      if (!std::binary_search(rest.scope.begin(), rest.scope.end(), name.module))
        continue;
      if (owner != nullptr && owner != &rest && !isInside(*owner, rest) && !isInside(rest, *owner))
        reportTwo(*owner, rest, parameter);
      if (owner == nullptr || isInside(rest, *owner))
        owner = &rest;
    }
  if (owner == nullptr)
    uncovered.push_back(parameter);
  else
    for (const OutlineParameterName &name : context.model.parameters[parameter].names)
      owner->taken.insert(name.module);
}

void RestBinder::reportTwo(const Rest &a, const Rest &b, size_t parameter) {
  if (reported.insert(std::minmax(a.entry, b.entry)).second)
    context.diagnostics
        .error(plan.entries[std::max(a.entry, b.entry)].range,
               "two 'rest' take '" + parameterPath(context.model, context.model.parameters[parameter]) + "'")
        .note(plan.entries[std::min(a.entry, b.entry)].range, "the other one is here");
}

void RestBinder::reportUncovered(const std::vector<bool> &claimed) {
  std::map<std::string, Group> groups;
  std::vector<std::string> order;
  std::set<size_t> seen;
  for (size_t parameter : uncovered) {
    size_t module = context.model.parameters[parameter].names.front().module;
    bool whole = llvm::none_of(context.held[module], [&](size_t other) { return claimed[other]; });
    if (whole && !seen.insert(module).second)
      continue;
    std::string path =
        whole ? context.model.modules[module].path : parameterPath(context.model, context.model.parameters[parameter]);
    auto [group, isNew] = groups.try_emplace((whole ? "m" : "p") + withoutIndices(path), Group{path, module});
    if (isNew)
      order.push_back(group->first);
    ++group->second.count;
  }
  for (const std::string &key : order)
    reportGroup(key, groups.at(key));
}

const EntryMatch *RestBinder::borderEntry(size_t module) const {
  auto found = llvm::lower_bound(plan.modules, module,
                                 [](const BoundModule &bound, size_t value) { return bound.module < value; });
  bool isBound = found != plan.modules.end() && found->module == module && !found->borders.empty();
  return isBound ? &plan.entries[found->entry] : nullptr;
}

void RestBinder::reportGroup(const std::string &key, const Group &group) {
  std::string path = group.count > 1 ? key.substr(1) : group.path;
  bool isModule = key.front() == 'm';
  std::string what = isModule ? "the parameters of " + moduleText(path) : "'" + path + "'";
  if (group.count > 1)
    what += " (" + std::to_string(group.count) + (isModule ? " modules)" : " parameters)");
  Diagnostic &error = context.diagnostics.error(context.syntax.range, "no entry places " + what);
  std::string forAll = "'rest: replicate' for all that is left";
  if (const EntryMatch *entry = isModule ? borderEntry(group.module) : nullptr)
    error.note(entry->range, "this entry states a layout at the border only")
        .help("add a style to it, such as 'replicate', or " + forAll);
  else
    error.help("add " + (isModule ? "'" + (path.empty() ? "\"\"" : path) + ": replicate', or " : "") + forAll);
}

void RestBinder::finish(const Rest &rest) {
  EntryMatch &match = plan.entries[rest.entry];
  match.modules.assign(rest.taken.begin(), rest.taken.end());
  if (match.modules.empty() && !context.diagnostics.hasErrors())
    context.diagnostics.warning(match.range, "'rest' covers nothing: every parameter of its block has an entry");
  for (size_t index : match.modules) {
    auto found = llvm::lower_bound(plan.modules, index,
                                   [](const BoundModule &module, size_t value) { return module.module < value; });
    if (found == plan.modules.end() || found->module != index)
      found = plan.modules.insert(found, {index});
    found->styles = styles[rest.entry].styles;
    found->entry = rest.entry;
    found->range = context.syntax.entries[rest.entry].range;
  }
}

void RestBinder::countModules(const std::vector<bool> &claimed) {
  std::set<size_t> byRest;
  for (const Rest &rest : rests)
    byRest.insert(rest.taken.begin(), rest.taken.end());
  for (size_t module = 0; module < context.held.size(); ++module) {
    if (context.held[module].empty()) {
      ++plan.coverage.otherModules;
      continue;
    }
    ++plan.coverage.parameterModules;
    plan.coverage.byRest += byRest.count(module);
    plan.coverage.byEntries += llvm::all_of(context.held[module], [&](size_t parameter) { return claimed[parameter]; });
  }
  for (EntryMatch &entry : plan.entries)
    entry.parameterModules =
        llvm::count_if(entry.modules, [&](size_t module) { return !context.held[module].empty(); });
}

void bind::coverRest(const Context &context, llvm::ArrayRef<EntryStyles> styles, const std::vector<bool> &claimed,
                     BoundPlan &plan) {
  RestBinder(context, styles, plan).run(claimed);
}
