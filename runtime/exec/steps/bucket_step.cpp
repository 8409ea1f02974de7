//===- bucket_step.cpp - coalesced collectives ----------------------------===//
//
// Example: gradients A of 6 elements and B of 4 are reduced and scattered over 2 ranks, in one collective.
//
//   members       A: runs [0, 3) [3, 6)     B: runs [0, 2) [2, 4)
//   packed        a0 a1 a2 b0 b1   a3 a4 a5 b2 b3      counts 5 and 5
//   rank 1 gets   the sums of      a3 a4 a5 b2 b3      unpacked into its shards of A and B
//
// The elements for a rank are adjacent, as the backends require, and those of a tensor are not. With one tensor both
// are, and nothing is copied. If the outputs of a reduction have adjacent targets, the backend writes to these
// directly.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/steps/bucket_step.h"

#include "runtime/exec/origin.h"
#include "runtime/exec/prepare.h"
#include "runtime/exec/transfer.h"
#include "runtime/schema/packing.h"

#include <numeric>
#include <utility>

using namespace meshplan;

namespace {

/// One of the tensors of the bucket.
struct Member {
  int input, output;
  int target; ///< the value that the output overwrites in place, or -1
  std::vector<int64_t> outputShape;
  /// The run of each rank of the group, as elements of the tensor that is not cut: the output of a gather, or the input
  /// of a reduce-scatter. An all-reduce has a single run.
  std::vector<Range> runs;
};

class BucketStep final : public StartStep {
public:
  BucketStep(const RankView &view, const artifact::Instruction &instruction, std::vector<Member> members, Group &group)
      : view(view), instruction(instruction), members(std::move(members)), group(group), counts(countRuns()),
        total(std::accumulate(counts.begin(), counts.end(), int64_t(0))),
        label{.sequence = action().sequence(), .origin = originText(view.schedule(), instruction)} {}

  Status run(std::span<Tensor> values) override;
  Status finish(std::span<Tensor> values) override;
  int64_t packedBytes() const override { return packed; }
  std::string name() const override {
    return std::string(kindName(action().kind())) + " " + std::to_string(action().sequence());
  }

private:
  struct Flight {
    Tensor outgoing, incoming;
    std::vector<Tensor> targets;
    Packing packing;
    Pending pending; // last member: destroyed first, while its buffers exist
  };

  const artifact::Start &action() const { return *instruction.action_as_Start(); }
  bool gathers() const { return action().kind() == artifact::CollectiveKind::all_gather; }
  bool scatters() const { return action().kind() == artifact::CollectiveKind::reduce_scatter; }

  /// The number of elements of each rank, summed over the tensors.
  std::vector<int64_t> countRuns() const;
  /// The numbers of elements that this rank sends and receives.
  int64_t sentCount() const { return gathers() ? counts[group.index()] : total; }
  int64_t receivedCount() const { return scatters() ? counts[group.index()] : total; }

  Expected<Flight> takeOff(std::span<const Tensor> values);
  Expected<Tensor> pack(std::span<const Tensor> values);
  Expected<Pending> start();
  Status land(std::span<Tensor> values, const Flight &landing);
  Expected<Tensor> outputOf(size_t index, const Flight &landing) const;
  Status unpack(std::span<Tensor> values, const Flight &landing);

