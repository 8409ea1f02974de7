//===- reference.cpp - the exported model on one rank ---------------------===//
//
// What the program under test is compared with: the exported graph, on whole tensors, with derivatives by PyTorch's
// autograd. It shares the operators with the program (prepareCall), but no sharding, no collective, no derivative of
// the compiler and no optimizer, so an error in one of these shows as a difference.
//
// In f64 its result counts as exact. In its own precision it shows how far PyTorch itself is from that. One such run is
// a random number, so further runs perturb the rounding of each result that depends on weights, with a seed for each
// value: values take the seeds from `rounding` on, gradients those after them, and the next microbatch begins where no
// seed has been used.
//
//===----------------------------------------------------------------------===//

#include "runtime/verify/reference.h"

#include "runtime/artifact/sharding.h"
#include "runtime/artifact/vector_range.h"
#include "runtime/base/names.h"
#include "runtime/exec/arguments.h"
#include "runtime/exec/load.h"
#include "runtime/exec/numbers/nonfinite_weights.h"
#include "runtime/exec/origin.h"
#include "runtime/exec/steps/index_fault.h"
#include "runtime/exec/walk.h"
#include "runtime/tensor/autograd.h"
#include "runtime/tensor/elements.h"

#include <algorithm>
#include <cstring>

using namespace meshplan;

static bool isTrained(const artifact::Parameter &parameter, const artifact::Program &program) {
  return parameter.trainable() && isFloat(dtypeOf(program.values()->Get(parameter.value())->dtype()));
}

template <typename Vector, typename Visit> static Status forEach(const Vector *vector, const Visit &visit) {
  for (const auto &element : elementsOf(vector))
    MESHPLAN_RETURN_IF_ERROR(visit(element));
  return Status();
}

Expected<const artifact::Program *> meshplan::findReference(const Artifact &artifact) {
  auto program = findProgram(artifact.schedule(), artifact::ProgramRole::reference);
  if (!program)
    return Status::error(StatusCode::notFound, artifact.path(), ": ", program.status().message(),
                         "; help: 'meshplan compile --reference' adds the model as it was exported");
  return program;
}

Expected<Reference> Reference::load(const Artifact &artifact, const Feed &parameters, const Feed &inputs) {
  MESHPLAN_ASSIGN_OR_RETURN(const artifact::Program *program, findReference(artifact));
  Reference reference(artifact.schedule(), *program);
  MESHPLAN_RETURN_IF_ERROR(reference.loadGiven(parameters));
  MESHPLAN_RETURN_IF_ERROR(reference.checkParameters(parameters));
  MESHPLAN_RETURN_IF_ERROR(reference.loadInputs(inputs));
  return reference;
}

Status Reference::checkParameters(const Feed &parameters) const {
  RankView view(*scheduleTable, *programTable, 0);
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<NonfiniteWeight> nonfinite, nonfiniteWeights(view, given));
  if (nonfinite.empty())
    return Status();
  std::string path = parameters.path().empty() ? "the weights" : parameters.path();
  return Status(StatusCode::numericFault, path + ": " + listOfFew(textsOfFirstHolder(view, nonfinite)));
}

/// Marks the values that are read. For unused results, archives may state wrong dtypes and shapes.
void Reference::findRead() {
  isRead.resize(programTable->values()->size());
  for (const artifact::Instruction *instruction : *programTable->instructions())
    if (const artifact::Compute *action = instruction->action_as_Compute())
      for (const artifact::Arg *arg : *action->args())
        for (int32_t value : elementsOf(arg->values()))
          if (value >= 0)
            isRead[value] = true;
  for (const artifact::Port &output : elementsOf(programTable->outputs()))
    isRead[output.value()] = true;
}

/// Marks the floats that depend on weights. Masks and positions, computed from inputs and buffers, do not depend on the
/// order of sums, so their rounding is not perturbed.
void Reference::findWeighted() {
  isWeighted.resize(programTable->values()->size());
  auto isOfFloats = [&](int value) { return isFloat(dtypeOf(programTable->values()->Get(value)->dtype())); };
  for (const artifact::Parameter &parameter : elementsOf(programTable->parameters())) {
    isWeighted[parameter.value()] = !parameter.buffer() && isOfFloats(parameter.value());
  }
  for (const artifact::Instruction *instruction : *programTable->instructions()) {
    const artifact::Compute *action = instruction->action_as_Compute();
    if (!action)
      continue;
    bool isOfWeights = false;
    for (const artifact::Arg *arg : *action->args())
      for (int32_t value : elementsOf(arg->values()))
        isOfWeights |= value >= 0 && isWeighted[value];
    for (int value : *action->outputs())
      if (value >= 0)
        // Integers that depend on weights, such as the indices of a top-k, end the propagation: they are not rounded.
        isWeighted[value] = isOfWeights && isOfFloats(value);
  }
}

