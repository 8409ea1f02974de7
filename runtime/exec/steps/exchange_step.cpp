//===- exchange_step.cpp - rows go to their experts and back --------------===//
//
// Ranks have different numbers of rows for each other, which the router chooses. All ranks of the group know all of
// them, so that each knows how much it sends and receives before the exchange.
//
// Example: two ranks with two experts each. Rank 0 has 3, 0, 1, 2 rows for the four experts, and rank 1 has 1, 1, 0, 4.
// To the experts, rank 0 sends 3 rows to itself and 3 to rank 1, and receives 3 and 2. Back, it sends 3 and 2 and
// receives 3 and 3.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/steps/collective_step.h"

#include "runtime/exec/moves/exchanged_experts.h"
#include "runtime/exec/origin.h"
#include "runtime/exec/prepare.h"
#include "runtime/exec/steps/group_step.h"
#include "runtime/exec/steps/reserved_rows.h"

#include <numeric>
#include <utility>

using namespace meshplan;

namespace {

class ExchangeStep final : public GroupStep {
public:
  ExchangeStep(const RankView &view, const artifact::Instruction &instruction, Group &group);

  std::string name() const override { return "exchange " + std::to_string(action().sequence()); }

private:
  /// What goes to the experts of each rank of the group, or arrives from each.
  struct Counts {
    std::vector<int64_t> sent, received;
  };

  Expected<Counts> rowCounts(const Tensor &counts) const;
  Status measure(std::span<const Tensor> values) override;
  Expected<CollectiveBuffers> makeBuffers(std::span<const Tensor> values) override;
  Expected<Pending> start(const CollectiveBuffers &buffers) override;

  bool goes;                            ///< to the experts, and not back
  const artifact::Instruction *counted; ///< has made the counts, in the module of the layer; null for none
  std::vector<Range> experts;           ///< of each rank of the group, among those of the counts
  Counts rows, elements;                ///< of this run
};

} // namespace

static int64_t sumOf(const std::vector<int64_t> &counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t(0));
}

/// The instruction that makes a value; null if the program starts with it.
static const artifact::Instruction *makerOf(const artifact::Program &program, int value) {
  std::optional<size_t> index = producingInstruction(program, value);
  return index ? program.instructions()->Get(static_cast<flatbuffers::uoffset_t>(*index)) : nullptr;
}

ExchangeStep::ExchangeStep(const RankView &view, const artifact::Instruction &instruction, Group &group)
    : GroupStep(view, instruction, group), goes(goesToExperts(view, action())),
      counted(makerOf(view.program(), action().counts())), experts(exchangedExperts(view, action(), group.ranks())) {}

Expected<ExchangeStep::Counts> ExchangeStep::rowCounts(const Tensor &counts) const {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor host, onHost(counts));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor rowMajor, contiguous(host));
  auto *numbers = reinterpret_cast<const int64_t *>(rowMajor.data());
  int64_t columns = rowMajor.shape()[1], own = group.index();
  for (const Range &range : experts)
    if (range.offset < 0 || range.offset + range.size > columns)
      return Status::error(StatusCode::corrupted, "experts ", range.offset, " to ", range.offset + range.size,
                           " are not among the ", columns, " whose rows the ranks have counted");
  auto rowsOf = [&](int64_t rank, const Range &range) {
    const int64_t *begin = numbers + rank * columns + range.offset;
    return std::accumulate(begin, begin + range.size, int64_t(0));
  };
  Counts rows;
  for (int64_t rank = 0; rank < group.size(); ++rank) {
    rows.sent.push_back(rowsOf(own, experts[rank]));
    rows.received.push_back(rowsOf(rank, experts[own]));
  }
  if (!goes)
    std::swap(rows.sent, rows.received);
  return rows;
}

Status ExchangeStep::measure(std::span<const Tensor> values) {
  auto found = rowCounts(values[action().counts()]);
  if (!found)
    return inContext(found.status());
  rows = *std::move(found);
  return goes ? checkReserve(view, action().output(), sumOf(rows.received), counted ? *counted : instruction)
              : Status();
}

Expected<CollectiveBuffers> ExchangeStep::makeBuffers(std::span<const Tensor> values) {
  CollectiveBuffers next;
  MESHPLAN_ASSIGN_OR_RETURN(next.outgoing, contiguous(values[action().input()]));
  std::vector<int64_t> shape = view.shape(action().output());
  shape[0] = sumOf(rows.received);
  MESHPLAN_ASSIGN_OR_RETURN(next.incoming, allocateTensor(shape, view.dtype(action().output())));
  if (int64_t sent = sumOf(rows.sent); sent != next.outgoing.shape()[0])
    return Status::error(StatusCode::internal, "sends ", sent, " rows of ", next.outgoing.shape()[0]);
  return next;
}

Expected<Pending> ExchangeStep::start(const CollectiveBuffers &buffers) {
  int64_t ofRow = 1;
  for (int64_t extent : buffers.incoming.shape().subspan(1))
    ofRow *= extent;
  elements = rows;
  for (std::vector<int64_t> *counts : {&elements.sent, &elements.received})
    for (int64_t &count : *counts)
      count *= ofRow;
  return group.startAllToAll(buffers.outgoing.data(), elements.sent, buffers.incoming.data(), elements.received,
                             buffers.outgoing.dtype(), label);
}

std::unique_ptr<StartStep> meshplan::makeExchange(const RankView &view, const artifact::Instruction &instruction,
                                                  Group &group) {
  return std::make_unique<ExchangeStep>(view, instruction, group);
}
