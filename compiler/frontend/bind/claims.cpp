//===- claims.cpp - which entry owns what ----------------------------------===//
//
// A claim is something that one entry decides: the style of a module, the layout at a border, the placement of a
// parameter. Several entries may match it. The entry that matches least owns it, but it must say so with `override` and
// match a strict subset; otherwise a pattern that is edited later could change what another entry means, and nothing
// would tell. For example, `layers.*.mlp: colwise tp` and `override layers.0.mlp: replicate`.
//
// Only neighbours in the order of sizes are compared. If a matches a strict subset of b, and b one of c, then a matches
// a strict subset of c, so the chain of neighbours is enough.

#include "compiler/frontend/bind/claims.h"
#include "compiler/support/layer_names.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

class ClaimSettler {
public:
  ClaimSettler(const Context &context, llvm::ArrayRef<EntryMatch> entries) : context(context), entries(entries) {}

  std::map<Claim, size_t> run(const ClaimMap &claims);

private:
  void settle(const Claim &claim, std::vector<size_t> claimants);
  NamedParameter contested(const Claim &claim, std::pair<size_t, size_t> pair) const;
  std::vector<NamedParameter> extentOf(const EntryMatch &entry) const;
  static bool isStrictlyInside(llvm::ArrayRef<NamedParameter> inner, llvm::ArrayRef<NamedParameter> outer);
  void checkOverride(size_t inner, size_t outer);
  static std::string countText(const EntryMatch &entry);
  std::string nameOf(const NamedParameter &name) const;
  void reportConflicts();
  void reportIdleOverrides();

  const Context &context;
  llvm::ArrayRef<EntryMatch> entries;
  std::map<Claim, size_t> owners;
  static constexpr size_t noParameter = SIZE_MAX;
  std::map<std::pair<size_t, size_t>, std::set<NamedParameter>> conflicts; ///< by pair of entries
  std::set<std::pair<size_t, size_t>> checkedOverrides;
  std::set<size_t> busyOverrides;
};

} // namespace

std::map<Claim, size_t> ClaimSettler::run(const ClaimMap &claims) {
  for (const auto &[claim, claimants] : claims)
    settle(claim, claimants);
  reportConflicts();
  reportIdleOverrides();
  return std::move(owners);
}

/// Gives a claim to the entry that matches least; records the pairs of entries that conflict.
void ClaimSettler::settle(const Claim &claim, std::vector<size_t> claimants) {
  llvm::stable_sort(claimants, [&](size_t a, size_t b) {
    auto key = [&](size_t entry) {
      return std::tuple(entries[entry].modules.size(), entries[entry].parameters.size(), !entries[entry].isOverride);
    };
    return key(a) < key(b);
  });
  for (size_t i = 0; i + 1 < claimants.size(); ++i) {
    auto pair = std::minmax(claimants[i], claimants[i + 1]);
    // Of entries of equal size the override comes first, and fails as one that is not a strict subset.
    bool isOverride = entries[claimants[i]].isOverride || entries[claimants[i + 1]].isOverride;
    if (!isOverride)
      conflicts[pair].insert(contested(claim, pair));
    else if (!checkedOverrides.count(pair))
      checkOverride(claimants[i], claimants[i + 1]);
    // The same two entries meet at every module that both match; they are compared once.
    checkedOverrides.insert(pair);
  }
  owners[claim] = claimants.front();
  for (size_t entry : claimants)
    if (claimants.size() > 1 && entries[entry].isOverride)
      busyOverrides.insert(entry);
}

/// The module for which two entries conflict, or the parameter, if one of their paths names it.
NamedParameter ClaimSettler::contested(const Claim &claim, std::pair<size_t, size_t> pair) const {
  NamedParameter name{claim.module, static_cast<size_t>(claim.index)};
  bool isNamed = claim.kind == Claim::Parameter && (llvm::is_contained(entries[pair.first].parameters, name) ||
                                                    llvm::is_contained(entries[pair.second].parameters, name));
  return isNamed ? name : NamedParameter{claim.module, noParameter};
}

