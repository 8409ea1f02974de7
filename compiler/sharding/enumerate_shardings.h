//===- enumerate_shardings.h - every way to divide a call -------*- C++ -*-===//
//
// Lists the shardings that a factor rule allows. The differential test of a
// record runs its sample under each of them on simulated ranks.
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
  even,   ///< every shard of a factor has the same number of blocks
  uneven, ///< shards may differ by a block, as long as each has at least one
};

/// Every assignment of up to two of `axes` to factors that are not `whole`, in both orders where two axes divide one
/// factor. The replicated assignment comes first. A divided `sum` or `max` factor makes the results partial; an
/// assignment that divides one of each has no sharding and is left out. Assignments that a dim cannot express are left
/// out, too: a minor factor is divided only if the major one is divided down to single indices. `axes` has at least one
/// axis, which gives the context. The order is deterministic.
std::vector<CallShardings> enumerateShardings(const FactorRule &rule, llvm::ArrayRef<plan::MeshAxisAttr> axes,
                                              Division division = Division::even);

/// The same for a call with a record, restricted by what only the call tells: no partial results where an addend must
/// be split off first, no shared results where sums over sharers must be split first. In addition, for each set of
/// operands in which the call is linear, these operands partial over one axis that divides nothing.
std::vector<CallShardings> legalShardings(const CallView &call, const OpRecord &record,
                                          llvm::ArrayRef<plan::MeshAxisAttr> axes, Division division = Division::even);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_ENUMERATE_SHARDINGS_H
