//===- start_step.cpp - started collectives and copies --------------------===//

#include "runtime/exec/steps/start_step.h"

using namespace meshplan;

std::string_view meshplan::kindName(artifact::CollectiveKind kind) {
  switch (kind) {
  case artifact::CollectiveKind::all_gather:
    return collectiveName(CollectiveKind::allGather);
  case artifact::CollectiveKind::reduce_scatter:
    return collectiveName(CollectiveKind::reduceScatter);
  case artifact::CollectiveKind::all_reduce:
    return collectiveName(CollectiveKind::allReduce);
  case artifact::CollectiveKind::all_to_all:
    return collectiveName(CollectiveKind::allToAll);
  case artifact::CollectiveKind::permute:
    break;
  }
  return collectiveName(CollectiveKind::permute);
}

Reduction meshplan::reductionOf(artifact::Reduction reduction) {
  switch (reduction) {
  case artifact::Reduction::max:
    return Reduction::max;
  case artifact::Reduction::min:
    return Reduction::min;
  // Also for a gather, which does not use it.
  default:
    return Reduction::sum;
  }
}

namespace {

class WaitStep final : public Step {
public:
  explicit WaitStep(StartStep *start) : start(start) {}

  Status run(std::span<Tensor> values) override {
    // The time between start and wait is overlap; only the wait itself is exposed.
    auto begin = Clock::now();
    Status status = start->finish(values);
    waited += Clock::now() - begin;
    return status;
  }
  double waitedSeconds() const override {
    return start->movesBetweenRanks() ? std::chrono::duration<double>(waited).count() : 0;
  }
  std::optional<MoveInterval> moved() const override { return start->lastMove(); }
  std::string name() const override { return "wait " + start->name(); }

private:
  using Clock = std::chrono::steady_clock;

  StartStep *start;
  Clock::duration waited{};
};

} // namespace

std::unique_ptr<Step> meshplan::makeWaitStep(StartStep *start) { return std::make_unique<WaitStep>(start); }
