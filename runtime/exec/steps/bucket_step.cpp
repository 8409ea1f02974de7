//===- bucket_step.cpp - a collective of several tensors ------------------===//

#include "runtime/exec/steps/bucket_step.h"

#include "runtime/exec/origin.h"
#include "runtime/exec/prepare.h"

#include <utility>

using namespace meshplan;

namespace {

/// One of the tensors.
struct Member {
  int input, output;
  std::vector<int64_t> outputShape;
  /// The run of each rank of the group, as elements of the tensor that is not cut: the output of a gather, the input of
  /// a reduce-scatter. Of an all-reduce one run for all.
  std::vector<Range> runs;
};

Expected<Tensor> flatten(const Tensor &tensor) {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor whole, contiguous(tensor));
  int64_t count = whole.elementCount();
  return reshape(whole, {&count, 1});
}

/// Copies elements of one tensor of one dim to another.
Status copyRun(const Tensor &from, int64_t source, const Tensor &into, int64_t target, int64_t count) {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor run, narrow(from, 0, source, count));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor place, narrow(into, 0, target, count));
  return copyElements(run, place);
}

class BucketStep final : public StartStep {
public:
  BucketStep(const RankView &view, const artifact::Instruction &instruction, std::vector<Member> members, Group &group)
      : view(view), instruction(instruction), members(std::move(members)), group(group),
        label{.sequence = action().sequence(), .origin = originText(view.schedule(), instruction)} {
    for (size_t rank = 0; rank < this->members.front().runs.size(); ++rank) {
      counts.push_back(0);
      for (const Member &member : this->members)
        counts.back() += member.runs[rank].size;
      total += counts.back();
    }
  }

  Status run(std::span<Tensor> values) override {
    auto next = takeOff(values);
    if (!next)
      return next.status().withContext(instructionContext(view, name(), instruction));
    flight = *std::move(next);
    MESHPLAN_ASSIGN_OR_RETURN(flight.pending, start());
    return Status();
  }

  Status finish(std::span<Tensor> values) override {
    Flight landing = std::exchange(flight, Flight());
    MESHPLAN_RETURN_IF_ERROR(landing.pending->wait());
    landing.outgoing = Tensor();
    return land(values, landing).withContext(instructionContext(view, name(), instruction));
  }

  std::string name() const override {
    return std::string(kindName(action().kind())) + " " + std::to_string(action().sequence());
  }

private:
  struct Flight {
    Tensor outgoing, incoming;
    Pending pending; // last: it goes first, while its buffers still exist
  };

  const artifact::Start &action() const { return *instruction.action_as_Start(); }
  bool gathers() const { return action().kind() == artifact::CollectiveKind::all_gather; }
  bool scatters() const { return action().kind() == artifact::CollectiveKind::reduce_scatter; }

  /// Elements that this rank sends, and that it gets.
  int64_t sentCount() const { return gathers() ? counts[group.index()] : total; }
  int64_t receivedCount() const { return scatters() ? counts[group.index()] : total; }

  Expected<Flight> takeOff(std::span<const Tensor> values) const {
    Flight next;
    DType dtype = values[members.front().input].dtype();
    int64_t received = receivedCount();
    MESHPLAN_ASSIGN_OR_RETURN(next.outgoing,
                              members.size() == 1 ? flatten(values[members.front().input]) : pack(values, dtype));
    MESHPLAN_ASSIGN_OR_RETURN(next.incoming, allocateTensor({&received, 1}, dtype));
    return next;
  }

  Expected<Tensor> pack(std::span<const Tensor> values, DType dtype) const {
    int64_t sent = sentCount(), begin = 0;
    MESHPLAN_ASSIGN_OR_RETURN(Tensor packed, allocateTensor({&sent, 1}, dtype));
    for (size_t rank = 0; rank < (scatters() ? counts.size() : 1); ++rank)
      for (const Member &member : members) {
        MESHPLAN_ASSIGN_OR_RETURN(Tensor input, flatten(values[member.input]));
        Range run = scatters() ? member.runs[rank] : Range{0, input.elementCount()};
        MESHPLAN_RETURN_IF_ERROR(copyRun(input, run.offset, packed, begin, run.size));
        begin += run.size;
      }
    return packed;
  }

