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
#include "runtime/exec/steps/reserved_rows.h"

#include <numeric>
#include <utility>

using namespace meshplan;

namespace {

class ExchangeStep final : public StartStep {
public:
  ExchangeStep(const RankView &view, const artifact::Instruction &instruction, Group &group);

  Status run(std::span<Tensor> values) override;
  Status finish(std::span<Tensor> values) override;
  std::optional<MoveInterval> lastMove() const override { return interval; }
  std::string name() const override { return "exchange " + std::to_string(action().sequence()); }

private:
  /// Numbers of rows that go to the experts of each rank of the group, or arrive from each.
  struct RowCounts {
    std::vector<int64_t> sent, received;
  };
  struct Flight {
    Tensor outgoing, incoming;
    Pending pending; // last member: destroyed first, while its buffers exist
  };

  const artifact::Start &action() const { return *instruction.action_as_Start(); }
  Expected<RowCounts> rowCounts(const Tensor &counts) const;
  Expected<Flight> takeOff(std::span<const Tensor> values) const;

  RankView view;
  const artifact::Instruction &instruction;
  Group &group;
  bool goes;                            ///< to the experts, and not back
  const artifact::Instruction *counted; ///< has made the counts, in the module of the layer; null for none
  std::vector<Range> experts;           ///< of each rank of the group, among those of the counts
  CollectiveLabel label;
  std::vector<int64_t> sendCounts, receiveCounts; ///< elements
  Flight flight;
  std::optional<MoveInterval> interval; ///< of the last finished run
};

} // namespace

/// The instruction that makes a value; null if the program starts with it.
static const artifact::Instruction *makerOf(const artifact::Program &program, int value) {
  std::optional<size_t> index = producingInstruction(program, value);
  return index ? program.instructions()->Get(static_cast<flatbuffers::uoffset_t>(*index)) : nullptr;
}

ExchangeStep::ExchangeStep(const RankView &view, const artifact::Instruction &instruction, Group &group)
    : view(view), instruction(instruction), group(group), goes(goesToExperts(view, action())),
      counted(makerOf(view.program(), action().counts())), experts(exchangedExperts(view, action(), group.ranks())),
      label{.sequence = action().sequence(), .origin = originText(view.schedule(), instruction)} {}

Expected<ExchangeStep::RowCounts> ExchangeStep::rowCounts(const Tensor &counts) const {
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
  RowCounts rows;
  for (int64_t rank = 0; rank < group.size(); ++rank) {
    rows.sent.push_back(rowsOf(own, experts[rank]));
    rows.received.push_back(rowsOf(rank, experts[own]));
  }
  if (!goes)
    std::swap(rows.sent, rows.received);
  return rows;
}

Expected<ExchangeStep::Flight> ExchangeStep::takeOff(std::span<const Tensor> values) const {
  Flight next;
  MESHPLAN_ASSIGN_OR_RETURN(next.outgoing, contiguous(values[action().input()]));
  std::vector<int64_t> shape = view.shape(action().output());
  shape[0] = std::accumulate(receiveCounts.begin(), receiveCounts.end(), int64_t(0));
  MESHPLAN_ASSIGN_OR_RETURN(next.incoming, allocateTensor(shape, view.dtype(action().output())));
  return next;
}

Status ExchangeStep::run(std::span<Tensor> values) {
  auto rows = rowCounts(values[action().counts()]);
  if (!rows)
    return rows.status().withContext(instructionContext(view, name(), instruction));
  if (goes)
    MESHPLAN_RETURN_IF_ERROR(checkReserve(view, action().output(),
                                          std::accumulate(rows->received.begin(), rows->received.end(), int64_t(0)),
                                          counted ? *counted : instruction));
  sendCounts = std::move(rows->sent);
  receiveCounts = std::move(rows->received);
  auto next = takeOff(values);
  if (!next)
    return next.status().withContext(instructionContext(view, name(), instruction));
  flight = *std::move(next);
  int64_t sent = std::accumulate(sendCounts.begin(), sendCounts.end(), int64_t(0));
  if (sent != flight.outgoing.shape()[0])
    return Status::error(StatusCode::internal, "sends ", sent, " rows of ", flight.outgoing.shape()[0])
        .withContext(instructionContext(view, name(), instruction));
  int64_t elements = 1;
  for (int64_t extent : flight.incoming.shape().subspan(1))
    elements *= extent;
  for (std::vector<int64_t> *counts : {&sendCounts, &receiveCounts})
    for (int64_t &count : *counts)
      count *= elements;
  MESHPLAN_ASSIGN_OR_RETURN(flight.pending,
                            group.startAllToAll(flight.outgoing.data(), sendCounts, flight.incoming.data(),
                                                receiveCounts, flight.outgoing.dtype(), label));
  return Status();
}

Status ExchangeStep::finish(std::span<Tensor> values) {
  Flight landing = std::exchange(flight, Flight());
  MESHPLAN_RETURN_IF_ERROR(landing.pending->wait());
  interval = landing.pending->interval();
  values[action().output()] = std::move(landing.incoming);
  return Status();
}

std::unique_ptr<StartStep> meshplan::makeExchange(const RankView &view, const artifact::Instruction &instruction,
                                                  Group &group) {
  return std::make_unique<ExchangeStep>(view, instruction, group);
}
