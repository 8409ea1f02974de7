//===- exact.h - exact tensors and PyTorch's errors -------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_VERIFY_EXACT_H
#define MESHPLAN_RUNTIME_VERIFY_EXACT_H

#include "runtime/verify/reference.h"
#include "runtime/verify/subjects.h"

#include <functional>

namespace meshplan {

/// Called with a text about the next step, to show the user; may be empty.
using Progress = std::function<void(const std::string &what)>;

/// The results of the reference in f64, and the errors of its runs in its own precision relative to them.
class Exact {
public:
  /// Runs the reference twice, with `threads` threads. All arguments must outlive the result. `corrupted` if it lacks a
  /// subject; `numericFault`, with the first non-finite result, if a loss or a gradient is non-finite, or an output has
  /// NaN.
  static Expected<Exact> make(const Reference &reference, std::span<const Subject> subjects, int threads,
                              const Progress &tell = {});

  /// Runs the reference again in its own precision, with perturbed rounding (ReferenceRun::rounding). The error of
  /// one run is random; the largest over all runs counts. Without `gradients`, only for outputs.
  Status addDraw(bool gradients = true);
  int draws() const { return drawCount; }

  /// By subject: the whole tensor, row-major, f64, in host memory. Undefined for subjects of the optimizer.
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
