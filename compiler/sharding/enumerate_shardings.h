//===- enumerate_shardings.h - every way to divide a call -------*- C++ -*-===//
//
// What a factor rule allows, listed. A record's differential test runs its
// sample under each of these on simulated ranks.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_ENUMERATE_SHARDINGS_H
#define MESHPLAN_COMPILER_SHARDING_ENUMERATE_SHARDINGS_H

#include "compiler/sharding/op_record.h"
#include <vector>

namespace meshplan {

/// Closed shardings of all tensors of a call.
struct CallShardings {
  llvm::SmallVector<plan::ShardingAttr, 4> operands;
  llvm::SmallVector<plan::ShardingAttr, 2> results;
};

/// Whether the shards of a dim must have the same size.
enum class Division {
  even,   ///< the units of every factor divide by the number of shards
  uneven, ///< also factors with a remainder, as long as each shard has a unit
};

/// Every assignment of up to two of `axes` to factors that are not whole, both orders where two axes divide one factor,
/// the replicated one first. A divided `sum` or `max` factor makes the results partial; one of each has no sharding and
/// is left out. So are assignments that a dim cannot express: a factor below another is divided only where the one
/// above is divided down to single indices. At least one axis is needed, for its context; deterministic.
std::vector<CallShardings> enumerateShardings(const FactorRule &rule, llvm::ArrayRef<plan::MeshAxisAttr> axes,
                                              Division division = Division::even);

/// The above for a call with a record, and what is known only of the call: no partial results where an addend must be
/// split off first, no shared results where sums over sharers must be, and, for each set of operands in which the call
/// is linear, these operands partial over one axis that divides nothing.
std::vector<CallShardings> legalShardings(const CallView &call, const OpRecord &record,
                                          llvm::ArrayRef<plan::MeshAxisAttr> axes, Division division = Division::even);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_ENUMERATE_SHARDINGS_H
