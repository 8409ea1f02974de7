//===- rank_check.cpp - comparing one rank with the reference -------------===//

#include "runtime/verify/rank_check.h"

#include "runtime/verify/parts.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace meshplan;

static Expected<Tensor> copyOf(const Tensor &tensor) {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor copy, allocateTensor(tensor.shape(), tensor.dtype()));
  MESHPLAN_RETURN_IF_ERROR(copyElements(tensor, copy));
  return copy;
}

static Expected<double> numberIn(const Tensor &tensor) {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor wide, converted(tensor, DType::f64));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor host, onHost(wide));
  double number = 0;
  std::memcpy(&number, host.data(), sizeof number);
  return number;
}

Status RankCheck::run() {
  Observer observer{{}, [&](int value, const Tensor &tensor) { seen[value] = tensor; }};
  for (const Subject &subject : subjects) {
    if (subject.kind == SubjectKind::gradient || subject.kind == SubjectKind::norm)
      observer.values.push_back(subject.value);
    if (!subject.isOfOptimizer() || !subject.master.empty())
      continue;
    MESHPLAN_ASSIGN_OR_RETURN(Tensor changed, walk.current(subject.name));
    // The step updates the parameter in place, so a copy is needed.
    MESHPLAN_ASSIGN_OR_RETURN(before[subject.value], copyOf(changed));
  }
  return program.run(nullptr, &observer);
}

/// Gives all ranks the tensor of rank 0.
Expected<Tensor> RankCheck::share(Group &group, const Subject &subject, const Tensor *exact) const {
  const artifact::Value &value = walk.view().value(subject.value);
  Tensor whole = exact ? *exact : Tensor();
  if (!exact) {
    MESHPLAN_ASSIGN_OR_RETURN(whole, allocateHostTensor(globalShapeOf(value), DType::f64));
  }
  const CollectiveLabel label{.sequence = -1, .origin = "the reference of '" + subject.name + "'"};
  MESHPLAN_RETURN_IF_ERROR(
      waitFor(group.startBroadcast(whole.data(), whole.elementCount(), DType::f64, /*root=*/0, label)));
  return whole;
}

Expected<Finding> RankCheck::compareValue(const Subject &subject, const Tensor &whole) const {
  auto found = seen.find(subject.value);
  const Tensor &own = found == seen.end() ? walk.valueOf(subject.value) : found->second;
  MESHPLAN_ASSIGN_OR_RETURN(Tensor part,
                            partOf(whole, walk.view().slices(subject.value), walk.view().shape(subject.value)));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor host, onHost(own));
  MESHPLAN_ASSIGN_OR_RETURN(ElementErrors errors, errorsOf(host, part));
  return Finding{errors};
}

Expected<Finding> RankCheck::compareNorm(const Subject &subject, const Tensor &exact) const {
  MESHPLAN_ASSIGN_OR_RETURN(double squared, numberIn(seen.at(subject.value)));
  MESHPLAN_ASSIGN_OR_RETURN(double norm, numberIn(exact));
  double error = std::abs(std::sqrt(squared) - norm);
  // NaN would compare as smaller than any bound.
  error = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  // A norm is not a rounded element of a tensor, so correct rounding excuses nothing.
  return Finding{{error, error}};
}

/// The factor by which gradients are clipped, from the norm that the ranks computed.
Expected<double> RankCheck::clipping() const {
  std::optional<Clipping> clipping = clippingOf(walk.view().program());
  if (!clipping)
    return 1.0;
  // Not the reference's norm: an error of the norm has its own verdict, and must not appear again in all parameters.
  MESHPLAN_ASSIGN_OR_RETURN(double squared, numberIn(seen.at(clipping->squaredNorm)));
  return clippingFactor(std::sqrt(squared), clipping->limit);
}

/// The tensor that the optimizer updates, as it was before the step. If that is a slice, it is cut from the parameter
/// itself, so that a program which cuts another slice is noticed.
Expected<Tensor> RankCheck::heldBefore(const Subject &subject) const {
  const Tensor &changed = before.at(subject.value);
  if (subject.held == subject.value)
    return changed;
  const RankView &view = walk.view();
  std::vector<int64_t> shape = globalShapeOf(view.value(subject.value));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor whole, assembled(changed, view.slices(subject.value), shape));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor part, partOf(whole, view.slices(subject.held), view.shape(subject.held)));
  return onDevice(part);
}