namespace {

/// How the reference's input is part of the step's input: one of `count` slices of `dim`.
struct InputPart {
  std::vector<int64_t> whole;
  size_t dim = 0;
  int64_t count = 1;
};

} // namespace

/// `shape` is the shape of the reference's input.
static InputPart inputPartOf(const artifact::Schedule &schedule, std::string_view input,
                             const std::vector<int64_t> &shape) {
  InputPart part{.whole = shape};
  auto step = findProgram(schedule, artifact::ProgramRole::step);
  if (!step)
    return part;
  (void)forEach((*step)->inputs(), [&](const artifact::Port &port) {
    if (port.name()->string_view() == input)
      part.whole = globalShapeOf(*(*step)->values()->Get(port.value()));
    return Status();
  });
  for (size_t dim = 0; dim < std::min(shape.size(), part.whole.size()); ++dim)
    if (shape[dim] > 0 && part.whole[dim] != shape[dim])
      // With microbatches that have their own mean, the model was exported for one microbatch; only the batch dim
      // differs. Example: the step takes [8, 96] and the exported model [2, 96]: 4 microbatches along dim 0.
      part.dim = dim, part.count = part.whole[dim] / shape[dim];
  return part;
}

/// Loads one slice of an input, unsharded.
static Expected<Tensor> loadPart(const Feed &feed, const std::string &name, const InputPart &part, int64_t number,
                                 const std::vector<int64_t> &shape, DType dtype) {
  SliceRanges ranges = wholeTensor(shape);
  // Microbatches are consecutive slices of the batch.
  if (part.count > 1)
    ranges[part.dim] = {{number * shape[part.dim], shape[part.dim]}};
  FeedRequest request{{name}, part.whole, std::move(ranges), dtype};
  return loadTensor(feed, {&request, 1}, shape, dtype);
}

/// An input that is not split into microbatches is the same for all of them.
Status Reference::loadInputs(const Feed &feed) {
  inputs.resize(1);
  return forEach(programTable->inputs(), [&](const artifact::Port &input) -> Status {
    const artifact::Value &own = *programTable->values()->Get(input.value());
    std::vector<int64_t> shape = globalShapeOf(own);
    InputPart part = inputPartOf(*scheduleTable, input.name()->string_view(), shape);
    // If this input is the first that is split, the tensors of the earlier inputs are repeated for every microbatch.
    inputs.resize(std::max<size_t>(inputs.size(), part.count), inputs.front());
    for (int64_t number = 0; number < static_cast<int64_t>(inputs.size()); ++number) {
      Tensor taken = number > 0 ? inputs.front().back() : Tensor();
      if (number < part.count) {
        MESHPLAN_ASSIGN_OR_RETURN(taken,
                                  loadPart(feed, input.name()->str(), part, number, shape, dtypeOf(own.dtype())));
      }
      inputs[number].push_back(std::move(taken));
    }
    return Status();
  });
}

Status Reference::loadGiven(const Feed &parameters) {
  RankView view(*scheduleTable, *programTable, 0);
  MESHPLAN_RETURN_IF_ERROR(forEach(programTable->parameters(), [&](const artifact::Parameter &parameter) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(given[parameter.value()],
                              loadValue(parameters, view, parameter.value(), namesOf(parameter)));
    return Status();
  }));
  return forEach(programTable->constants(), [&](const artifact::Constant &constant) -> Status {
    const artifact::Value &own = *programTable->values()->Get(constant.value());
    MESHPLAN_ASSIGN_OR_RETURN(Tensor tensor, allocateHostTensor(globalShapeOf(own), dtypeOf(own.dtype())));
    if (tensor.byteSize() > 0)
      std::memcpy(tensor.data(), constant.data()->data(), tensor.byteSize());
    MESHPLAN_ASSIGN_OR_RETURN(given[constant.value()], onDevice(tensor));
    return Status();
  });
}

