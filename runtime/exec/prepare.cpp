//===- prepare.cpp - from instructions to steps ---------------------------===//

#include "runtime/exec/prepare.h"

#include "runtime/artifact/vector_range.h"
#include "runtime/exec/origin.h"
#include "runtime/exec/steps/collective_step.h"
#include "runtime/exec/steps/copy_step.h"
#include "runtime/exec/steps/host_copy_step.h"
#include "runtime/exec/steps/step.h"

#include <algorithm>
#include <map>
#include <set>

using namespace meshplan;

namespace {

class FreeStep final : public Step {
public:
  explicit FreeStep(std::vector<int> freed = {}) : freed(std::move(freed)) {}

  Status run(std::span<Tensor> values) override {
    for (int value : freed)
      values[value] = Tensor();
    return Status();
  }

  std::string name() const override { return "free"; }

private:
  std::vector<int> freed;
};

/// A step that is the last use of some values, and frees them. One step and not two, because steps have the indices of
/// instructions.
class LastUse final : public Step {
public:
  LastUse(std::unique_ptr<Step> user, std::vector<int> freed) : user(std::move(user)), free(std::move(freed)) {}

  Status begin(int64_t microbatch) override { return user->begin(microbatch); }
  Status run(std::span<Tensor> values) override {
    MESHPLAN_RETURN_IF_ERROR(user->run(values));
    return free.run(values);
  }
  int64_t packedBytes() const override { return user->packedBytes(); }
  double waitedSeconds() const override { return user->waitedSeconds(); }
  std::optional<MoveInterval> moved() const override { return user->moved(); }
  std::string name() const override { return user->name(); }

private:
  std::unique_ptr<Step> user;
  FreeStep free;
};

std::vector<int> valuesOf(const artifact::Free &action) { return {action.values()->begin(), action.values()->end()}; }

class Preparation {
public:
  Preparation(const RankView &view, const Groups &groups, CopyLanes &lanes) : view(view), groups(groups), lanes(lanes) {
    for (const artifact::Instruction *instruction : *view.program().instructions())
      if (const artifact::Start *start = instruction->action_as_Start()) {
        collectives[start->output()] = instruction;
        for (int32_t value : {start->input(), start->target()})
          if (value >= 0 && isPacked(view.value(value)))
            collectives[value] = instruction;
      }
  }

  Expected<std::unique_ptr<Step>> step(const artifact::Instruction &instruction);

private:
  /// The pieces of the collective that reads or gives a value. Its copies share them.
  Expected<std::shared_ptr<const Pieces>> piecesFor(int32_t value) {
    const artifact::Instruction &instruction = *collectives.at(value);
    const artifact::Start &action = *instruction.action_as_Start();
    std::shared_ptr<const Pieces> &known = pieces[action.sequence()];
    if (!known) {
      MESHPLAN_ASSIGN_OR_RETURN(known, preparePieces(view, instruction, *groups[action.communicator()]));
    }
    return known;
  }

  Expected<std::unique_ptr<Step>> pack(const artifact::Instruction &instruction) {
    const artifact::PackRun &action = *instruction.action_as_PackRun();
    if (!action.in_place())
      copied.insert(action.output());
    MESHPLAN_ASSIGN_OR_RETURN(auto own, piecesFor(action.output()));
    return preparePack(view, instruction, std::move(own));
  }

  Expected<std::unique_ptr<Step>> start(const artifact::Instruction &instruction) {
    const artifact::Start &action = *instruction.action_as_Start();
    if (action.counts() != -1)
      return started(makeExchange(view, instruction, *groups[action.communicator()]), action.sequence());
    MESHPLAN_ASSIGN_OR_RETURN(auto own, piecesFor(action.output()));
    if (isRows(view.value(action.output())) && action.kind() == artifact::CollectiveKind::all_gather)
      return started(makeRowGather(view, instruction, *own, *groups[action.communicator()]), action.sequence());
    MESHPLAN_ASSIGN_OR_RETURN(auto step, prepareStart(view, instruction, std::move(own),
                                                      copied.contains(action.input()), *groups[action.communicator()]));
    return started(std::move(step), action.sequence());
  }

  /// The wait finds its start by the sequence number. Verification guarantees that the start comes first. The address
  /// stays valid, since the list of steps owns the step by a pointer.
  std::unique_ptr<Step> started(std::unique_ptr<StartStep> step, int64_t sequence) {
    starts[sequence] = step.get();
    return step;
  }

  const RankView &view;
  const Groups &groups;
  CopyLanes &lanes;
  std::map<int64_t, StartStep *> starts; // by sequence
  /// By value: the collective that gives it or, of a packed value, that reads it.
  std::map<int32_t, const artifact::Instruction *> collectives;
  std::map<int64_t, std::shared_ptr<const Pieces>> pieces; // by sequence
  std::set<int32_t> copied;                                // packed values that are not in place
};

} // namespace

