//===- vjp.cpp - gradients by LibTorch's autograd -------------------------===//
//
// The derivative of an operator for which the compiler has no formula: the operator runs again, recorded by PyTorch's
// autograd, on leaves without history. Example: `y = f(x, w)`, gradients of `x` and `w` are asked for.
//
//   x', w' = leaves that share the elements of x and w
//   y'     = f(x', w'), recorded
//   dx, dw = grad(y', [x', w'], dy)
//
// The price is a second forward pass of this operator, and the memory of its graph for the time of the call. If the
// forward pass of the step were recorded instead, autograd would keep tensors that the compiler's memory plan does not
// know.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/torch/vjp.h"

#include "runtime/tensor/torch/access.h"
#include "runtime/tensor/torch/binding.h"
#include "runtime/tensor/torch/device.h"
#include "runtime/tensor/torch/guard.h"
#include "runtime/tensor/torch/kernels/gradients/convolution.h"
#include "runtime/tensor/torch/recording.h"

#include <algorithm>
#include <torch/csrc/autograd/autograd.h>

using namespace meshplan;

namespace {

/// A tensor argument whose gradient is requested.
struct Wanted {
  size_t position;
  int64_t index = -1; // index into a list
  bool operator==(const Wanted &) const = default;
};

/// True if the operator may write to this argument. Schemas of batch norm do not declare it.
bool isWritten(const c10::Argument &parameter) {
  return (parameter.alias_info() && parameter.alias_info()->isWrite()) || parameter.name().starts_with("running_");
}

class VjpCall final : public OperatorCall {
public:
  VjpCall(c10::OperatorHandle base, BoundArguments arguments, std::vector<int> gradients, std::vector<Wanted> wanted,
          std::vector<int> outputs)
      : base(base), arguments(std::move(arguments)), gradients(std::move(gradients)), wanted(std::move(wanted)),
        outputs(std::move(outputs)), isGroupNorm(base.schema().name().ends_with("group_norm")),
        isConvolution(base.schema().name().starts_with("aten::conv") ||
                      base.schema().name() == "meshplan::grouped_convolution") {}

  Status run(std::span<Tensor> values) override {
    Status status = guarded([&]() -> Status {
      fillStack(arguments, values, stack);
      isWide = isConvolution && losesWeightGradients(stack);
      RecordingScope scope;
      std::vector<at::Tensor> leaves = replaceTensors();
      // Recomputes the operator, now recorded by autograd: no derivative formula of our own is needed.
      base.callBoxed(&stack);
      MESHPLAN_ASSIGN_OR_RETURN(std::vector<at::Tensor> found, gradientsOf(leaves, values));
      for (size_t i = 0; i < outputs.size(); ++i)
        if (outputs[i] >= 0)
          values[outputs[i]] = wrap(isWide ? found[i].to(at::kBFloat16) : std::move(found[i]));
      return Status();
    });
    stack.clear();
    return status;
  }

private:
  /// The tensor in a form that PyTorch 2.11 differentiates correctly. Group norm crashes for channels-last inputs if
  /// only the weight's gradient is requested.
  at::Tensor sound(const at::Tensor &tensor) const {
    if (isGroupNorm)
      return tensor.contiguous();
    return isWide && tensor.is_floating_point() ? tensor.to(at::kFloat) : tensor;
  }

  /// The tensor without autograd history; a leaf to record if its gradient is requested.
  at::Tensor replaced(const at::Tensor &tensor, Wanted operand, std::vector<at::Tensor> &leaves) const;

  /// Replaces the tensors on the stack by ones without autograd history, and returns the leaves.
  std::vector<at::Tensor> replaceTensors();

  Expected<std::vector<at::Tensor>> gradientsOf(const std::vector<at::Tensor> &leaves, std::span<Tensor> values);

  /// The results, with lists expanded; a result that is not a tensor is undefined.
  std::vector<at::Tensor> resultsOnStack() const;

