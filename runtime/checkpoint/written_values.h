//===- written_values.h - which rank writes which shard ---------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_WRITTEN_VALUES_H
#define MESHPLAN_RUNTIME_CHECKPOINT_WRITTEN_VALUES_H

#include "runtime/exec/rank_view.h"

namespace meshplan {

/// For each value, whether this rank writes its shard. Among the ranks that hold the same shard of a value, exactly one
/// writes it. The values with equally many holders are distributed over them in order, so that each writes about the
/// same number of bytes. Follows from the program alone; no communication. Peer: `dedup_save_to_lowest_rank=False` of
/// torch.distributed.checkpoint.
///
/// Example: two ranks hold three replicated values of 4, 2 and 2 bytes. The middles lie at 2, 5 and 7 of 8 bytes, so
/// rank 0 writes the first value and rank 1 the other two.
std::vector<bool> writtenValues(const RankView &place, std::span<const int> values);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_WRITTEN_VALUES_H
