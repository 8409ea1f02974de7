//===- rank_check.h - one rank against its part of the reference -*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_VERIFY_RANK_CHECK_H
#define MESHPLAN_RUNTIME_VERIFY_RANK_CHECK_H

#include "runtime/exec/program_runner.h"
#include "runtime/tensor/elements.h"
#include "runtime/verify/exact.h"

namespace meshplan {

/// What a rank has found about one subject. Plain numbers: ranks send it as bytes.
struct Finding {
  ElementErrors errors;
  double own = 0;       ///< of a parameter or master: the error of LibTorch's optimizer in its precision
  double magnitude = 0; ///< of a parameter or master: the largest behind the step
};

/// Runs a loaded program once and compares. All ranks do the same; none holds a whole tensor but the one that is
/// compared, one after the other. `program`, `world` and `subjects` must outlive it.
class RankCheck {
public:
  RankCheck(ProgramRunner &program, World &world, std::span<const Subject> subjects)
      : program(program), executor(program.executor()), world(world), subjects(subjects) {}

  /// Runs the program. Keeps its gradients, and parameters and masters as they were before.
  Status run();

  /// By subject. `exact` is given on rank 0, and null on the others.
  Expected<std::vector<Finding>> find(const Exact *exact, const Progress &tell = {});

private:
  Expected<Tensor> share(Group &group, const Subject &subject, const Tensor *exact) const;
  Expected<Finding> compareValue(const Subject &subject, const Tensor &whole) const;
  Expected<Finding> compareNorm(const Subject &subject, const Tensor &exact) const;
  Expected<Finding> compareUnchanged(const Subject &subject) const;
  Expected<Finding> compareStep(Group &group, const Subject &subject) const;
  Expected<Finding> compareCopy(Group &group, const Subject &subject) const;
  Expected<Tensor> heldBefore(const Subject &subject) const;
  Expected<Tensor> gathered(Group &group, const Subject &subject, const Tensor &held) const;
  Expected<ElementErrors> errorsOfChanged(const Subject &subject, const Tensor &exact) const;
  Expected<double> clipping() const;

  ProgramRunner &program;
  Executor &executor;
  World &world;
  std::span<const Subject> subjects;
  std::map<int, Tensor> seen, before; // by index into Program.values
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_RANK_CHECK_H
