//===- collectives.h - what each kind of collective sends -------*- C++ -*-===//
//
// How many bytes a collective sends. Nothing else in the tree decides it: propagation chooses between reshards by it,
// the scheduler estimates times from it, and reports count it. It is here because both dialects share the kinds. The
// runtime does not need it.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_BASE_COLLECTIVES_H
#define MESHPLAN_DIALECT_BASE_COLLECTIVES_H

#include "dialect/base/base.h"

namespace meshplan::base {

/// True if the collective reduces addends of the ranks to one value.
inline bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter;
}

/// Bytes that one rank of a group of n `ranks` sends. It receives as many. `before` and `after` are the bytes of its
/// tensor before and after the collective, largest over all ranks.
///
///   all_gather       (n - 1) / n after       on a ring, every piece but one passes through the rank
///   reduce_scatter   (n - 1) / n before      the same in reverse
///   all_reduce       2 (n - 1) / n before    a reduce-scatter, then an all-gather
///   all_to_all       (n - 1) / n before      sent directly; the rank keeps its own piece
///   permute          before                  sent directly
///
/// A piece is an n-th of the tensor, so the number may be a fraction. If pieces differ in size it is the mean over the
/// group.
inline double sentBytes(CollectiveKind kind, int64_t before, int64_t after, int64_t ranks) {
  auto allButOnePiece = [&](int64_t bytes) {
    return static_cast<double>((ranks - 1) * bytes) / static_cast<double>(ranks);
  };
  switch (kind) {
  case CollectiveKind::all_gather:
    return allButOnePiece(after);
  case CollectiveKind::reduce_scatter:
  case CollectiveKind::all_to_all:
    return allButOnePiece(before);
  case CollectiveKind::all_reduce:
    return 2 * allButOnePiece(before);
  case CollectiveKind::permute:
    return static_cast<double>(before);
  }
  llvm_unreachable("unknown kind");
}

} // namespace meshplan::base

#endif // MESHPLAN_DIALECT_BASE_COLLECTIVES_H
