//===- exact.h - the exact tensors, and the errors of PyTorch ----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_VERIFY_EXACT_H
#define MESHPLAN_RUNTIME_VERIFY_EXACT_H

#include "runtime/verify/reference.h"
#include "runtime/verify/subjects.h"

namespace meshplan {

/// What the reference gives in f64, and how far its run in its own precision is from that.
class Exact {
public:
  /// Runs the reference twice, with `threads` threads. All of its arguments must outlive it. `corrupted` when it lacks
  /// a subject; `numericFault`, with what is not finite first, when a loss or a gradient is not, or an output has NaN.
  static Expected<Exact> make(const Reference &reference, std::span<const Subject> subjects, int threads);

  /// Runs it twice more on the inputs in another order: where the largest error is a draw, the largest one of all draws
  /// counts. Without `gradients` those of the outputs only.
  Status addDraw(bool gradients = true);
  int draws() const { return drawCount; }

  /// By subject: whole, row-major, f64, in the memory of the host. Not defined for what the optimizer makes.
  const Tensor &tensor(size_t subject) const { return tensors[subject]; }
  double ownError(size_t subject) const { return ownErrors[subject]; }
  double magnitude(size_t subject) const { return magnitudes[subject]; }

private:
  Exact(const Reference &reference, std::span<const Subject> subjects, int threads)
      : reference(&reference), subjects(subjects), threads(threads) {}

  Expected<std::vector<Tensor>> run(Precision precision, bool gradients) const;
  Status checkFinite() const;
  Status takeErrors(std::span<const Tensor> exact, std::span<const Tensor> own);

  const Reference *reference;
  std::span<const Subject> subjects;
  int threads;
  int drawCount = 0;
  std::vector<Tensor> tensors;
  std::vector<double> ownErrors, magnitudes;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_EXACT_H
