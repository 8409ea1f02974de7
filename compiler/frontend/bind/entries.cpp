//===- entries.cpp - entries and the modules that they apply to ------------===//
//
// 1. checkBlocks: blocks that match nothing.
// 2. addEntry: each entry is matched with modules and parameters, and claims
//    their styles, borders and parameters.
// 3. settleClaims: one owner for each claim (claims.h).
// 4. finishModules: owners become the modules and parameters of the plan.
// 5. coverRest: modules without an owner are left to `rest`, or are an error.
//
// If a block matches nothing, step 5 is skipped: the modules that it was meant
// for would all be reported as uncovered.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind.h"
#include "compiler/frontend/bind/claims.h"
#include "compiler/frontend/bind/context.h"
#include "compiler/support/layer_names.h"
#include "compiler/support/nearest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

class EntryBinder {
public:
  EntryBinder(const Context &context, BoundPlan &plan) : context(context), plan(plan), extents(dimExtents(plan)) {}

  void run();

private:
  /// Reports each block that matches nothing once; the entries inside it are skipped.
  bool checkBlocks();
  bool isInBadBlock(llvm::ArrayRef<PathPattern> blocks) const;
  void addEntry(size_t index);

  /// Makes of modules in lists whose parameters are stacked, and of parameters that they would hold, the stacked
  /// parameters, if the entry names nothing else. Reports an entry that names some modules of a list.
  void takeListed(const EntryStatement &entry, const EntryStyles &entryStyles, const PatternSequence &pattern,
                  EntryMatch &match);

  /// Checks an entry whose path names parameters: it may only state styles.
  void checkParameterEntry(const EntryStatement &entry, const EntryStyles &entryStyles, EntryMatch &match);

  /// Removes modules without parameters from an entry whose style splits parameters: a pattern such as `layers.*`
  /// matches them, too. If no module is left, the entry would have no effect, which is an error.
  void dropWithoutParameters(const EntryStatement &entry, const EntryStyles &entryStyles, EntryMatch &match);
  void claimAll(size_t entry, const EntryStyles &entryStyles, const EntryMatch &match);

  void claimParameter(size_t entry, const PlacementSyntax &placement, const BoundLayout &layout,
                      llvm::ArrayRef<size_t> modules, bool isClaimed);

  void checkLayout(size_t parameter, const BoundLayout &layout);
  void finishModules();
  void finishParameter(const Claim &claim, size_t entry);
  std::vector<bool> claimedParameters() const;

  const Context &context;
  BoundPlan &plan;
  llvm::StringMap<int64_t> extents; ///< by name of a dim
  std::vector<SourceRange> badBlocks;
  std::vector<EntryStyles> styles;
  std::vector<EntryMatch> asWritten; ///< with all that the paths match, before styles drop modules
  ClaimMap claims;
  std::map<Claim, size_t> owners;
  std::set<const BoundLayout *> badLayouts;
};

} // namespace

void EntryBinder::run() {
  bool blocksMatch = checkBlocks();
  for (size_t i = 0; i < context.syntax.entries.size(); ++i)
    addEntry(i);
  owners = settleClaims(context, claims, asWritten);
  finishModules();
  if (blocksMatch)
    coverRest(context, styles, claimedParameters(), plan);
}

bool EntryBinder::checkBlocks() {
  for (const BlockStatement &block : context.syntax.blocks)
    if (!isInBadBlock(block.blocks) && !checkBlock(context, block.blocks, block.range))
      badBlocks.push_back(block.range);
  return badBlocks.empty();
}

bool EntryBinder::isInBadBlock(llvm::ArrayRef<PathPattern> blocks) const {
  return llvm::any_of(blocks, [&](const PathPattern &block) { return llvm::is_contained(badBlocks, block.range); });
}

void EntryBinder::addEntry(size_t index) {
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
      context.diagnostics.error(entry.range, "'rest' applies to modules without an entry and cannot override");
  } else if (!isInBadBlock(entry.blocks)) {
    if (std::optional<PatternSequence> pattern = matchEntry(context, nested, match))
      takeListed(entry, styles.back(), *pattern, match);
    checkParameterEntry(entry, styles.back(), match);
  }
  // An override must match a strict subset of what the paths of the other entry match, so all of their matches are
  // kept.
  asWritten.push_back(match);
  dropWithoutParameters(entry, styles.back(), match);
  claimAll(index, styles.back(), match);
  plan.entries.push_back(std::move(match));
}

