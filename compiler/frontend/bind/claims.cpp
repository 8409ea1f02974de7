//===- claims.cpp - which entry owns what ----------------------------------===//

#include "compiler/frontend/bind/claims.h"
#include "compiler/support/layer_names.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

class ClaimSettler {
public:
  ClaimSettler(const Context &context, llvm::ArrayRef<EntryMatch> entries) : context(context), entries(entries) {}

  std::map<Claim, size_t> run(const ClaimMap &claims) {
    for (const auto &[claim, claimants] : claims)
      settle(claim, claimants);
    reportConflicts();
    reportIdleOverrides();
    return std::move(owners);
  }

private:
  /// Gives a claim to the entry that matches least; remembers the pairs that contradict each other.
  void settle(const Claim &claim, std::vector<size_t> claimants) {
    llvm::stable_sort(claimants, [&](size_t a, size_t b) {
      return std::pair(entries[a].modules.size(), !entries[a].isOverride) <
             std::pair(entries[b].modules.size(), !entries[b].isOverride);
    });
    for (size_t i = 0; i + 1 < claimants.size(); ++i) {
      auto pair = std::minmax(claimants[i], claimants[i + 1]);
      bool isOverride = entries[claimants[i]].isOverride || entries[claimants[i + 1]].isOverride;
      if (!isOverride)
        conflicts[pair].insert(claim.module);
      else if (!checkedOverrides.count(pair))
        checkOverride(claimants[i], claimants[i + 1]);
      checkedOverrides.insert(pair);
    }
    owners[claim] = claimants.front();
    for (size_t entry : claimants)
      if (claimants.size() > 1 && entries[entry].isOverride)
        busyOverrides.insert(entry);
  }

  void checkOverride(size_t inner, size_t outer) {
    const EntryMatch &small = entries[inner];
    const EntryMatch &large = entries[outer];
    if (small.isOverride && isStrictSubset(small.modules, large.modules))
      return;
    const EntryMatch &override = small.isOverride ? small : large;
    const EntryMatch &other = small.isOverride ? large : small;
    std::vector<size_t> common;
    std::set_intersection(override.modules.begin(), override.modules.end(), other.modules.begin(), other.modules.end(),
                          std::back_inserter(common));
    context.diagnostics
        .error(override.range, "an override must match a strict subset of what it overrides; " +
                                   moduleText(override.path) + " matches " + modulesText(override.modules.size()) +
                                   ", " + moduleText(other.path) + " matches " + modulesText(other.modules.size()) +
                                   ", and " + std::to_string(common.size()) + (common.size() == 1 ? " is" : " are") +
                                   " in both")
        .note(other.range, "the other entry is here")
        .help("narrow the override to modules of the other entry, and to fewer than all of them");
  }

  static std::string modulesText(size_t count) { return std::to_string(count) + (count == 1 ? " module" : " modules"); }

  void reportConflicts() {
    for (const auto &[pair, modules] : conflicts) {
      const std::string &path = context.model.modules[*modules.begin()].path;
      std::string more = modules.size() > 1 ? " and " + std::to_string(modules.size() - 1) + " more" : "";
      context.diagnostics.error(entries[pair.second].range, "two entries match " + moduleText(path) + more)
          .note(entries[pair.first].range, "the other entry is here")
          .help("narrow one of them, or mark the one that matches less with 'override'");
    }
  }

  void reportIdleOverrides() {
    for (size_t i = 0; i < entries.size(); ++i)
      if (entries[i].isOverride && !entries[i].modules.empty() && !busyOverrides.count(i))
        context.diagnostics.error(entries[i].range, moduleText(entries[i].path) + " overrides nothing")
            .help("remove 'override'");
  }

  const Context &context;
  llvm::ArrayRef<EntryMatch> entries;
  std::map<Claim, size_t> owners;
  std::map<std::pair<size_t, size_t>, std::set<size_t>> conflicts; ///< modules by pair of entries
  std::set<std::pair<size_t, size_t>> checkedOverrides;
  std::set<size_t> busyOverrides;
};

} // namespace

std::map<Claim, size_t> bind::settleClaims(const Context &context, const ClaimMap &claims,
                                           llvm::ArrayRef<EntryMatch> entries) {
  return ClaimSettler(context, entries).run(claims);
}