Expected<std::unique_ptr<Step>> Preparation::step(const artifact::Instruction &instruction) {
  switch (instruction.action_type()) {
  case artifact::Action::Compute:
    return prepareCompute(view, instruction);
  case artifact::Action::Slice:
    return prepareSlice(view, instruction);
  case artifact::Action::Start:
    return start(instruction);
  case artifact::Action::Copy:
    return started(prepareHostCopy(view, instruction, lanes), instruction.action_as_Copy()->sequence());
  case artifact::Action::Wait:
    return makeWaitStep(starts.at(instruction.action_as_Wait()->sequence()));
  case artifact::Action::PackRun:
    return pack(instruction);
  case artifact::Action::UnpackRun: {
    MESHPLAN_ASSIGN_OR_RETURN(auto pieces, piecesFor(instruction.action_as_UnpackRun()->input()));
    return prepareUnpack(view, instruction, std::move(pieces));
  }
  case artifact::Action::Free:
    return std::unique_ptr<Step>(std::make_unique<FreeStep>(valuesOf(*instruction.action_as_Free())));
  case artifact::Action::Resume:
    // The walk runs the deferred steps themselves.
    return std::unique_ptr<Step>(std::make_unique<FreeStep>());
  case artifact::Action::NONE:
    break;
  }
  return Status(StatusCode::internal, "an instruction without action passed verification");
}

std::string meshplan::instructionContext(const RankView &view, std::string_view what,
                                         const artifact::Instruction &instruction) {
  std::string origin = originText(view.schedule(), instruction);
  return "rank " + std::to_string(view.rank()) + ": " + std::string(what) + (origin.empty() ? "" : " (" + origin + ")");
}

namespace {
/// Values that may alias a parameter or a state.
class HeldValues {
public:
  explicit HeldValues(const artifact::Program &program) {
    for (const artifact::Parameter &parameter : elementsOf(program.parameters()))
      values.insert(parameter.value());
    for (const artifact::State &state : elementsOf(program.states()))
      values.insert(state.value());
  }

  bool contains(int32_t value) const { return values.contains(value); }
  bool hasAnyOf(const flatbuffers::Vector<int32_t> *list) const {
    return list && std::ranges::any_of(*list, [&](int32_t value) { return values.contains(value); });
  }

  /// A slice may be a view of its input, and what is packed in place is.
  void follow(const artifact::Instruction &instruction) {
    const artifact::Slice *slice = instruction.action_as_Slice();
    if (slice && values.contains(slice->input()))
      values.insert(slice->output());
    const artifact::PackRun *pack = instruction.action_as_PackRun();
    if (pack && pack->in_place() && hasAnyOf(pack->inputs()))
      values.insert(pack->output());
  }

private:
  std::set<int32_t> values;
};
} // namespace

size_t meshplan::firstUpdateOf(const artifact::Program &program) {
  // A checkpoint may copy parameters and states until the first instruction that changes them; see CheckpointWriter.
  HeldValues held(program);
  size_t index = 0;
  for (const artifact::Instruction *instruction : *program.instructions()) {
    const artifact::Compute *compute = instruction->action_as_Compute();
    const artifact::Start *start = instruction->action_as_Start();
    const artifact::Copy *copy = instruction->action_as_Copy();
    const artifact::UnpackRun *unpack = instruction->action_as_UnpackRun();
    // Operators write to existing memory in place, collectives and copies into targets.
    if ((compute && held.hasAnyOf(compute->overwrites())) || (start && held.contains(start->target())) ||
        (copy && held.contains(copy->target())) || (unpack && held.hasAnyOf(unpack->targets())))
      return index;
    held.follow(*instruction);
    ++index;
  }
  return index;
}

Expected<std::vector<std::unique_ptr<Step>>> meshplan::prepareSteps(const RankView &view, const Groups &groups,
                                                                    CopyLanes &lanes, const OutputNames *asked) {
  Preparation preparation(view, groups, lanes);
  NeededSteps needed;
  if (asked)
    // If only some outputs are requested, values lose readers: they are freed at another instruction than in the
    // artifact.
    needed = stepsFor(view.program(), *asked);
  std::vector<std::unique_ptr<Step>> steps;
  for (const artifact::Instruction *instruction : *view.program().instructions()) {
    // An empty step keeps the indices of steps equal to those of instructions.
    if (asked && !needed.instructions[steps.size()]) {
      steps.push_back(std::make_unique<FreeStep>());
      continue;
    }
    MESHPLAN_ASSIGN_OR_RETURN(auto step, preparation.step(*instruction));
    if (auto last = needed.freed.find(steps.size()); last != needed.freed.end())
      step = std::make_unique<LastUse>(std::move(step), last->second);
    steps.push_back(std::move(step));
  }
  return steps;
}