  c10::OperatorHandle base;
  BoundArguments arguments;
  std::vector<int> gradients;
  std::vector<Wanted> wanted;
  std::vector<int> outputs;
  bool isGroupNorm, isConvolution, isWide = false;
  torch::jit::Stack stack;
};

at::Tensor VjpCall::replaced(const at::Tensor &tensor, Wanted operand, std::vector<at::Tensor> &leaves) const {
  if (!tensor.defined())
    return tensor;
  // Tensors of inference mode cannot be recorded, and the operator must not write to its arguments again.
  bool copied = tensor.is_inference() || isWritten(base.schema().arguments()[operand.position]);
  at::Tensor result = sound(copied ? tensor.clone() : tensor.detach());
  auto found = std::ranges::find(wanted, operand);
  if (found != wanted.end()) {
    TORCH_CHECK(result.is_floating_point(), "there is no gradient of a tensor of ", result.scalar_type());
    leaves[found - wanted.begin()] = result.requires_grad_(true);
  }
  return result;
}

std::vector<at::Tensor> VjpCall::replaceTensors() {
  std::vector<at::Tensor> leaves(wanted.size());
  for (const auto &slot : arguments.values)
    stack[slot.position] = replaced(stack[slot.position].toTensor(), {slot.position}, leaves);
  for (const auto &slot : arguments.lists) {
    auto positionOf = [&](size_t index) { return Wanted{slot.position, static_cast<int64_t>(index)}; };
    if (slot.elementsAreOptional) {
      auto list = stack[slot.position].to<c10::List<std::optional<at::Tensor>>>();
      for (size_t i = 0; i < list.size(); ++i)
        if (std::optional<at::Tensor> tensor = list.get(i))
          list.set(i, replaced(*tensor, positionOf(i), leaves));
    } else {
      auto list = stack[slot.position].toTensorList();
      for (size_t i = 0; i < list.size(); ++i)
        list.set(i, replaced(list.get(i), positionOf(i), leaves));
    }
  }
  for (const at::Tensor &leaf : leaves)
    TORCH_CHECK(leaf.defined(), "there is no tensor to have a gradient");
  return leaves;
}

Expected<std::vector<at::Tensor>> VjpCall::gradientsOf(const std::vector<at::Tensor> &leaves,
                                                       std::span<Tensor> values) {
  std::vector<at::Tensor> results = resultsOnStack(), roots, seeds;
  if (results.size() != gradients.size())
    return Status::error(StatusCode::invalid, "it gave ", results.size(), " results, there are ", gradients.size(),
                         " gradients");
  for (size_t i = 0; i < results.size(); ++i) {
    const at::Tensor seed = gradients[i] < 0 ? at::Tensor() : unwrap(values[gradients[i]]);
    // Results without gradient, such as indices, do not contribute.
    if (!seed.defined() || !results[i].defined() || !results[i].requires_grad())
      continue;
    if (seed.sizes() != results[i].sizes())
      return Status::error(StatusCode::invalid, "gradient ", i, " is ", describe(values[gradients[i]]),
                           ", the result is ", describe(wrap(results[i])));
    roots.push_back(results[i]);
    // Seeds of inference mode cannot be saved for the backward pass, so they are copied.
    seeds.push_back((seed.is_inference() ? seed.clone() : seed).to(results[i].scalar_type()));
  }
  // The graph holds what it needs; other tensors are freed before the backward pass.
  stack.clear();
  results.clear();
  std::vector<at::Tensor> found(leaves.size());
  if (!roots.empty())
    // The schedule calls each derivative once, so the graph is freed while it is walked.
    found = torch::autograd::grad(roots, leaves, seeds, /*retain_graph=*/false, /*create_graph=*/false,
                                  /*allow_unused=*/true);
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i].defined())
      // Unused arguments have no gradient in autograd, but the schedule expects a tensor.
      found[i] = at::zeros_like(leaves[i].detach());
    found[i] = withElements(found[i]);
    // Results must not alias each other.
    auto isSame = [&](const at::Tensor &other) { return other.is_alias_of(found[i]); };
    if (std::any_of(found.begin(), found.begin() + i, isSame))
      found[i] = found[i].clone();
  }
  return found;
}

std::vector<at::Tensor> VjpCall::resultsOnStack() const {
  std::vector<at::Tensor> results;
  for (const c10::IValue &result : stack)
    if (result.isTensorList())
      for (const at::Tensor &tensor : result.toTensorVector())
        results.push_back(tensor);
    else
      results.push_back(result.isTensor() ? result.toTensor() : at::Tensor());
  return results;
}