  RankView view;
  const artifact::Instruction &instruction;
  std::vector<Member> members;
  Group &group;
  std::vector<int64_t> counts;
  int64_t total;
  int64_t packed = 0; // bytes
  CollectiveLabel label;
  Flight flight;
};

std::vector<int64_t> BucketStep::countRuns() const {
  std::vector<int64_t> sums(members.front().runs.size(), 0);
  for (const Member &member : members)
    for (size_t rank = 0; rank < sums.size(); ++rank)
      sums[rank] += member.runs[rank].size;
  return sums;
}

Status BucketStep::run(std::span<Tensor> values) {
  auto next = takeOff(values);
  if (!next)
    return next.status().withContext(instructionContext(view, name(), instruction));
  // The tensors are stored before the start, because the backend reads and writes their memory from then on.
  flight = *std::move(next);
  MESHPLAN_ASSIGN_OR_RETURN(flight.pending, start());
  return Status();
}

Status BucketStep::finish(std::span<Tensor> values) {
  // The step runs again in the next training step, so it must not keep the buffers. `landing` has them until the wait
  // has returned, because the backend uses them until then.
  Flight landing = std::exchange(flight, Flight());
  MESHPLAN_RETURN_IF_ERROR(landing.pending->wait());
  // The addends or shards that were sent, freed before outputs are allocated, to reduce peak memory.
  landing.outgoing = Tensor();
  return land(values, landing).withContext(instructionContext(view, name(), instruction));
}

Expected<BucketStep::Flight> BucketStep::takeOff(std::span<const Tensor> values) {
  Flight next;
  std::vector<Tensor> inputs;
  for (const Member &member : members) {
    inputs.push_back(values[member.input]);
    if (member.target < 0)
      continue;
    // Otherwise the received elements would be written to a copy.
    if (!values[member.target].isContiguous())
      return Status::error(StatusCode::internal, "target ", member.target, " is not contiguous");
    next.targets.push_back(values[member.target]);
  }
  // Undefined if the tensors are not adjacent.
  MESHPLAN_ASSIGN_OR_RETURN(Tensor sent, joined(inputs));
  Tensor targets;
  if (!next.targets.empty()) {
    MESHPLAN_ASSIGN_OR_RETURN(targets, joined(next.targets));
  }
  // Adjacency is found here from the tensors themselves. They are adjacent if a buffer of the program holds them
  // (Storages), and a tensor that was replaced in between is packed like any other instead of being sent wrongly.
  next.packing = packingOfCoalesced(action().kind(), members.size(), sent.defined(), targets.defined());
  if (!sent.defined() || next.packing.packs) {
    // A single tensor that is not row-major is copied to be sent.
    MESHPLAN_ASSIGN_OR_RETURN(sent, next.packing.packs ? pack(values) : flatten(inputs.front()));
  }
  next.outgoing = std::move(sent);
  next.incoming = std::move(targets);
  if (!next.incoming.defined() || next.packing.unpacks) {
    int64_t received = receivedCount();
    MESHPLAN_ASSIGN_OR_RETURN(next.incoming, allocateTensor({&received, 1}, inputs.front().dtype()));
  }
  return next;
}

Expected<Tensor> BucketStep::pack(std::span<const Tensor> values) {
  // A reduce-scatter sends to rank r the runs r of all tensors, so these must be contiguous: rank by rank, then tensor
  // by tensor. Otherwise the tensors follow one another.
  int64_t sent = sentCount(), begin = 0;
  MESHPLAN_ASSIGN_OR_RETURN(Tensor together, allocateTensor({&sent, 1}, values[members.front().input].dtype()));
  for (size_t rank = 0; rank < (scatters() ? counts.size() : 1); ++rank)
    for (const Member &member : members) {
      const Tensor &input = values[member.input];
      Range run = scatters() ? member.runs[rank] : Range{0, input.elementCount()};
      MESHPLAN_RETURN_IF_ERROR(packRun(input, run, together, begin));
      packed += run.size * dtypeSize(input.dtype());
      begin += run.size;
    }
  return together;
}

Expected<Pending> BucketStep::start() {
  const void *input = flight.outgoing.data();
  void *output = flight.incoming.data();
  DType dtype = flight.outgoing.dtype();
  if (gathers())
    return group.startAllGather(input, output, counts, dtype, label);
  if (scatters())
    return group.startReduceScatter(input, output, counts, dtype, reductionOf(action().reduction()), label);
  // The buffer of an all-reduce has the same elements on all ranks, so one count is enough.
  return group.startAllReduce(input, output, total, dtype, reductionOf(action().reduction()), label);
}

Status BucketStep::land(std::span<Tensor> values, const Flight &landing) {
  for (size_t i = 0; i < members.size(); ++i) {
    MESHPLAN_ASSIGN_OR_RETURN(values[members[i].output], outputOf(i, landing));
  }
  return landing.packing.unpacks ? unpack(values, landing) : Status();
}

/// The target, a view of the received elements, or a new tensor to copy to.
Expected<Tensor> BucketStep::outputOf(size_t index, const Flight &landing) const {
  // The backend has written to the targets directly, or `unpack` copies to them.
  if (!landing.targets.empty())
    return landing.targets[index];
  const Member &member = members[index];
  return members.size() == 1 ? reshape(landing.incoming, member.outputShape)
                             : allocateTensor(member.outputShape, landing.incoming.dtype());
}

Status BucketStep::unpack(std::span<Tensor> values, const Flight &landing) {
  // The reverse of pack: a gather delivers the runs of all tensors rank by rank.
  int64_t begin = 0;
  for (size_t rank = 0; rank < (gathers() ? counts.size() : 1); ++rank)
    for (const Member &member : members) {
      MESHPLAN_ASSIGN_OR_RETURN(Tensor output, flatten(values[member.output]));
      Range run = gathers() ? member.runs[rank] : Range{0, output.elementCount()};
      MESHPLAN_RETURN_IF_ERROR(copyRun(landing.incoming, begin, output, run.offset, run.size));
      packed += run.size * dtypeSize(output.dtype());
      begin += run.size;
    }
  return Status();
}

/// True if the runs of the ranks are consecutive and cover `whole`.
bool makeUp(std::span<const Range> runs, Range whole) {
  int64_t end = 0;
  for (Range run : runs) {
    if (run.offset != end)
      return false;
    end += run.size;
  }
  return end == whole.size;
}

Expected<Member> memberOf(const RankView &view, const artifact::Start &start, int input, int output,
                          std::span<const int64_t> group) {
  Member member{input, output, -1, view.shape(output), {}};
  if (start.kind() == artifact::CollectiveKind::all_reduce) {
    member.runs.push_back({0, view.run(input).size});
    return member;
  }
  // A gather has flat inputs and a reduce-scatter flat outputs; the other side is the tensor of which these are runs.
  bool gathers = start.kind() == artifact::CollectiveKind::all_gather;
  int cut = gathers ? input : output;
  Range whole = view.run(gathers ? output : input);
  for (int64_t rank : group) {
    Range run = view.peer(rank).run(cut);
    // Counted from the run that is gathered, because it may itself be a part of a longer one, if only some of the flat
    // axes are gathered.
    member.runs.push_back({run.offset - whole.offset, run.size});
    // The communicator comes from the artifact. With a wrong one, elements would silently move to a wrong location.
    if (view.peer(rank).ranges(cut) != view.ranges(cut))
      return Status(StatusCode::corrupted, "the ranks of the communicator do not hold runs of the same elements");
  }
  if (!makeUp(member.runs, whole))
    return Status(StatusCode::corrupted, "the ranks of the communicator do not hold each element once");
  return member;
}

} // namespace

Expected<std::unique_ptr<StartStep>> meshplan::prepareBucket(const RankView &view,
                                                             const artifact::Instruction &instruction, Group &group) {
  const artifact::Start &action = *instruction.action_as_Start();
  std::vector<Member> members;
  Status status = forEachMoved(action, [&](int32_t input, int32_t output) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(Member member, memberOf(view, action, input, output, group.ranks()));
    if (hasTargets(action))
      member.target = action.targets()->Get(static_cast<flatbuffers::uoffset_t>(members.size()));
    members.push_back(std::move(member));
    return Status();
  });
  if (!status.ok())
    return status.withContext(instructionContext(view, std::string(kindName(action.kind())), instruction));
  return std::unique_ptr<StartStep>(std::make_unique<BucketStep>(view, instruction, std::move(members), group));
}
