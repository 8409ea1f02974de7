//===- rank_check.cpp - one rank against its part of the reference --------===//

#include "runtime/verify/rank_check.h"

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

/// The part of a whole row-major tensor of f64 that a rank holds: all slices, one after the other.
static Expected<Tensor> partOf(const Tensor &whole, std::span<const SliceRanges> slices,
                               std::span<const int64_t> shape) {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor part, allocateHostTensor(shape, DType::f64));
  int64_t size = dtypeSize(DType::f64), begin = 0;
  for (const SliceRanges &slice : slices) {
    MESHPLAN_RETURN_IF_ERROR(forEachRun(
        slice, whole.shape(), contiguousStrides(whole.shape()), [&](int64_t global, int64_t local, int64_t count) {
          std::memcpy(part.data() + (begin + local) * size, whole.data() + global * size, count * size);
          return Status();
        }));
    begin += elementCount(sliceShape(slice));
  }
  return part;
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
    if (subject.kind != SubjectKind::parameter)
      continue;
    MESHPLAN_ASSIGN_OR_RETURN(Tensor parameter, executor.current(subject.name));
    MESHPLAN_ASSIGN_OR_RETURN(before[subject.value], copyOf(parameter));
  }
  return program.run(nullptr, &observer);
}

/// Rank 0's tensor on every rank.
Expected<Tensor> RankCheck::share(Group &group, const Subject &subject, const Tensor *exact) const {
  const artifact::Value &value = executor.place().value(subject.value);
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
  const Tensor &own = found == seen.end() ? executor.valueOf(subject.value) : found->second;
  MESHPLAN_ASSIGN_OR_RETURN(
      Tensor part, partOf(whole, executor.place().slices(subject.value), executor.place().shape(subject.value)));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor host, onHost(own));
  MESHPLAN_ASSIGN_OR_RETURN(ElementErrors errors, errorsOf(host, part));
  return Finding{errors};
}

Expected<Finding> RankCheck::compareNorm(const Subject &subject, const Tensor &exact) const {
  MESHPLAN_ASSIGN_OR_RETURN(double squared, numberIn(seen.at(subject.value)));
  MESHPLAN_ASSIGN_OR_RETURN(double norm, numberIn(exact));
  double error = std::abs(std::sqrt(squared) - norm);
  error = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  return Finding{{error, error}};
}

/// What the gradients are scaled by, from the norm that the ranks have found.
Expected<double> RankCheck::clipping() const {
  std::optional<Clipping> clipping = clippingOf(executor.place().program());
  if (!clipping)
    return 1.0;
  MESHPLAN_ASSIGN_OR_RETURN(double squared, numberIn(seen.at(clipping->squaredNorm)));
  return clippingFactor(std::sqrt(squared), clipping->limit);
}

/// LibTorch's optimizer in f64 and in the parameter's precision, on the gradients that this rank had.
Expected<Finding> RankCheck::compareStep(const Subject &subject) const {
  MESHPLAN_ASSIGN_OR_RETURN(double factor, clipping());
  const Tensor &parameter = before.at(subject.value), &gradient = seen.at(subject.gradient);
  auto step = [&](DType dtype) { return firstStep(subject.optimizer, parameter, gradient, factor, dtype); };
  MESHPLAN_ASSIGN_OR_RETURN(Tensor exact, step(DType::f64));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor own, step(parameter.dtype()));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor changed, executor.current(subject.name));
  Finding finding;
  MESHPLAN_ASSIGN_OR_RETURN(finding.errors, errorsOf(changed, exact));
  MESHPLAN_ASSIGN_OR_RETURN(ElementErrors ownErrors, errorsOf(own, exact));
  finding.own = ownErrors.largest;
  MESHPLAN_ASSIGN_OR_RETURN(finding.magnitude, largestMagnitude(exact));
  return finding;
}

Expected<std::vector<Finding>> RankCheck::find(const Exact *exact) {
  MESHPLAN_ASSIGN_OR_RETURN(auto group, world.host().createWorldGroup("world"));
  std::vector<Finding> findings;
  for (size_t i = 0; i < subjects.size(); ++i) {
    const Subject &subject = subjects[i];
    auto compare = [&]() -> Expected<Finding> {
      if (subject.kind == SubjectKind::parameter)
        return compareStep(subject);
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
