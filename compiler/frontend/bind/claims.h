//===- claims.h - which entry owns what ---------------------------*- C++ -*-===//
//
// An entry claims the style and the borders of the modules that it matches, and the parameters that these hold; an
// entry whose path names parameters claims these. A claim has one owner. Several entries may have the same claim if the
// matches of each are a strict subset of those of the next. The entry with the fewest matches owns the claim. All
// entries except the one with the most matches must be marked `override`. Internal to binding.
//
// Example: `layers.*.mlp: colwise tp` and `override layers.0.mlp: replicate` both claim the style of layers.0.mlp. The
// second entry matches one module instead of all layers, so it owns the claim. Without `override` it is an error.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_BIND_CLAIMS_H
#define MESHPLAN_COMPILER_FRONTEND_BIND_CLAIMS_H

#include "compiler/frontend/bind/context.h"

#include <compare>
#include <map>
#include <vector>

namespace meshplan::bind {

/// The kinds of claims: the style of a module, a border of a module, the storage of a parameter that a module holds.
struct Claim {
  enum Kind { Style, Input, Output, Parameter } kind;
  size_t module;
  int64_t index; ///< of the border or the parameter

  auto operator<=>(const Claim &) const = default;
};

/// The entries with each claim, by index.
using ClaimMap = std::map<Claim, std::vector<size_t>>;

/// The owner of each claim. `entries` have everything that their paths match. Reports conflicting entries, an override
/// that is not a strict subset, and one that overrides nothing.
std::map<Claim, size_t> settleClaims(const Context &context, const ClaimMap &claims,
                                     llvm::ArrayRef<EntryMatch> entries);

} // namespace meshplan::bind

#endif // MESHPLAN_COMPILER_FRONTEND_BIND_CLAIMS_H
