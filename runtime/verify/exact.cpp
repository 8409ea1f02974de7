//===- exact.cpp - the exact tensors, and the errors of PyTorch -----------===//

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

/// What the loss does not depend on has a gradient of zeros.
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
  return numberTensor(norm);
}

/// The gradient that the reference has for a parameter, on the host.
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

Expected<std::vector<Tensor>> Exact::run(Precision precision, bool gradients) const {
  MESHPLAN_ASSIGN_OR_RETURN(ReferenceResult result, reference->run({precision, drawCount, threads, gradients}));
  std::vector<Tensor> list(subjects.size());
  for (size_t i = 0; i < subjects.size(); ++i)
    if (gradients || subjects[i].kind == SubjectKind::output) {
      MESHPLAN_ASSIGN_OR_RETURN(list[i], tensorOf(subjects[i], result, reference->program()));
    }
  return list;
}

Status Exact::takeErrors(std::span<const Tensor> exact, std::span<const Tensor> own) {
  for (size_t i = 0; i < subjects.size(); ++i) {
    if (!exact[i].defined())
      continue;
    MESHPLAN_ASSIGN_OR_RETURN(ElementErrors errors, errorsOf(own[i], exact[i]));
    // Another draw without numbers tells nothing of errors.
    if (drawCount == 0 || std::isfinite(errors.largest))
      ownErrors[i] = std::max(ownErrors[i], errors.largest);
  }
  return Status();
}

Status Exact::addDraw(bool gradients) {
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<Tensor> exact, run(Precision::wide, gradients));
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<Tensor> own, run(Precision::own, gradients));
  MESHPLAN_RETURN_IF_ERROR(takeErrors(exact, own));
  if (drawCount++ == 0)
    tensors = std::move(exact);
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
    MESHPLAN_ASSIGN_OR_RETURN(std::string where, reference->firstNonfinite(threads));
    return Status(StatusCode::numericFault, "the reference in f64: " + std::string(kindName(subject.kind)) + " '" +
                                                subject.name +
                                                "' is not finite, which leaves nothing to compare with: " + where);
  }
  return Status();
}

Expected<Exact> Exact::make(const Reference &reference, std::span<const Subject> subjects, int threads) {
  Exact made(reference, subjects, threads);
  made.ownErrors.resize(subjects.size());
  made.magnitudes.resize(subjects.size());
  MESHPLAN_RETURN_IF_ERROR(made.addDraw());
  MESHPLAN_RETURN_IF_ERROR(made.checkFinite());
  for (size_t i = 0; i < subjects.size(); ++i) {
    if (!made.tensors[i].defined())
      continue;
    // Numbers that are not rounded have no magnitude to be rounded to.
    if (isFloat(made.tensors[i].dtype())) {
      MESHPLAN_ASSIGN_OR_RETURN(made.magnitudes[i], largestMagnitude(made.tensors[i]));
    }
    MESHPLAN_ASSIGN_OR_RETURN(Tensor wide, converted(made.tensors[i], DType::f64));
    MESHPLAN_ASSIGN_OR_RETURN(Tensor host, onHost(wide));
    MESHPLAN_ASSIGN_OR_RETURN(made.tensors[i], contiguous(host));
  }
  return made;
}