void EntryBinder::takeListed(const EntryStatement &entry, const EntryStyles &entryStyles,
                             const PatternSequence &pattern, EntryMatch &match) {
  if (!namesListed(context, pattern))
    return;
  auto isKnown = [&](size_t parameter) {
    size_t holder = context.model.parameters[parameter].names.front().module;
    return llvm::is_contained(match.modules, holder) ||
           llvm::is_contained(match.parameters, NamedParameter{holder, parameter});
  };
  size_t before = context.diagnostics.errorCount();
  listedBelow(context, pattern, match.range, isKnown);
  std::vector<size_t> stacked = listedAt(context, pattern, match.range);
  bool isOnly =
      match.parameters.empty() && llvm::all_of(match.modules, [&](size_t module) { return isListed(context, module); });
  if (context.diagnostics.errorCount() != before) {
    match.modules.clear();
    return;
  }
  if (!isOnly || stacked.empty() || (!entryStyles.placesModules() && entryStyles.placements.empty()))
    return;
  match.modules.clear();
  for (size_t parameter : stacked)
    match.parameters.push_back({context.model.parameters[parameter].names.front().module, parameter});
  llvm::sort(match.parameters);
}

void EntryBinder::checkParameterEntry(const EntryStatement &entry, const EntryStyles &entryStyles, EntryMatch &match) {
  if (match.parameters.empty())
    return;
  const NamedParameter &first = match.parameters.front();
  std::string owner = context.model.modules[first.module].path,
              leaf = context.leaf(first.parameter, first.module).str();
  std::string name = owner.empty() ? leaf : owner + "." + leaf;
  auto refuse = [&](const SourceRange &range, const std::string &why, const std::string &form) {
    context.diagnostics.error(range, "'" + name + "' is a parameter, and " + why)
        .help("write '" + (owner.empty() ? "\"\"" : owner) + ": " + form + "' for the module that holds it");
    match.parameters.clear();
  };
  for (const BoundStyle &style : entryStyles.styles)
    if (style.kind == StyleKind::Sequence)
      return refuse(style.range, "'sequence' splits the activations of a module", style.text);
  if (!entryStyles.borders.empty())
    return refuse(entryStyles.borders.front().layout.range, "a layout at a border is that of a module",
                  entryStyles.borders.front().layout.text);
  if (!entryStyles.placements.empty())
    return refuse(entryStyles.placements.front().second.range, "'parameter' lists those of a module",
                  "parameter { " + leaf + ": LAYOUT }");
}

/// The parameters of each module in a container, by the name of the module there: `w1.weight [48, 16]`.
static std::map<std::string, std::string> modulesIn(const Context &context, llvm::StringRef container) {
  std::map<std::string, std::string> modules;
  for (const NamedParameter &named : context.named) {
    llvm::StringRef holder = context.model.modules[named.module].path;
    std::string path = (holder + "." + context.leaf(named.parameter, named.module)).str();
    llvm::StringRef inside = path;
    if (!isInside(holder, container) || !inside.consume_front(container) || !inside.consume_front("."))
      continue;
    auto [module, name] = inside.split('.');
    std::string &text = modules[module.str()] += name.str();
    for (int64_t size : context.model.parameters[named.parameter].shape)
      text += " " + std::to_string(size);
    text += "; ";
  }
  return modules;
}

/// The help for a style of experts at a container: the list that has them, or why it is none; empty if nothing looks
/// like experts.
static std::string listHelp(const Context &context, llvm::StringRef path, llvm::StringRef style) {
  auto isNumber = [](llvm::StringRef name) { return !name.empty() && llvm::all_of(name, llvm::isDigit); };
  auto [list, number] = path.rsplit('.');
  if (isNumber(number))
    return ("if '" + path + "' is one of several experts, name their list: '" + list + "'").str();
  for (const OutlineModule &module : context.model.modules)
    if (auto [inner, name] = llvm::StringRef(module.path).rsplit('.'); isNumber(name) && isInside(inner, path))
      return ("if '" + module.path + "' is one of several experts, name their list: '" + inner + "'").str();
  std::map<std::string, std::string> modules = modulesIn(context, path);
  bool areEqual = modules.size() > 1 &&
                  llvm::all_of(modules, [&](const auto &each) { return each.second == modules.begin()->second; });
  if (!areEqual)
    return "";
  return ("'" + style + "' takes experts of a list, whose names are numbers from 0, and these are '" +
          modules.begin()->first + "', '" + std::next(modules.begin())->first +
          "' and so on: make them an 'nn.ModuleList'")
      .str();
}

void EntryBinder::dropWithoutParameters(const EntryStatement &entry, const EntryStyles &entryStyles,
                                        EntryMatch &match) {
  const BoundStyle *style = entryStyles.dividing();
  if (!style || match.modules.empty())
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
  bool isOfExperts = style->kind == StyleKind::Expert || style->kind == StyleKind::Within;
  std::string help = isOfExperts ? listHelp(context, path, styleName(style->kind)) : std::string();
  if (isOfExperts && help.empty() && !below.empty()) {
    // Which module has experts is known once the program is: its placement says so.
    match.modules.push_back(container);
    return;
  }
  Diagnostic &error =
      context.diagnostics.error(entry.pathRange, moduleText(match.path) + " has no parameters of its own, and '" +
                                                     styleName(style->kind).str() + "' splits parameters");
  if (!help.empty())
    error.help(std::move(help));
  error.help(below.empty() ? "activations follow their producer: remove the entry"
                           : "modules with parameters: " + quotedList(below, ","));
}