/// The modules of an entry, the parameters that they hold, and those that its path names, sorted.
std::vector<NamedParameter> ClaimSettler::extentOf(const EntryMatch &entry) const {
  std::vector<NamedParameter> result = entry.parameters;
  for (size_t module : entry.modules) {
    result.push_back({module, noParameter});
    for (size_t parameter : context.held[module])
      result.push_back({module, parameter});
  }
  llvm::sort(result);
  return result;
}

bool ClaimSettler::isStrictlyInside(llvm::ArrayRef<NamedParameter> inner, llvm::ArrayRef<NamedParameter> outer) {
  return inner.size() < outer.size() && std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
}

void ClaimSettler::checkOverride(size_t inner, size_t outer) {
  const EntryMatch &small = entries[inner];
  const EntryMatch &large = entries[outer];
  std::vector<NamedParameter> smallExtent = extentOf(small), largeExtent = extentOf(large);
  if (small.isOverride && isStrictlyInside(smallExtent, largeExtent))
    return;
  const EntryMatch &override = small.isOverride ? small : large;
  const EntryMatch &other = small.isOverride ? large : small;
  std::vector<NamedParameter> common;
  std::set_intersection(smallExtent.begin(), smallExtent.end(), largeExtent.begin(), largeExtent.end(),
                        std::back_inserter(common));
  // If both entries name modules only, modules are counted, without their parameters.
  bool namesModules = small.parameters.empty() && large.parameters.empty();
  size_t both = llvm::count_if(
      common, [&](const NamedParameter &name) { return (name.parameter == noParameter) == namesModules; });
  context.diagnostics
      .error(override.range, "an override must match a strict subset of what it overrides; " +
                                 moduleText(override.path) + " matches " + countText(override) + ", " +
                                 moduleText(other.path) + " matches " + countText(other) + ", and " +
                                 std::to_string(both) + (both == 1 ? " is" : " are") + " in both")
      .note(other.range, "the other entry is here")
      .help("narrow the override to " + std::string(namesModules ? "modules" : "parameters") +
            " of the other entry, and to fewer than all of them");
}

/// `2 modules`, `1 parameter`, `1 module and 1 parameter`.
std::string ClaimSettler::countText(const EntryMatch &entry) {
  auto text = [](size_t count, const std::string &what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  std::string modules = text(entry.modules.size(), "module"), parameters = text(entry.parameters.size(), "parameter");
  if (entry.parameters.empty())
    return modules;
  return entry.modules.empty() ? parameters : modules + " and " + parameters;
}

std::string ClaimSettler::nameOf(const NamedParameter &name) const {
  const std::string &module = context.model.modules[name.module].path;
  if (name.parameter == noParameter)
    return moduleText(module);
  return "'" + module + (module.empty() ? "" : ".") + context.leaf(name.parameter, name.module).str() + "'";
}

void ClaimSettler::reportConflicts() {
  for (const auto &[pair, names] : conflicts) {
    std::string more = names.size() > 1 ? " and " + std::to_string(names.size() - 1) + " more" : "";
    context.diagnostics.error(entries[pair.second].range, "two entries match " + nameOf(*names.begin()) + more)
        .note(entries[pair.first].range, "the other entry is here")
        .help("narrow one of them, or mark the one that matches less with 'override'");
  }
}

void ClaimSettler::reportIdleOverrides() {
  for (size_t i = 0; i < entries.size(); ++i)
    if (entries[i].isOverride && !(entries[i].modules.empty() && entries[i].parameters.empty()) &&
        !busyOverrides.count(i))
      context.diagnostics.error(entries[i].range, moduleText(entries[i].path) + " overrides nothing")
          .help("remove 'override'");
}

std::map<Claim, size_t> bind::settleClaims(const Context &context, const ClaimMap &claims,
                                           llvm::ArrayRef<EntryMatch> entries) {
  return ClaimSettler(context, entries).run(claims);
}
