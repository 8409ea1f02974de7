//===- entries.cpp - which entry each module and parameter takes -----------===//
//
// An entry claims the style of the modules that it matches, their borders, and
// the parameters that they hold. A claim has one owner. Of several entries that
// claim the same, the one that matches least owns it, and all but the one that
// matches most must be marked `override`.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/context.h"
#include "compiler/support/nearest.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

/// What can be claimed: the style of a module, one border of a module, the storage of a parameter held by a module.
struct Claim {
  enum Kind { Style, Input, Output, Parameter } kind;
  size_t module;
  int64_t index; ///< of the border or the parameter

  auto operator<=>(const Claim &) const = default;
};

class EntryBinder {
public:
  EntryBinder(const Context &context, BoundPlan &plan) : context(context), plan(plan) {}

  void run() {
    bool blocksMatch = checkBlocks();
    for (size_t i = 0; i < context.syntax.entries.size(); ++i)
      addEntry(i);
    for (const auto &[claim, claimants] : claims)
      settle(claim, claimants);
    reportConflicts();
    reportIdleOverrides();
    finishModules();
    if (blocksMatch)
      coverRest(context, styles, claimedParameters(), plan);
  }

private:
  /// A block that matches nothing is one error; the entries inside are left out.
  bool checkBlocks() {
    for (const BlockStatement &block : context.syntax.blocks)
      if (!isInBadBlock(block.blocks) && matchModules(context, block.blocks, block.range).empty())
        badBlocks.push_back(block.range);
    return badBlocks.empty();
  }

  bool isInBadBlock(llvm::ArrayRef<PathPattern> blocks) const {
    return llvm::any_of(blocks, [&](const PathPattern &block) { return llvm::is_contained(badBlocks, block.range); });
  }

  void addEntry(size_t index) {
    const EntryStatement &entry = context.syntax.entries[index];
    EntryMatch match;
    match.isOverride = entry.isOverride;
    match.isRest = !entry.path;
    match.range = entry.pathRange;
    styles.push_back(bindClauses(context, entry));
    std::vector<PathPattern> nested = entry.blocks;
    if (entry.path)
      nested.push_back(*entry.path);
    for (const PathPattern &pattern : nested)
      match.path += (match.path.empty() ? "" : ".") + pattern.text;
    if (match.isRest) {
      match.path += match.path.empty() ? "rest" : ".rest";
      if (entry.isOverride)
        context.diagnostics.error(entry.range, "'rest' takes what is left and cannot override");
    } else if (!isInBadBlock(entry.blocks)) {
      match.modules = matchModules(context, nested, entry.pathRange);
      dropWithoutParameters(entry, styles.back(), match);
      claimAll(index, styles.back(), match.modules);
    }
    plan.entries.push_back(std::move(match));
  }

  /// A style that divides parameters is for the modules that have some.
  void dropWithoutParameters(const EntryStatement &entry, const EntryStyles &entryStyles, EntryMatch &match) {
    if (!entryStyles.splitsParameters() || match.modules.empty())
      return;
    size_t container = match.modules.front();
    llvm::erase_if(match.modules, [&](size_t module) { return !context.touches[module]; });
    if (!match.modules.empty())
      return;
    std::string path = context.model.modules[container].path;
    std::vector<std::string> below;
    for (size_t module : context.modules.match(subtreePattern(literalPattern(path))))
      if (context.touches[module] && below.size() < 12)
        below.push_back(context.model.modules[module].path);
    const BoundStyle &style = entryStyles.styles.front();
    context.diagnostics
        .error(entry.pathRange, "'" + match.path + "' has no parameters of its own, and '" +
                                    styleName(style.kind).str() + "' divides parameters")
        .help(below.empty() ? "" : "modules with parameters: " + quotedList(below, ","));
  }