/// The arguments of the vjp that are not the operator's own.
struct VjpArguments {
  std::vector<int> gradients;
  std::vector<std::string> of;
};

} // namespace

template <typename T> static const T *find(std::span<const Argument> arguments, std::string_view name) {
  auto found = std::ranges::find(arguments, name, &Argument::name);
  return found == arguments.end() ? nullptr : std::get_if<T>(&found->content);
}

/// Splits `text` at each separator.
static std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  for (size_t end = text.find(separator); end != text.npos; end = text.find(separator)) {
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + separator.size());
  }
  parts.emplace_back(text);
  return parts;
}

static Expected<VjpArguments> vjpArguments(std::string_view target, std::span<const Argument> arguments) {
  // `gradients` are those of the results, `of` names the arguments whose gradients are requested.
  auto *gradients = find<ValueListArgument>(arguments, "gradients");
  auto *of = find<std::string>(arguments, "of");
  if (!gradients || !of)
    return Status::error(StatusCode::invalid, target, ": argument '", gradients ? "of" : "gradients",
                         "' must be given as ", gradients ? "a string" : "a list of tensors");
  return VjpArguments{gradients->values, split(*of, ", ")};
}

/// The position of the named tensor: "input", or "params.1" in a list.
static Expected<Wanted> findWanted(std::string_view target, const c10::FunctionSchema &schema,
                                   const BoundArguments &bound, const std::string &name) {
  size_t point = name.find('.');
  std::optional<int> position = schema.argumentIndexWithName(name.substr(0, point));
  for (const auto &slot : bound.values)
    if (position && slot.position == static_cast<size_t>(*position) && point == name.npos)
      return Wanted{slot.position};
  for (const auto &slot : bound.lists)
    for (size_t index = 0; index < slot.values.size(); ++index)
      if (position && slot.position == static_cast<size_t>(*position) && slot.values[index] >= 0 &&
          point != name.npos && name.substr(point + 1) == std::to_string(index))
        return Wanted{slot.position, static_cast<int64_t>(index)};
  return Status::error(StatusCode::invalid, target, ": argument '", name,
                       "' has no tensor whose gradient could be taken");
}

/// cuDNN keeps what the backward pass needs only in training mode, which differs from evaluation by its dropout.
static void trainRecurrent(const c10::FunctionSchema &schema, BoundArguments &bound) {
  std::optional<int> train = schema.argumentIndexWithName("train"), dropout = schema.argumentIndexWithName("dropout");
  if (deviceOfThread().isHost() || !isRecurrent(schema) || !train || !dropout || bound.fixed[*train].toBool())
    return;
  bound.fixed[*train] = true;
  bound.fixed[*dropout] = 0.0;
}

Expected<std::unique_ptr<OperatorCall>> meshplan::prepareVjp(c10::OperatorHandle base, std::string_view target,
                                                             std::span<const Argument> arguments,
                                                             std::vector<int> outputs) {
  MESHPLAN_ASSIGN_OR_RETURN(VjpArguments own, vjpArguments(target, arguments));
  std::vector<Argument> others;
  std::ranges::copy_if(arguments, std::back_inserter(others),
                       [](const Argument &argument) { return argument.name != "gradients" && argument.name != "of"; });
  MESHPLAN_ASSIGN_OR_RETURN(BoundArguments bound, bindArguments(target, base.schema(), others));
  trainRecurrent(base.schema(), bound);
  std::vector<Wanted> wanted;
  for (const std::string &name : own.of) {
    MESHPLAN_ASSIGN_OR_RETURN(Wanted operand, findWanted(target, base.schema(), bound, name));
    if (std::ranges::find(wanted, operand) != wanted.end())
      return Status::error(StatusCode::invalid, target, ": argument 'of' names '", name, "' twice");
    wanted.push_back(operand);
  }
  if (outputs.size() != wanted.size())
    return Status::error(StatusCode::invalid, target, " has ", wanted.size(), " results, the schedule expects ",
                         outputs.size());
  return std::unique_ptr<OperatorCall>(std::make_unique<VjpCall>(base, std::move(bound), std::move(own.gradients),
                                                                 std::move(wanted), std::move(outputs)));
}