bool Reference::differentiates(const ReferenceRun &run) const {
  return run.differentiates && programTable->loss() && programTable->loss()->size() > 0;
}

/// The tensors that the program starts with.
Expected<std::vector<Tensor>> Reference::start(const ReferenceRun &run, std::span<const Tensor> taken) const {
  // Handles only: weights are converted for the run, but the loaded tensors stay as they are for the next precision.
  std::vector<Tensor> values = given;
  for (size_t input = 0; input < taken.size(); ++input)
    values[programTable->inputs()->Get(input)->value()] = taken[input];
  for (Tensor &value : values)
    if (value.defined()) {
      MESHPLAN_ASSIGN_OR_RETURN(value, converted(value, dtypeIn(run.precision, value.dtype())));
    }
  MESHPLAN_RETURN_IF_ERROR(forEach(programTable->parameters(), [&](const artifact::Parameter &parameter) -> Status {
    if (!differentiates(run) || !isTrained(parameter, *programTable))
      return Status();
    // Leaves of the graph; buffers and frozen parameters are not recorded.
    MESHPLAN_ASSIGN_OR_RETURN(values[parameter.value()], differentiable(values[parameter.value()]));
    return Status();
  }));
  return values;
}

/// Checks a result. In `wide`, operators that return f32 or another fixed float dtype are converted.
Status Reference::checkResult(int value, Precision precision, std::span<Tensor> values) const {
  const artifact::Value &own = *programTable->values()->Get(value);
  DType dtype = dtypeIn(precision, dtypeOf(own.dtype()));
  Tensor &result = values[value];
  if (precision == Precision::wide && result.defined() && isFloat(result.dtype()) && isFloat(dtype)) {
    MESHPLAN_ASSIGN_OR_RETURN(result, converted(result, dtype));
  }
  std::vector<int64_t> shape = globalShapeOf(own);
  // The reference must run what was exported. A difference here means that a kernel disagrees with the archive, and any
  // comparison would be meaningless.
  if (result.defined() && result.dtype() == dtype && std::ranges::equal(result.shape(), shape))
    return Status();
  return Status::error(StatusCode::internal, "its result is ", describe(result), ", the archive expects ",
                       shapeText(shape), " ", dtypeName(dtype));
}

Status Reference::compute(const artifact::Instruction &instruction, Precision precision, std::span<Tensor> values,
                          bool &isOfInput) const {
  const artifact::Compute &action = *instruction.action_as_Compute();
  RankView view(*scheduleTable, *programTable, 0);
  ReferenceCall call = callIn(precision, {action.target()->str(), argumentsOf(action, view)});
  std::vector<int> outputs(action.outputs()->begin(), action.outputs()->end());
  MESHPLAN_ASSIGN_OR_RETURN(auto prepared, prepareCall(call.target, call.arguments, outputs));
  Status status = prepared->run(values);
  if (const IndexFault *fault = prepared->indexFault()) {
    IndexFaultText described = describeIndexFault(*fault, view, values);
    isOfInput = described.isOfInput;
    return Status(status.code(), described.text);
  }
  MESHPLAN_RETURN_IF_ERROR(status);
  for (int value : outputs)
    // An unused result, such as the second one of a norm, may differ from what the archive says without any effect.
    if (value >= 0 && isRead[value])
      MESHPLAN_RETURN_IF_ERROR(checkResult(value, precision, values));
  return Status();
}

/// Perturbs the rounding of an instruction's results, except of views: their elements have been perturbed already.
Status Reference::perturbRounding(const artifact::Instruction &instruction, uint64_t seed,
                                  std::span<Tensor> values) const {
  const artifact::Compute *action = instruction.action_as_Compute();
  for (int32_t made : elementsOf(action ? action->outputs() : nullptr)) {
    if (made < 0 || !isWeighted[made] || !values[made].defined() || !isFloat(values[made].dtype()))
      continue;
    // Perturbing a view would perturb its elements twice, and change the tensor that it views.
    bool isView = false;
    for (const artifact::Arg *arg : *action->args())
      for (int32_t read : elementsOf(arg->values()))
        if (read >= 0 && read != made && values[read].defined())
          isView |= shareMemory(values[made], values[read]);
    if (!isView) {
      MESHPLAN_ASSIGN_OR_RETURN(values[made], withPerturbedRounding(values[made], seed + static_cast<uint64_t>(made)));
    }
  }
  return Status();
}