  void claimAll(size_t entry, const EntryStyles &entryStyles, llvm::ArrayRef<size_t> modules) {
    for (size_t module : modules) {
      if (!entryStyles.styles.empty()) {
        claims[{Claim::Style, module, 0}].push_back(entry);
        for (size_t parameter : context.held[module])
          claims[{Claim::Parameter, module, static_cast<int64_t>(parameter)}].push_back(entry);
      }
      for (const BoundBorder &border : entryStyles.borders)
        claims[{border.isInput ? Claim::Input : Claim::Output, module, border.index}].push_back(entry);
    }
    for (const auto &[placement, layout] : entryStyles.placements)
      claimParameter(entry, *placement, layout, modules, !entryStyles.styles.empty());
  }

  void claimParameter(size_t entry, const PlacementSyntax &placement, const BoundLayout &layout,
                      llvm::ArrayRef<size_t> modules, bool isClaimed) {
    bool found = false;
    std::vector<std::string> names;
    for (size_t module : modules)
      for (size_t parameter : context.held[module]) {
        names.push_back(context.leaf(parameter, module).str());
        if (names.back() != placement.parameter.text)
          continue;
        found = true;
        checkLayout(parameter, layout);
        if (!isClaimed)
          claims[{Claim::Parameter, module, static_cast<int64_t>(parameter)}].push_back(entry);
      }
    llvm::sort(names);
    names.erase(llvm::unique(names), names.end());
    if (!found && !modules.empty())
      context.diagnostics
          .error(placement.parameter.range, "no module of this entry has a parameter '" + placement.parameter.text + "'")
          .help(suggest(placement.parameter.text, names, "parameters"));
  }

  void checkLayout(size_t parameter, const BoundLayout &layout) {
    size_t rank = context.model.parameters[parameter].shape.size();
    std::string name = parameterPath(context.model, context.model.parameters[parameter]);
    std::string problem;
    if (layout.rank && *layout.rank != rank)
      problem = "the layout has " + std::to_string(*layout.rank) + " dims, and '" + name + "' has " +
                std::to_string(rank);
    for (const DimSplit &split : layout.splits)
      if (problem.empty() && split.dim >= static_cast<int64_t>(rank))
        problem = "'" + name + "' has " + std::to_string(rank) + " dims, so there is no dim " +
                  std::to_string(split.dim);
    if (!problem.empty() && badLayouts.insert(&layout).second)
      context.diagnostics.error(layout.range, problem);
  }

  /// Gives a claim to the entry that matches least; remembers the pairs that contradict each other.
  void settle(const Claim &claim, std::vector<size_t> claimants) {
    llvm::stable_sort(claimants, [&](size_t a, size_t b) {
      return std::pair(plan.entries[a].modules.size(), !plan.entries[a].isOverride) <
             std::pair(plan.entries[b].modules.size(), !plan.entries[b].isOverride);
    });
    for (size_t i = 0; i + 1 < claimants.size(); ++i) {
      auto pair = std::minmax(claimants[i], claimants[i + 1]);
      bool isOverride = plan.entries[claimants[i]].isOverride || plan.entries[claimants[i + 1]].isOverride;
      if (!isOverride)
        conflicts[pair].insert(claim.module);
      else if (!checkedOverrides.count(pair))
        checkOverride(claimants[i], claimants[i + 1]);
      checkedOverrides.insert(pair);
    }
    owners[claim] = claimants.front();
    for (size_t entry : claimants)
      if (claimants.size() > 1 && plan.entries[entry].isOverride)
        busyOverrides.insert(entry);
  }

  void checkOverride(size_t inner, size_t outer) {
    const EntryMatch &small = plan.entries[inner];
    const EntryMatch &large = plan.entries[outer];
    if (small.isOverride && isStrictSubset(small.modules, large.modules))
      return;
    const EntryMatch &override = small.isOverride ? small : large;
    const EntryMatch &other = small.isOverride ? large : small;
    std::vector<size_t> common;
    std::set_intersection(override.modules.begin(), override.modules.end(), other.modules.begin(), other.modules.end(),
                          std::back_inserter(common));
    context.diagnostics
        .error(override.range, "an override matches a part of what the other entry matches; '" + override.path +
                                   "' matches " + modulesText(override.modules.size()) + ", '" + other.path +
                                   "' matches " + modulesText(other.modules.size()) + ", and both match " +
                                   std::to_string(common.size()))
        .note(other.range, "the other entry is here");
  }