  Expected<Pending> start() {
    const void *input = flight.outgoing.data();
    void *output = flight.incoming.data();
    DType dtype = flight.outgoing.dtype();
    if (gathers())
      return group.startAllGather(input, output, counts, dtype, label);
    if (scatters())
      return group.startReduceScatter(input, output, counts, dtype, reductionOf(action().reduction()), label);
    return group.startAllReduce(input, output, total, dtype, reductionOf(action().reduction()), label);
  }

  Status land(std::span<Tensor> values, const Flight &landing) const {
    if (members.size() == 1) {
      MESHPLAN_ASSIGN_OR_RETURN(values[members.front().output], reshape(landing.incoming, members.front().outputShape));
      return Status();
    }
    for (const Member &member : members) {
      MESHPLAN_ASSIGN_OR_RETURN(values[member.output], allocateTensor(member.outputShape, landing.incoming.dtype()));
    }
    int64_t begin = 0;
    for (size_t rank = 0; rank < (gathers() ? counts.size() : 1); ++rank)
      for (const Member &member : members) {
        MESHPLAN_ASSIGN_OR_RETURN(Tensor output, flatten(values[member.output]));
        Range run = gathers() ? member.runs[rank] : Range{0, output.elementCount()};
        MESHPLAN_RETURN_IF_ERROR(copyRun(landing.incoming, begin, output, run.offset, run.size));
        begin += run.size;
      }
    return Status();
  }

  RankView view;
  const artifact::Instruction &instruction;
  std::vector<Member> members;
  Group &group;
  std::vector<int64_t> counts; // elements of each rank of the group
  int64_t total = 0;
  CollectiveLabel label;
  Flight flight;
};

/// The runs of the ranks follow one another and are all of `whole`.
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
  Member member{input, output, view.shape(output), {}};
  if (start.kind() == artifact::CollectiveKind::all_reduce) {
    member.runs.push_back({0, view.run(input).size});
    return member;
  }
  bool gathers = start.kind() == artifact::CollectiveKind::all_gather;
  int cut = gathers ? input : output;
  Range whole = view.run(gathers ? output : input);
  for (int64_t rank : group) {
    Range run = view.peer(rank).run(cut);
    member.runs.push_back({run.offset - whole.offset, run.size});
    if (view.peer(rank).ranges(cut) != view.ranges(cut))
      return Status(StatusCode::corrupted, "the ranks of the communicator do not hold runs of the same elements");
  }
  if (!makeUp(member.runs, whole))
    return Status(StatusCode::corrupted, "the ranks of the communicator do not hold each element once");
  return member;
}

} // namespace

bool meshplan::isBucket(const artifact::Start &start) {
  return isAboutFlat(start) || (start.more_inputs() && start.more_inputs()->size() > 0);
}

Expected<std::unique_ptr<StartStep>> meshplan::prepareBucket(const RankView &view,
                                                             const artifact::Instruction &instruction, Group &group) {
  const artifact::Start &action = *instruction.action_as_Start();
  std::vector<Member> members;
  auto add = [&](int input, int output) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(Member member, memberOf(view, action, input, output, group.ranks()));
    members.push_back(std::move(member));
    return Status();
  };
  Status status = add(action.input(), action.output());
  for (flatbuffers::uoffset_t i = 0; status.ok() && action.more_inputs() && i < action.more_inputs()->size(); ++i)
    status = add(action.more_inputs()->Get(i), action.more_outputs()->Get(i));
  if (!status.ok())
    return status.withContext(instructionContext(view, std::string(kindName(action.kind())), instruction));
  return std::unique_ptr<StartStep>(std::make_unique<BucketStep>(view, instruction, std::move(members), group));
}