/// "aten.mm.default (plan.plan:3:1, module lm_head)".
static std::string callText(const artifact::Schedule &schedule, const artifact::Instruction &instruction) {
  std::string origin = originText(schedule, instruction);
  return instruction.action_as_Compute()->target()->str() + (origin.empty() ? "" : " (" + origin + ")");
}

Status Reference::runInstruction(const artifact::Instruction &instruction, Precision precision,
                                 std::span<Tensor> values) const {
  if (const artifact::Free *action = instruction.action_as_Free())
    for (int value : *action->values())
      // Drops a handle only: what the backward pass needs is kept by the graph.
      values[value] = Tensor();
  if (!instruction.action_as_Compute())
    return Status();
  bool isOfInput = false;
  Status status = compute(instruction, precision, values, isOfInput);
  if (status.ok())
    return status;
  std::string side = precision == Precision::wide ? "the reference in f64" : "the reference in its own precision";
  return status.withContext((isOfInput ? "the inputs" : side) + ": " + callText(*scheduleTable, instruction));
}

/// Describes the first non-finite input of any microbatch; empty if there is none.
Expected<std::string> Reference::nonfiniteInput() const {
  RankView view(*scheduleTable, *programTable, 0);
  for (const std::vector<Tensor> &taken : inputs)
    for (size_t number = 0; number < taken.size(); ++number) {
      const artifact::Port &input = *programTable->inputs()->Get(number);
      MESHPLAN_ASSIGN_OR_RETURN(
          std::string text, nonfiniteText("input", input.name()->string_view(), view, input.value(), taken[number]));
      if (!text.empty())
        return text;
    }
  return std::string();
}

/// Describes the first non-finite result of a call; empty if there is none.
Expected<std::string> Reference::nonfiniteResult(const artifact::Instruction &instruction,
                                                 std::span<const Tensor> values, bool infinities) const {
  const artifact::Compute *action = instruction.action_as_Compute();
  for (int32_t value : elementsOf(action ? action->outputs() : nullptr)) {
    if (value < 0 || !values[value].defined())
      continue;
    MESHPLAN_ASSIGN_OR_RETURN(NonfiniteElements found, nonfiniteIn(values[value], infinities));
    if (found.count > 0)
      return callText(*scheduleTable, instruction) + " makes " + (infinities ? "infinity" : "NaN") + " in " +
             std::to_string(found.count) + " of " + std::to_string(values[value].elementCount()) + " elements";
  }
  return std::string();
}

/// Describes the first non-finite result of a microbatch; empty if there is none.
Expected<std::string> Reference::firstNonfiniteOf(std::span<const Tensor> taken) const {
  ReferenceRun run{.precision = Precision::wide, .differentiates = false};
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<Tensor> values, start(run, taken));
  // Stops at the first NaN; infinities may be intended, as in masks.
  std::string infinite;
  for (const artifact::Instruction *instruction : *programTable->instructions()) {
    MESHPLAN_RETURN_IF_ERROR(runInstruction(*instruction, Precision::wide, values));
    MESHPLAN_ASSIGN_OR_RETURN(std::string text, nonfiniteResult(*instruction, values, /*infinities=*/false));
    if (!text.empty())
      // NaN usually results from an infinity, so both are named: the first infinity is the cause.
      return infinite.empty() ? text : text + ", after the first infinity: " + infinite;
    if (infinite.empty()) {
      MESHPLAN_ASSIGN_OR_RETURN(infinite, nonfiniteResult(*instruction, values, /*infinities=*/true));
    }
  }
  return infinite;
}

Expected<std::string> Reference::firstNonfinite(int threads) const {
  MESHPLAN_ASSIGN_OR_RETURN(std::string input, nonfiniteInput());
  if (!input.empty())
    return input;
  AutogradScope scope(threads, DType::f64);
  for (const std::vector<Tensor> &taken : inputs) {
    MESHPLAN_ASSIGN_OR_RETURN(std::string found, firstNonfiniteOf(taken));
    if (!found.empty())
      return found;
  }
  return std::string("in the backward pass");
}

Status Reference::differentiate(std::span<const Tensor> leaves, const Tensor &loss, ReferenceResult &result) const {
  auto gradients = gradientsOf(loss, leaves);
  if (!gradients)
    return gradients.status().withContext("the reference: the gradients of '" + programTable->loss()->str() + "'");
  size_t next = 0;
  return forEach(programTable->parameters(), [&](const artifact::Parameter &parameter) {
    if (isTrained(parameter, *programTable))
      result.gradients[parameter.names()->Get(0)->str()] = std::move((*gradients)[next++]);
    return Status();
  });
}