void EntryBinder::claimAll(size_t entry, const EntryStyles &entryStyles, const EntryMatch &match) {
  for (const NamedParameter &name : match.parameters)
    claims[{Claim::Parameter, name.module, static_cast<int64_t>(name.parameter)}].push_back(entry);
  for (size_t module : match.modules) {
    if (entryStyles.placesModules()) {
      // A style places the parameters that the module holds, too: an entry that names one of them must override it.
      claims[{Claim::Style, module, 0}].push_back(entry);
      for (size_t parameter : context.held[module])
        claims[{Claim::Parameter, module, static_cast<int64_t>(parameter)}].push_back(entry);
    }
    for (const BoundBorder &border : entryStyles.borders)
      claims[{border.isInput ? Claim::Input : Claim::Output, module, border.index}].push_back(entry);
  }
  for (const auto &[placement, layout] : entryStyles.placements)
    claimParameter(entry, *placement, layout, match.modules, entryStyles.placesModules());
}

void EntryBinder::claimParameter(size_t entry, const PlacementSyntax &placement, const BoundLayout &layout,
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

void EntryBinder::checkLayout(size_t parameter, const BoundLayout &layout) {
  size_t rank = context.model.parameters[parameter].shape.size();
  std::string name = parameterPath(context.model, context.model.parameters[parameter]);
  std::string problem, help;
  if (layout.rank && *layout.rank != rank) {
    problem =
        "'" + name + "' has " + std::to_string(rank) + " dims, and the layout lists " + std::to_string(*layout.rank);
    help = "list each dim, with '_' for one that stays whole";
  }
  for (const DimSplit &split : layout.splits)
    if (problem.empty() && split.dim >= static_cast<int64_t>(rank)) {
      problem = "'" + name + "' has " + std::to_string(rank) + " dims, and no dim " + std::to_string(split.dim);
      help = "dims count from 0";
    }
  for (size_t dim = 0; dim < layout.names.size() && problem.empty(); ++dim)
    if (auto named = extents.find(layout.names[dim]); named != extents.end() && named->second != 0)
      if (int64_t size = context.model.parameters[parameter].shape[dim]; size != named->second) {
        help = "'_' leaves a dim unnamed";
        problem = "dim " + std::to_string(dim) + " of '" + name + "' has size " + std::to_string(size) + ", and '" +
                  layout.names[dim] + "' is " + std::to_string(named->second);
      }
  if (!problem.empty() && badLayouts.insert(&layout).second)
    context.diagnostics.error(layout.range, problem).help(help);
}

void EntryBinder::finishModules() {
  std::map<size_t, BoundModule> modules;
  for (const auto &[claim, entry] : owners) {
    if (claim.kind == Claim::Parameter) {
      finishParameter(claim, entry);
      continue;
    }
    // Claims of styles are sorted first: a border of another entry does not replace the style's entry.
    auto [position, isNew] = modules.try_emplace(claim.module);
    BoundModule &module = position->second;
    if (isNew) {
      module.module = claim.module;
      module.entry = entry;
      module.range = context.syntax.entries[entry].range;
    }
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

void EntryBinder::finishParameter(const Claim &claim, size_t entry) {
  auto parameter = static_cast<size_t>(claim.index);
  if (NamedParameter name{claim.module, parameter}; llvm::is_contained(plan.entries[entry].parameters, name))
    plan.parameterStyles.push_back({name, styles[entry].styles, entry});
  for (const auto &[placement, layout] : styles[entry].placements)
    if (placement->parameter.text == context.leaf(parameter, claim.module))
      plan.parameters.push_back({parameter, layout, entry});
}

std::vector<bool> EntryBinder::claimedParameters() const {
  std::vector<bool> result(context.model.parameters.size(), false);
  std::vector<bool> styled(context.model.modules.size(), false);
  for (const auto &[claim, entry] : owners) {
    if (claim.kind == Claim::Parameter)
      result[static_cast<size_t>(claim.index)] = true;
    styled[claim.module] = styled[claim.module] || claim.kind == Claim::Style;
  }
  // A reader that has a style places the parameters that it reads.
  for (size_t i = 0; i < result.size(); ++i)
    for (size_t module : context.model.parameters[i].readers)
      result[i] = result[i] || styled[module];
  return result;
}

void bind::bindEntries(const Context &context, BoundPlan &plan) {
  EntryBinder(context, plan).run();
  llvm::stable_sort(plan.parameters,
                    [](const BoundParameter &a, const BoundParameter &b) { return a.parameter < b.parameter; });
  checkTies(context, plan);
}
