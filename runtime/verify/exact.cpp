//===- exact.cpp - exact tensors and PyTorch's errors ---------------------===//

#include "runtime/verify/exact.h"

#include "runtime/artifact/sharding.h"
#include "runtime/tensor/elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace meshplan;

static Expected<Tensor> numberTensor(double number) {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor tensor, allocateHostTensor({}, DType::f64));
  std::memcpy(tensor.data(), &number, sizeof number);
  return tensor;
}

/// A parameter that the loss does not depend on has a zero gradient.
static Expected<Tensor> zerosLike(const artifact::Value &value) {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor tensor, allocateHostTensor(globalShapeOf(value), DType::f64));
  if (tensor.byteSize() > 0)
    std::memset(tensor.data(), 0, tensor.byteSize());
  return tensor;
}

static Expected<Tensor> normOfAll(const NamedTensors &gradients) {
  std::vector<Tensor> list;
  for (const auto &[name, gradient] : gradients)
    if (gradient.defined())
      list.push_back(gradient);
  MESHPLAN_ASSIGN_OR_RETURN(double norm, normOf(list));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor number, numberTensor(norm));
  // In the precision of the run, as the program's own norm.
  return list.empty() ? number : converted(number, list.front().dtype());
}

/// The reference's gradient of a parameter, on the host.
static Expected<Tensor> gradientIn(const ReferenceResult &result, const std::string &name,
                                   const artifact::Program &program) {
  auto found = result.gradients.find(name);
  if (found == result.gradients.end())
    return Status::error(StatusCode::corrupted, "the reference does not train parameter '", name, "'");
  if (found->second.defined())
    return found->second;
  return zerosLike(*program.values()->Get(findParameter(program, name)->value()));
}

static Expected<Tensor> tensorOf(const Subject &subject, const ReferenceResult &result,
                                 const artifact::Program &program) {
  switch (subject.kind) {
  case SubjectKind::output:
    if (auto found = result.outputs.find(subject.name); found != result.outputs.end())
      return found->second;
    return Status::error(StatusCode::corrupted, "the reference has no output '", subject.name, "'");
  case SubjectKind::gradient:
    return gradientIn(result, subject.name, program);
  case SubjectKind::norm:
    return normOfAll(result.gradients);
  case SubjectKind::master:
  case SubjectKind::parameter:
    break;
  }
  return Tensor();
}

Expected<std::vector<Tensor>> Exact::run(const ReferenceRun &run) const {
  MESHPLAN_ASSIGN_OR_RETURN(ReferenceResult result, reference->run(run));
  std::vector<Tensor> list(subjects.size());
  for (size_t i = 0; i < subjects.size(); ++i)
    if (run.differentiates || subjects[i].kind == SubjectKind::output) {
      MESHPLAN_ASSIGN_OR_RETURN(list[i], tensorOf(subjects[i], result, reference->program()));
    }
  return list;
}

Status Exact::addDraw(bool gradients) {
  ReferenceRun narrow{.precision = Precision::own, .threads = threads, .differentiates = gradients};
  // A run uses one seed per value, so the seeds of runs must be far apart.
  if (drawCount > 0)
    narrow.rounding = static_cast<uint64_t>(drawCount) << 32;
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<Tensor> own, run(narrow));
  for (size_t i = 0; i < subjects.size(); ++i) {
    // The optimizer's subjects are undefined on both sides: each rank compares them itself. A draw without gradients
    // lacks these.
    if (!own[i].defined() || !tensors[i].defined())
      continue;
    MESHPLAN_ASSIGN_OR_RETURN(ElementErrors errors, errorsOf(own[i], tensors[i]));
    if (drawCount == 0 && std::isfinite(errors.largest)) {
      // Values with few mantissa bits may be close to the exact number by chance, in all runs.
      MESHPLAN_ASSIGN_OR_RETURN(ownErrors[i], roundingOf(own[i]));
    }
    // Another run with a non-finite result says nothing about errors.
    if (drawCount == 0 || std::isfinite(errors.largest))
      // The largest of all runs: a single run may be close to the exact result by chance.
      ownErrors[i] = std::max(ownErrors[i], errors.largest);
  }
  ++drawCount;
  return Status();
}

/// Outputs other than the loss may be infinite, as masked logits are.
Status Exact::checkFinite() const {
  const auto *loss = reference->program().loss();
  for (size_t i = 0; i < subjects.size(); ++i) {
    const Subject &subject = subjects[i];
    if (!tensors[i].defined())
      continue;
    bool isOther = subject.kind == SubjectKind::output && (!loss || subject.name != loss->string_view());
    MESHPLAN_ASSIGN_OR_RETURN(NonfiniteElements found, nonfiniteIn(tensors[i], /*infinities=*/!isOther));
    if (found.count == 0)
      continue;
    // Runs the reference again, and checks every result: expensive, but only after a failure.
    MESHPLAN_ASSIGN_OR_RETURN(std::string where, reference->firstNonfinite(threads));
    return Status(StatusCode::numericFault, std::string(kindName(subject.kind)) + " '" + subject.name +
                                                "' of the reference in f64 is not finite, so there is nothing to "
                                                "compare with: " +
                                                where);
  }
  return Status();
}

Expected<Exact> Exact::make(const Reference &reference, std::span<const Subject> subjects, int threads,
                            const Progress &tell) {
  Exact made(reference, subjects, threads);
  made.ownErrors.resize(subjects.size());
  made.magnitudes.resize(subjects.size());
  if (tell)
    tell("running the reference in f64");
  MESHPLAN_ASSIGN_OR_RETURN(made.tensors, made.run({.precision = Precision::wide, .threads = threads}));
  MESHPLAN_RETURN_IF_ERROR(made.checkFinite());
  if (tell)
    tell("running the reference in its own precision");
  MESHPLAN_RETURN_IF_ERROR(made.addDraw());
  for (size_t i = 0; i < subjects.size(); ++i) {
    if (!made.tensors[i].defined())
      continue;
    // Integers and booleans are not rounded, so they have no magnitude.
    if (isFloat(made.tensors[i].dtype())) {
      MESHPLAN_ASSIGN_OR_RETURN(made.magnitudes[i], largestMagnitude(made.tensors[i]));
    }
    // To the host once; rank 0 broadcasts from there to the ranks.
    MESHPLAN_ASSIGN_OR_RETURN(Tensor wide, converted(made.tensors[i], DType::f64));
    MESHPLAN_ASSIGN_OR_RETURN(Tensor host, onHost(wide));
    MESHPLAN_ASSIGN_OR_RETURN(made.tensors[i], contiguous(host));
  }
  return made;
}
