//===- row_gather_step.cpp - gathering the features of rows ---------------===//
//
// Ranks that differ in the features of rows of experts only have the same experts and tokens, and so equally many rows,
// whose number is known when the program runs. What arrives is the rows of one rank after those of another, and is
// copied to its features here: a copy that is prepared has a size.
//
// Example: two ranks with 3 rows each of 4 features, of which rank 0 has the first two. Both receive 12 elements: the 3
// x 2 of rank 0, and the 3 x 2 of rank 1. They are columns 0-1 and 2-3 of the result.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/steps/collective_step.h"

#include "runtime/exec/moves/row_overlap.h"
#include "runtime/exec/moves/transfer.h"
#include "runtime/exec/steps/group_step.h"

#include <numeric>

using namespace meshplan;

namespace {

class RowGatherStep final : public GroupStep {
public:
  RowGatherStep(const RankView &view, const artifact::Instruction &instruction, const Pieces &pieces, Group &group);

private:
  Expected<CollectiveBuffers> makeBuffers(std::span<const Tensor> values) override;
  Expected<Pending> start(const CollectiveBuffers &buffers) override;
  Expected<Tensor> outputOf(Tensor incoming) const override;

  std::vector<Overlap> features; ///< of each rank of the group, in the result
  int64_t rows = 0;              ///< of this run
  std::vector<int64_t> counts;   ///< elements from each rank
};

} // namespace

RowGatherStep::RowGatherStep(const RankView &view, const artifact::Instruction &instruction, const Pieces &pieces,
                             Group &group)
    : GroupStep(view, instruction, group) {
  int64_t dims = view.value(action().output()).routed()->dims();
  for (const TensorPiece &piece : pieces.tensors.front().receives)
    features.push_back(withoutRows(std::get<Overlap>(piece), dims));
}

Expected<CollectiveBuffers> RowGatherStep::makeBuffers(std::span<const Tensor> values) {
  const Tensor &own = values[action().input()];
  rows = own.shape().front();
  counts.clear();
  for (const Overlap &ofRank : features)
    counts.push_back(rows * ofRank.elementCount());
  int64_t all = std::accumulate(counts.begin(), counts.end(), int64_t(0));
  CollectiveBuffers next;
  MESHPLAN_ASSIGN_OR_RETURN(next.outgoing, contiguous(own));
  MESHPLAN_ASSIGN_OR_RETURN(next.incoming, allocateTensor({&all, 1}, own.dtype()));
  return next;
}

Expected<Pending> RowGatherStep::start(const CollectiveBuffers &buffers) {
  return group.startAllGather(buffers.outgoing.data(), buffers.incoming.data(), counts, buffers.outgoing.dtype(),
                              label);
}

Expected<Tensor> RowGatherStep::outputOf(Tensor incoming) const {
  std::vector<int64_t> shape = view.shape(action().output());
  shape[0] = rows;
  MESHPLAN_ASSIGN_OR_RETURN(Tensor gathered, allocateTensor(shape, incoming.dtype()));
  int64_t begin = 0;
  for (const Overlap &ofRank : features) {
    Overlap piece = withRows(ofRank, rows);
    MESHPLAN_RETURN_IF_ERROR(unpackPiece(piece, incoming, begin, gathered));
    begin += piece.elementCount();
  }
  return gathered;
}

std::unique_ptr<StartStep> meshplan::makeRowGather(const RankView &view, const artifact::Instruction &instruction,
                                                   const Pieces &pieces, Group &group) {
  return std::make_unique<RowGatherStep>(view, instruction, pieces, group);
}
