//===- written_values.h - which of the copies goes to disk -------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_WRITTEN_VALUES_H
#define MESHPLAN_RUNTIME_CHECKPOINT_WRITTEN_VALUES_H

#include "runtime/exec/rank_view.h"

namespace meshplan {

/// For each of the values whether this rank writes its part. Of the ranks that hold the same part of a value one does:
/// values that as many ranks hold are dealt to them in order, so that each writes about as many bytes. Follows from the
/// program alone, so that the ranks need not talk. Peer: `dedup_save_to_lowest_rank=False` of
/// torch.distributed.checkpoint.
std::vector<bool> writtenValues(const RankView &place, std::span<const int> values);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_WRITTEN_VALUES_H
