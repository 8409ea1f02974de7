//===- verified_step.h - a step and its reference, made by hand --*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_VERIFY_VERIFIED_STEP_H
#define MESHPLAN_TEST_UNIT_VERIFY_VERIFIED_STEP_H

#include "test/unit/exec/run_schedule.h"

#include <functional>

namespace meshplan {

/// What the optimizer changes: the parameter; a part of a parameter that every rank has whole, which is gathered behind
/// it; or a master in f32 of a parameter in bf16, which has the parts of such a parameter.
enum class Held { parameter, part, master };

/// loss = sum(w x) on two ranks, each with half of w: the gradient of w is x, here made as relu(x). SGD with clipping,
/// and a reference on one rank.
class VerifiedStep {
public:
  explicit VerifiedStep(bool hasReference = true, Held held = Held::parameter);

  void write(const std::string &path) const { builder.write(path); }
  artifact::ProgramT &step() { return builder.program(); }
  artifact::ProgramT &reference() { return *builder.schedule().programs[1]; }
  artifact::ComputeT &call(const std::string &target);
  /// The step alone is given so many times the samples of the reference. It cannot run any more.
  void takeWholeBatch(int64_t count);

  /// A gradient that is not finite changes nothing. For a parameter that ranks have parts of.
  void guard();

  /// Positive, so that the gradient is right.
  static Tensors weights() { return {{"w", at::tensor({0.5f, -1.0f, 2.0f, 0.25f})}}; }
  static Tensors inputs() { return {{"x", at::tensor({1.5f, 0.5f, 0.25f, 3.0f})}}; }

  int w, x, loss, gradient, squared, factor, rate;
  int held;    ///< what the optimizer changes
  int changed; ///< that behind the step
  int stored;  ///< the parameter behind the step

private:
  void addHeld(Held kind);
  void addStored(Held kind);
  void addUpdate(int value, int target);

  ScheduleBuilder builder{{{"dp", 2}}};
};

/// The file of the step, loaded, after a change of it.
Artifact
artifactAfter(const std::function<void(VerifiedStep &)> &change = [](VerifiedStep &) {}, Held held = Held::parameter);

/// A reference alone: loss = sum(w x).
ScheduleBuilder referenceAlone();

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_VERIFY_VERIFIED_STEP_H
