//===- verified_step.h - a small step and its reference ---------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_VERIFY_VERIFIED_STEP_H
#define MESHPLAN_TEST_UNIT_VERIFY_VERIFIED_STEP_H

#include "test/unit/exec/run_schedule.h"

#include <functional>

namespace meshplan {

/// What the optimizer updates: the parameter; a shard of a replicated parameter, which is gathered after it; or an f32
/// master of a bf16 parameter, which is sharded like that.
enum class Held { parameter, part, master };

/// loss = sum(w x) on two ranks, each with half of w: the gradient of w is x, here computed as relu(x). SGD with
/// clipping, and a reference on one rank.
class VerifiedStep {
public:
  explicit VerifiedStep(bool hasReference = true, Held held = Held::parameter);

  void write(const std::string &path) const { builder.write(path); }
  artifact::ProgramT &step() { return builder.program(); }
  artifact::ProgramT &reference() { return *builder.schedule().programs[1]; }
  artifact::ComputeT &call(const std::string &target);
  /// Only the step gets this many times the samples of the reference. It can no longer run.
  void takeWholeBatch(int64_t count);

  /// A non-finite gradient changes nothing. For a sharded parameter.
  void guard();

  /// Positive, so that relu(x) is the gradient.
  static Tensors weights() { return {{"w", at::tensor({0.5f, -1.0f, 2.0f, 0.25f})}}; }
  static Tensors inputs() { return {{"x", at::tensor({1.5f, 0.5f, 0.25f, 3.0f})}}; }

  int w, x, loss, gradient, squared, factor, rate;
  int held;    ///< what the optimizer changes
  int changed; ///< that after the step
  int stored;  ///< the parameter after the step

private:
  void addHeld(Held kind);
  void addStored(Held kind);
  void addUpdate(int value, int target);

  ScheduleBuilder builder{{{"dp", 2}}};
};

/// The file of the step, loaded, after a change to it.
Artifact
artifactAfter(const std::function<void(VerifiedStep &)> &change = [](VerifiedStep &) {}, Held held = Held::parameter);

/// Only a reference: loss = sum(w x).
ScheduleBuilder referenceAlone();

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_VERIFY_VERIFIED_STEP_H