/// Combines the tensors that the optimizers of all ranks update. Returns the rank's shard of the parameter, on the
/// host.
Expected<Tensor> RankCheck::gathered(Group &group, const Subject &subject, const Tensor &held) const {
  const RankView &view = walk.view();
  std::vector<int64_t> shape = globalShapeOf(view.value(subject.value));
  // Of the ranks with the same elements, only the first contributes.
  std::vector<SliceRanges> own;
  if (view.isFirstHolder(subject.held))
    own = view.slices(subject.held);
  // Zeros elsewhere, so that the sum puts the parts together. Example: mesh dp=2, tp=3, and states split over dp. Ranks
  // 0 and 3 hold the same shard of the parameter, and each one half of its master weight; the sum has both halves, and
  // the shards of the other ranks.
  MESHPLAN_ASSIGN_OR_RETURN(Tensor whole, assembled(held, own, shape));
  const CollectiveLabel label{.sequence = -1, .origin = "the parts of '" + subject.name + "'"};
  MESHPLAN_RETURN_IF_ERROR(waitFor(
      group.startAllReduce(whole.data(), whole.data(), whole.elementCount(), DType::f64, Reduction::sum, label)));
  return partOf(whole, view.slices(subject.value), view.shape(subject.value));
}

/// The errors of the rank's parameter or master weight after the step.
Expected<ElementErrors> RankCheck::errorsOfChanged(const Subject &subject, const Tensor &exact) const {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor changed, walk.current(subject.name));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor host, onHost(changed));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor exactHost, onHost(exact));
  return errorsOf(host, exactHost);
}

/// A step with non-finite gradients must change nothing.
Expected<Finding> RankCheck::compareUnchanged(const Subject &subject) const {
  Finding finding;
  MESHPLAN_ASSIGN_OR_RETURN(finding.errors, errorsOfChanged(subject, before.at(subject.value)));
  MESHPLAN_ASSIGN_OR_RETURN(finding.magnitude, largestMagnitude(before.at(subject.value)));
  return finding;
}

/// Compares with LibTorch's optimizer, in f64 and in the program's precision, on this rank's gradients.
Expected<Finding> RankCheck::compareStep(Group &group, const Subject &subject) const {
  // The program has skipped the step.
  if (program.outcome().nonfinite > 0)
    return compareUnchanged(subject);
  MESHPLAN_ASSIGN_OR_RETURN(double factor, clipping());
  MESHPLAN_ASSIGN_OR_RETURN(Tensor held, heldBefore(subject));
  const Tensor &gradient = seen.at(subject.gradient);
  auto step = [&](DType dtype) { return firstStep(subject.optimizer, held, gradient, factor, dtype); };
  MESHPLAN_ASSIGN_OR_RETURN(Tensor exact, step(DType::f64));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor own, step(before.at(subject.value).dtype()));
  Finding finding;
  MESHPLAN_ASSIGN_OR_RETURN(ElementErrors ownErrors, errorsOf(own, exact));
  finding.own = ownErrors.largest;
  MESHPLAN_ASSIGN_OR_RETURN(finding.magnitude, largestMagnitude(exact));
  if (subject.held != subject.value) {
    MESHPLAN_ASSIGN_OR_RETURN(exact, gathered(group, subject, exact));
  }
  MESHPLAN_ASSIGN_OR_RETURN(finding.errors, errorsOfChanged(subject, exact));
  return finding;
}

/// Compares a parameter with its master weight after the step.
Expected<Finding> RankCheck::compareCopy(Group &group, const Subject &subject) const {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor master, walk.current(subject.master));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor exact, gathered(group, subject, master));
  MESHPLAN_ASSIGN_OR_RETURN(ElementErrors errors, errorsOfChanged(subject, exact));
  return Finding{errors};
}

Expected<std::vector<Finding>> RankCheck::find(const Exact *exact, const Progress &tell) {
  // Over the hosts, because comparisons are in host memory, also for a program on GPUs.
  MESHPLAN_ASSIGN_OR_RETURN(auto group, world.host().createWorldGroup("world"));
  std::vector<Finding> findings;
  for (size_t i = 0; i < subjects.size(); ++i) {
    const Subject &subject = subjects[i];
    if (tell)
      tell("comparing tensor " + std::to_string(i + 1) + " of " + std::to_string(subjects.size()));
    // One subject at a time: a rank holds only one whole tensor of the reference.
    auto compare = [&]() -> Expected<Finding> {
      if (subject.isOfOptimizer())
        return subject.master.empty() ? compareStep(*group, subject) : compareCopy(*group, subject);
      MESHPLAN_ASSIGN_OR_RETURN(Tensor whole, share(*group, subject, exact ? &exact->tensor(i) : nullptr));
      return subject.kind == SubjectKind::norm ? compareNorm(subject, whole) : compareValue(subject, whole);
    };
    auto finding = compare();
    if (!finding)
      return finding.status().withContext(std::string(kindName(subject.kind)) + " '" + subject.name + "'");
    findings.push_back(*finding);
  }
  return findings;
}
