//===- claims.h - which entry owns what ---------------------------*- C++ -*-===//
//
// An entry claims the style of the modules that it matches, their borders, and
// the parameters that they hold; one whose path names parameters claims these. A claim has one owner. Of several
// entries that claim the same, the one that matches least owns it, and all but the one that matches most must be marked
// `override`. Internal to binding.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_BIND_CLAIMS_H
#define MESHPLAN_COMPILER_FRONTEND_BIND_CLAIMS_H

#include "compiler/frontend/bind/context.h"

#include <compare>
#include <map>
#include <vector>

namespace meshplan::bind {

/// What can be claimed: the style of a module, one border of a module, the
/// storage of a parameter that a module holds.
struct Claim {
  enum Kind { Style, Input, Output, Parameter } kind;
  size_t module;
  int64_t index; ///< of the border or the parameter

  auto operator<=>(const Claim &) const = default;
};

/// The entries that claim something, by their number.
using ClaimMap = std::map<Claim, std::vector<size_t>>;

/// The owner of each claim, of entries as written: with all that their paths match. Reports entries that contradict
/// each other, an override that is not a strict subset, and one that overrides nothing.
std::map<Claim, size_t> settleClaims(const Context &context, const ClaimMap &claims,
                                     llvm::ArrayRef<EntryMatch> entries);

} // namespace meshplan::bind

#endif // MESHPLAN_COMPILER_FRONTEND_BIND_CLAIMS_H
