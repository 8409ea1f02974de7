//===- prepare.cpp - from instructions to steps ---------------------------===//

#include "runtime/exec/prepare.h"

#include "runtime/exec/origin.h"
#include "runtime/exec/steps/collective_step.h"
#include "runtime/exec/steps/compute_step.h"
#include "runtime/exec/steps/slice_step.h"

#include <map>

using namespace meshplan;

namespace {

class FreeStep final : public Step {
public:
  explicit FreeStep(const artifact::Free &action) : freed(action.values()->begin(), action.values()->end()) {}

  Status run(std::span<Tensor> values) override {
    for (int value : freed)
      values[value] = Tensor();
    return Status();
  }

  std::string name() const override { return "free"; }

private:
  std::vector<int> freed;
};

class Preparation {
public:
  Preparation(const RankView &view, const Groups &groups) : view(view), groups(groups) {}

  Expected<std::unique_ptr<Step>> step(const artifact::Instruction &instruction) {
    switch (instruction.action_type()) {
    case artifact::Action::Compute:
      return prepareCompute(view, instruction);
    case artifact::Action::Slice:
      return prepareSlice(view, instruction);
    case artifact::Action::Start:
      return start(instruction);
    case artifact::Action::Wait:
      return makeWaitStep(started.at(instruction.action_as_Wait()->sequence()));
    case artifact::Action::Free:
      return std::unique_ptr<Step>(std::make_unique<FreeStep>(*instruction.action_as_Free()));
    case artifact::Action::NONE:
      break;
    }
    return Status(StatusCode::internal, "an instruction without action passed verification");
  }

private:
  Expected<std::unique_ptr<Step>> start(const artifact::Instruction &instruction) {
    const artifact::Start &action = *instruction.action_as_Start();
    MESHPLAN_ASSIGN_OR_RETURN(auto step, prepareStart(view, instruction, *groups[action.communicator()]));
    started[action.sequence()] = step.get();
    return std::unique_ptr<Step>(std::move(step));
  }

  const RankView &view;
  const Groups &groups;
  std::map<int64_t, StartStep *> started;
};

} // namespace

std::string meshplan::instructionContext(const RankView &view, std::string_view what,
                                         const artifact::Instruction &instruction) {
  std::string origin = originText(view.schedule(), instruction);
  return "rank " + std::to_string(view.rank()) + ": " + std::string(what) + (origin.empty() ? "" : " (" + origin + ")");
}

Expected<std::vector<std::unique_ptr<Step>>> meshplan::prepareSteps(const RankView &view, const Groups &groups) {
  Preparation preparation(view, groups);
  std::vector<std::unique_ptr<Step>> steps;
  for (const artifact::Instruction *instruction : *view.program().instructions()) {
    MESHPLAN_ASSIGN_OR_RETURN(auto step, preparation.step(*instruction));
    steps.push_back(std::move(step));
  }
  return steps;
}