Expected<ReferenceResult> Reference::runMicrobatch(const ReferenceRun &run, std::span<const Tensor> taken) const {
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<Tensor> values, start(run, taken));
  std::vector<Tensor> leaves;
  MESHPLAN_RETURN_IF_ERROR(forEach(programTable->parameters(), [&](const artifact::Parameter &parameter) {
    if (isTrained(parameter, *programTable))
      leaves.push_back(values[parameter.value()]);
    return Status();
  }));
  for (const artifact::Instruction *instruction : *programTable->instructions()) {
    MESHPLAN_RETURN_IF_ERROR(runInstruction(*instruction, run.precision, values));
    if (run.rounding)
      MESHPLAN_RETURN_IF_ERROR(perturbRounding(*instruction, *run.rounding, values));
  }
  ReferenceResult result;
  Tensor loss;
  MESHPLAN_RETURN_IF_ERROR(forEach(programTable->outputs(), [&](const artifact::Port &output) -> Status {
    if (programTable->loss() && output.name()->string_view() == programTable->loss()->string_view())
      loss = values[output.value()];
    // Detached, because an output with history would keep the graph of this microbatch in memory during all later ones.
    MESHPLAN_ASSIGN_OR_RETURN(result.outputs[output.name()->str()], detached(values[output.value()]));
    return Status();
  }));
  // Only the graph keeps what the backward pass needs.
  values.clear();
  if (loss.defined() && differentiates(run))
    MESHPLAN_RETURN_IF_ERROR(differentiate(leaves, loss, result));
  // Values use the seeds before this one, gradients those from here on.
  uint64_t seed = run.rounding.value_or(0) + programTable->values()->size();
  for (auto &[name, gradient] : result.gradients)
    if (run.rounding && gradient.defined()) {
      MESHPLAN_ASSIGN_OR_RETURN(gradient, withPerturbedRounding(gradient, seed++));
    }
  return result;
}

/// Which outputs have a mean over microbatches: scalars.
static bool hasMean(const Tensor &output) { return isFloat(output.dtype()) && elementCount(output.shape()) == 1; }

/// Adds the tensors of a microbatch to those of the earlier ones. An undefined tensor is zero.
static Status addTo(NamedTensors &sums, const NamedTensors &own) {
  for (const auto &[name, tensor] : own) {
    Tensor &sum = sums[name];
    if (!sum.defined())
      sum = tensor;
    else if (tensor.defined()) {
      MESHPLAN_ASSIGN_OR_RETURN(sum, sumOf(sum, tensor));
    }
  }
  return Status();
}

static Status divideAll(NamedTensors &sums, size_t count) {
  for (auto &[name, sum] : sums)
    if (sum.defined()) {
      MESHPLAN_ASSIGN_OR_RETURN(sum, dividedBy(sum, static_cast<double>(count)));
    }
  return Status();
}

Expected<ReferenceResult> Reference::run(const ReferenceRun &run) const {
  AutogradScope scope(run.threads, run.precision == Precision::wide ? DType::f64 : DType::f32);
  if (inputs.size() == 1)
    return runMicrobatch(run, inputs.front());
  ReferenceResult sums;
  ReferenceRun part = run;
  for (const std::vector<Tensor> &taken : inputs) {
    MESHPLAN_ASSIGN_OR_RETURN(ReferenceResult own, runMicrobatch(part, taken));
    if (part.rounding)
      // Another microbatch needs other seeds.
      *part.rounding += 2 * programTable->values()->size();
    // The program gives outputs of the whole batch, which no mean of microbatches has the shape of.
    std::erase_if(own.outputs, [](const auto &output) { return !hasMean(output.second); });
    MESHPLAN_RETURN_IF_ERROR(addTo(sums.outputs, own.outputs));
    MESHPLAN_RETURN_IF_ERROR(addTo(sums.gradients, own.gradients));
  }
  MESHPLAN_RETURN_IF_ERROR(divideAll(sums.outputs, inputs.size()));
  MESHPLAN_RETURN_IF_ERROR(divideAll(sums.gradients, inputs.size()));
  return sums;
}
