//===- class_loss.cpp - the structure of a class loss ---------------------===//

#include "runtime/train/class_loss.h"

#include "runtime/artifact/call_args.h"
#include "runtime/artifact/sharding.h"
#include "runtime/artifact/vector_range.h"
#include "runtime/dataset/batch_reader.h"
#include "runtime/exec/origin.h"
#include "runtime/tensor/operator.h"

#include <algorithm>
#include <cstring>

using namespace meshplan;

//===----------------------------------------------------------------------===//
// Means of cross entropies
//===----------------------------------------------------------------------===//

static const artifact::Compute *producingCall(const artifact::Program &program, int value) {
  std::optional<size_t> index = producingInstruction(program, value);
  return index ? program.instructions()->Get(*index)->action_as_Compute() : nullptr;
}

static bool isClassLoss(std::string_view name) {
  constexpr std::string_view losses[] = {"meshplan.token_loss", "aten.cross_entropy_loss", "aten.nll_loss",
                                         "aten.nll_loss_nd", "aten.nll_loss_forward"};
  return std::ranges::find(losses, name) != std::end(losses);
}

/// True if all targets have equal weight, and the loss of each is the negative log probability of its class.
static bool isPlain(const artifact::Compute &loss) {
  const artifact::Arg *smoothing = findArg(loss, "label_smoothing");
  bool isSmoothed = smoothing && smoothing->reals() && smoothing->reals()->Get(0) != 0;
  return valueArg(loss, "weight") < 0 && !isSmoothed;
}

static bool isInput(const artifact::Program &program, int value, bool ofFloats) {
  if (isFloat(dtypeOf(program.values()->Get(value)->dtype())) != ofFloats)
    return false;
  for (const artifact::Port &input : elementsOf(program.inputs()))
    if (input.value() == value)
      return true;
  return false;
}

/// True if a value is computed from integer inputs only: it is a number of targets, not a scale factor.
static bool isCount(const artifact::Program &program, int value) {
  while (true) {
    if (isInput(program, value, /*ofFloats=*/false))
      return true;
    // Follows views, copies and collectives, which do not change the numbers.
    int source = sourceOf(program, value);
    if (source < 0)
      break;
    value = source;
  }
  const artifact::Compute *call = producingCall(program, value);
  bool reads = false;
  for (const artifact::Arg &arg : elementsOf(call ? call->args() : nullptr))
    for (int operand : elementsOf(arg.values())) {
      if (operand < 0 || !isCount(program, operand))
        return false;
      reads = true;
    }
  return reads;
}

namespace {
/// Walks from a loss back to the losses of its targets. Example: loss = div(sum(token_loss(..., target)),
/// count_tokens(target)). The walk goes back through the division, whose divisor is computed from integers only, and
/// the sum, to a plain class loss: the logarithm of a perplexity. With mul(loss, 0.5) it stops, since a factor is
/// neither a mean nor a sum.
class LossWalk {
public:
  LossWalk(const artifact::Program &program, int value) : program(program), value(value) {}

  bool run() {
    while (true) {
      for (int source = sourceOf(program, value); source >= 0; source = sourceOf(program, value))
        value = source;
      const artifact::Compute *call = producingCall(program, value);
      if (!call)
        return false;
      std::string_view name = withoutOverload(call->target()->string_view());
      if (isClassLoss(name))
        return isPlain(*call) && (isMean || reducesToMean(*call));
      if (!isStepBack(*call, name))
        return false;
    }
  }

private:
  static bool reducesToMean(const artifact::Compute &loss) {
    const artifact::Arg *reduction = findArg(loss, "reduction");
    return reduction && reduction->ints() && reduction->ints()->Get(0)->constant() == 1;
  }

  /// Steps back through a sum or a mean. A sum of means is not a mean.
  bool isStepBack(const artifact::Compute &call, std::string_view name) {
    bool divides = name == "aten.div" && valueArg(call, "other") >= 0 && isCount(program, valueArg(call, "other"));
    bool averages = name == "aten.mean" || name == "meshplan.mean_addend" || divides;
    // Walking back, the mean or the division comes before any sum: loss = sum(...) / count.
    if ((!averages && name != "aten.sum") || (averages && isSum && !isMean))
      return false;
    isMean |= averages;
    isSum |= !averages;
    value = valueArg(call, "self");
    return value >= 0;
  }

  const artifact::Program &program;
  int value;
  bool isMean = false, isSum = false;
};
} // namespace

bool meshplan::isMeanCrossEntropy(const artifact::Program &program, std::string_view output) {
  for (const artifact::Port &port : elementsOf(program.outputs()))
    if (port.name()->string_view() == output)
      return LossWalk(program, port.value()).run();
  return false;
}

//===----------------------------------------------------------------------===//
// Ignored targets
//===----------------------------------------------------------------------===//

/// True if all of the numbers, integers of `size` bytes, equal `number`.
static bool areAll(std::span<const std::byte> numbers, int64_t size, int64_t number) {
  for (; !numbers.empty(); numbers = numbers.subspan(size))
    // The low bytes of a little-endian number are the same number in a narrower type.
    if (std::memcmp(numbers.data(), &number, size) != 0)
      return false;
  return true;
}

/// As the public textOfIgnored, for one class loss. `parts` is the number of model calls (microbatches) in a step.
static std::string textOfIgnored(const artifact::Port &targets, int64_t ignored, int64_t parts, const Dataset &data,
                                 int64_t position) {
  std::optional<size_t> index = data.findField(targets.name()->string_view());
  if (!index)
    return "";
  const SampleField &field = data.batch().fields[*index];
  std::vector<int64_t> shape = field.shape;
  shape.insert(shape.begin(), data.batch().samples);
  std::vector<std::byte> bytes(elementCount(shape) * dtypeSize(field.dtype));
  FeedRequest whole{{field.name}, shape, wholeTensor(shape), field.dtype};
  if (isFloat(field.dtype) || bytes.empty() || !BatchReader(data).read(position, whole, bytes).ok())
    return "";
  size_t partBytes = bytes.size() / parts;
  for (int64_t part = 0; part < parts; ++part)
    if (areAll(std::span(bytes).subspan(part * partBytes, partBytes), dtypeSize(field.dtype), ignored))
      return "every target of " + (parts == 1 ? "the batch" : "microbatch " + std::to_string(part)) +
             " is ignored: all of '" + field.name + "'" + (parts == 1 ? "" : " there") + " is " +
             std::to_string(ignored);
  return "";
}

std::string meshplan::textOfIgnored(const artifact::Program &program, const Dataset &data, int64_t position) {
  for (const artifact::Instruction *instruction : *program.instructions()) {
    const artifact::Compute *call = instruction->action_as_Compute();
    if (!call || !isClassLoss(withoutOverload(call->target()->string_view())))
      continue;
    const artifact::Arg *ignored = findArg(*call, "ignore_index");
    const artifact::Port *targets = inputSourceOf(program, valueArg(*call, "target"));
    if (!targets)
      continue;
    std::vector<int64_t> shape = globalShapeOf(*program.values()->Get(targets->value()));
    // The inputs of the program have the size of a microbatch, the data has batches; the ratio is the number of
    // microbatches.
    if (shape.empty() || shape[0] == 0 || data.batch().samples % shape[0] != 0)
      continue;
    std::string text =
        ::textOfIgnored(*targets, ignored && ignored->ints() ? ignored->ints()->Get(0)->constant() : -100,
                        data.batch().samples / shape[0], data, position);
    if (!text.empty())
      return text;
  }
  return "";
}
