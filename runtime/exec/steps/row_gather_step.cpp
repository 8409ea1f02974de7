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

#include "runtime/exec/moves/transfer.h"
#include "runtime/exec/origin.h"
#include "runtime/exec/prepare.h"

#include <numeric>
#include <utility>

using namespace meshplan;

namespace {

class RowGatherStep final : public StartStep {
public:
  RowGatherStep(const RankView &view, const artifact::Instruction &instruction, const Pieces &pieces, Group &group);

  Status run(std::span<Tensor> values) override;
  Status finish(std::span<Tensor> values) override;
  std::optional<MoveInterval> lastMove() const override { return interval; }
  std::string name() const override { return "all-gather " + std::to_string(action().sequence()); }

private:
  struct Flight {
    Tensor outgoing, incoming;
    Pending pending; // last member: destroyed first, while its buffers exist
  };

  const artifact::Start &action() const { return *instruction.action_as_Start(); }
  Status takeOff(const Tensor &rows);
  Expected<Tensor> land(const Tensor &incoming) const;

  RankView view;
  const artifact::Instruction &instruction;
  Group &group;
  std::vector<Overlap> features; ///< of each rank of the group, in the result
  CollectiveLabel label;
  std::vector<int64_t> counts; ///< elements from each rank
  Flight flight;
  std::optional<MoveInterval> interval; ///< of the last finished run
};

} // namespace

RowGatherStep::RowGatherStep(const RankView &view, const artifact::Instruction &instruction, const Pieces &pieces,
                             Group &group)
    : view(view), instruction(instruction), group(group),
      label{.sequence = action().sequence(), .origin = originText(view.schedule(), instruction)} {
  auto dims = view.value(action().output()).routed()->dims();
  for (const TensorPiece &piece : pieces.tensors.front().receives) {
    features.push_back(std::get<Overlap>(piece));
    // A rank stores one dim, the rows, instead of those of experts and tokens.
    std::vector<std::vector<CommonRun>> &runs = features.back().dims;
    runs.erase(runs.begin(), runs.begin() + dims);
  }
}

Status RowGatherStep::takeOff(const Tensor &rows) {
  counts.clear();
  for (const Overlap &ofRank : features)
    counts.push_back(rows.shape().front() * ofRank.elementCount());
  int64_t all = std::accumulate(counts.begin(), counts.end(), int64_t(0));
  MESHPLAN_ASSIGN_OR_RETURN(flight.outgoing, contiguous(rows));
  MESHPLAN_ASSIGN_OR_RETURN(flight.incoming, allocateTensor({&all, 1}, rows.dtype()));
  return Status();
}

Status RowGatherStep::run(std::span<Tensor> values) {
  if (Status status = takeOff(values[action().input()]); !status.ok())
    return status.withContext(instructionContext(view, name(), instruction));
  MESHPLAN_ASSIGN_OR_RETURN(flight.pending, group.startAllGather(flight.outgoing.data(), flight.incoming.data(), counts,
                                                                 flight.outgoing.dtype(), label));
  return Status();
}

Expected<Tensor> RowGatherStep::land(const Tensor &incoming) const {
  std::vector<int64_t> shape = view.shape(action().output());
  int64_t ofRow = std::accumulate(shape.begin() + 1, shape.end(), int64_t(1), std::multiplies<>());
  shape[0] = ofRow == 0 ? 0 : incoming.elementCount() / ofRow;
  MESHPLAN_ASSIGN_OR_RETURN(Tensor rows, allocateTensor(shape, incoming.dtype()));
  int64_t begin = 0;
  for (Overlap piece : features) {
    piece.dims.insert(piece.dims.begin(), {CommonRun{0, 0, shape[0]}});
    MESHPLAN_RETURN_IF_ERROR(unpackPiece(piece, incoming, begin, rows));
    begin += piece.elementCount();
  }
  return rows;
}

Status RowGatherStep::finish(std::span<Tensor> values) {
  Flight landing = std::exchange(flight, Flight());
  MESHPLAN_RETURN_IF_ERROR(landing.pending->wait());
  interval = landing.pending->interval();
  landing.outgoing = Tensor();
  auto rows = land(landing.incoming);
  if (!rows)
    return rows.status().withContext(instructionContext(view, name(), instruction));
  values[action().output()] = *std::move(rows);
  return Status();
}

std::unique_ptr<StartStep> meshplan::makeRowGather(const RankView &view, const artifact::Instruction &instruction,
                                                   const Pieces &pieces, Group &group) {
  return std::make_unique<RowGatherStep>(view, instruction, pieces, group);
}