  static std::string modulesText(size_t count) { return std::to_string(count) + (count == 1 ? " module" : " modules"); }

  void reportConflicts() {
    for (const auto &[pair, modules] : conflicts) {
      const std::string &path = context.model.modules[*modules.begin()].path;
      std::string more = modules.size() > 1 ? " and " + std::to_string(modules.size() - 1) + " more" : "";
      context.diagnostics.error(plan.entries[pair.second].range, "two entries match '" + path + "'" + more)
          .note(plan.entries[pair.first].range, "the other entry is here")
          .help("narrow one of them, or mark the one that matches less with 'override'");
    }
  }

  void reportIdleOverrides() {
    for (size_t i = 0; i < plan.entries.size(); ++i)
      if (plan.entries[i].isOverride && !plan.entries[i].modules.empty() && !busyOverrides.count(i))
        context.diagnostics.error(plan.entries[i].range, "'" + plan.entries[i].path + "' overrides nothing")
            .help("remove 'override'");
  }

  void finishModules() {
    std::map<size_t, BoundModule> modules;
    for (const auto &[claim, entry] : owners) {
      if (claim.kind == Claim::Parameter) {
        finishParameter(claim, entry);
        continue;
      }
      BoundModule &module = modules.try_emplace(claim.module).first->second;
      module.module = claim.module;
      module.entry = entry;
      module.range = context.syntax.entries[entry].range;
      if (claim.kind == Claim::Style)
        module.styles = styles[entry].styles;
      else
        module.borders.push_back(*llvm::find_if(styles[entry].borders, [&](const BoundBorder &border) {
          return border.isInput == (claim.kind == Claim::Input) && border.index == claim.index;
        }));
    }
    for (auto &[index, module] : modules)
      plan.modules.push_back(std::move(module));
  }

  void finishParameter(const Claim &claim, size_t entry) {
    auto parameter = static_cast<size_t>(claim.index);
    for (const auto &[placement, layout] : styles[entry].placements)
      if (placement->parameter.text == context.leaf(parameter, claim.module))
        plan.parameters.push_back({parameter, layout, entry});
  }

  std::vector<bool> claimedParameters() const {
    std::vector<bool> result(context.model.parameters.size(), false);
    std::vector<bool> styled(context.model.modules.size(), false);
    for (const auto &[claim, entry] : owners) {
      if (claim.kind == Claim::Parameter)
        result[static_cast<size_t>(claim.index)] = true;
      styled[claim.module] = styled[claim.module] || claim.kind == Claim::Style;
    }
    for (size_t i = 0; i < result.size(); ++i)
      for (const OutlineUse &use : context.model.parameters[i].uses)
        result[i] = result[i] || styled[use.module];
    return result;
  }

  const Context &context;
  BoundPlan &plan;
  std::vector<SourceRange> badBlocks;
  std::vector<EntryStyles> styles;
  std::map<Claim, std::vector<size_t>> claims;
  std::map<Claim, size_t> owners;
  std::map<std::pair<size_t, size_t>, std::set<size_t>> conflicts;
  std::set<std::pair<size_t, size_t>> checkedOverrides;
  std::set<size_t> busyOverrides;
  std::set<const BoundLayout *> badLayouts;
};

} // namespace

void bind::bindEntries(const Context &context, BoundPlan &plan) {
  EntryBinder(context, plan).run();
  llvm::stable_sort(plan.parameters,
                    [](const BoundParameter &a, const BoundParameter &b) { return a.parameter < b.parameter; });
  checkTies(context, plan);
}
