//===- exact.h - the exact tensors, and the errors of PyTorch ----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_VERIFY_EXACT_H
#define MESHPLAN_RUNTIME_VERIFY_EXACT_H

#include "runtime/verify/reference.h"
#include "runtime/verify/subjects.h"

#include <functional>

namespace meshplan {

/// Told what is done next, for a person who waits; may be empty.
using Progress = std::function<void(const std::string &what)>;

/// What the reference gives in f64, and how far its runs in its own precision are from that.
class Exact {
public:
  /// Runs the reference twice, with `threads` threads. All of its arguments must outlive it. `corrupted` when it lacks
  /// a subject; `numericFault`, with what is not finite first, when a loss or a gradient is not, or an output has NaN.
  static Expected<Exact> make(const Reference &reference, std::span<const Subject> subjects, int threads,
                              const Progress &tell = {});

  /// Runs it once more in its own precision, with its results rounded anew (ReferenceRun::rounding): an error is a
  /// draw, and the largest of all draws counts. Without `gradients` those of the outputs only.
  Status addDraw(bool gradients = true);
  int draws() const { return drawCount; }

  /// By subject: whole, row-major, f64, in the memory of the host. Not defined for what the optimizer makes.
  const Tensor &tensor(size_t subject) const { return tensors[subject]; }
  double ownError(size_t subject) const { return ownErrors[subject]; }
  double magnitude(size_t subject) const { return magnitudes[subject]; }

private:
  Exact(const Reference &reference, std::span<const Subject> subjects, int threads)
      : reference(&reference), subjects(subjects), threads(threads) {}

  Expected<std::vector<Tensor>> run(const ReferenceRun &run) const;
  Status checkFinite() const;

  const Reference *reference;
  std::span<const Subject> subjects;
  int threads;
  int drawCount = 0;
  std::vector<Tensor> tensors;
  std::vector<double> ownErrors, magnitudes;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_EXACT_H
