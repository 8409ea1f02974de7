//===- rank_check.h - comparing one rank with the reference -----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_VERIFY_RANK_CHECK_H
#define MESHPLAN_RUNTIME_VERIFY_RANK_CHECK_H

#include "runtime/exec/program_runner.h"
#include "runtime/tensor/elements.h"
#include "runtime/verify/exact.h"

namespace meshplan {

/// What a rank found about one subject. Trivially copyable; ranks send it as bytes.
struct Finding {
  ElementErrors errors;
  double own = 0; ///< parameter or master weight: error of LibTorch's optimizer run in the type of the parameter or
                  ///< master weight, against f64
  double magnitude = 0; ///< parameter or master weight: largest magnitude after the step
};

/// Runs a loaded program once and compares it with the reference. All ranks do the same. A rank holds only one whole
/// tensor at a time, the one being compared. `program`, `world` and `subjects` must outlive it.
class RankCheck {
public:
  RankCheck(ProgramRunner &program, World &world, std::span<const Subject> subjects)
      : program(program), walk(program.walk()), world(world), subjects(subjects) {}

  /// Runs the program. Keeps its gradients, and the parameters and master weights from before.
  Status run();

  /// Compares; returns one finding per subject. `exact` is set on rank 0 and null on the others.
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
  Walk &walk;
  World &world;
  std::span<const Subject> subjects;
  std::map<int, Tensor> seen, before; // by index into Program.values
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_RANK_CHECK_H
