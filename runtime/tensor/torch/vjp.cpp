//===- vjp.cpp - gradients by LibTorch's autograd -------------------------===//

#include "runtime/tensor/torch/vjp.h"

#include "runtime/tensor/torch/access.h"
#include "runtime/tensor/torch/binding.h"
#include "runtime/tensor/torch/guard.h"
#include "runtime/tensor/torch/kernels/gradients/convolution.h"
#include "runtime/tensor/torch/recording.h"

#include <algorithm>
#include <torch/csrc/autograd/autograd.h>

using namespace meshplan;

namespace {

/// The tensor whose gradient is asked for.
struct Wanted {
  size_t position;
  int64_t index = -1; // of a list
};

/// Whether the operator may write to this argument; schemas of batch norm do not say that it does.
bool isWritten(const c10::Argument &parameter) {
  return (parameter.alias_info() && parameter.alias_info()->isWrite()) || parameter.name().starts_with("running_");
}

class VjpCall final : public OperatorCall {
public:
  VjpCall(c10::OperatorHandle base, BoundArguments arguments, std::vector<int> gradients, Wanted wanted, int output)
      : base(base), arguments(std::move(arguments)), gradients(std::move(gradients)), wanted(wanted), output(output),
        isGroupNorm(base.schema().name().ends_with("group_norm")),
        isConvolution(base.schema().name().starts_with("aten::conv")) {}

  Status run(std::span<Tensor> values) override {
    Status status = guarded([&]() -> Status {
      fillStack(arguments, values, stack);
      isWide = isConvolution && losesElements();
      RecordingScope scope;
      at::Tensor leaf = replaceTensors();
      base.callBoxed(&stack);
      MESHPLAN_ASSIGN_OR_RETURN(at::Tensor gradient, gradientOf(leaf, values));
      if (output >= 0)
        values[output] = wrap(isWide ? gradient.to(at::kBFloat16) : std::move(gradient));
      return Status();
    });
    stack.clear();
    return status;
  }

private:
  /// True for a convolution of whose weight's gradient PyTorch 2.11 loses elements (gradients/convolution.h).
  bool losesElements() const {
    for (const c10::IValue &argument : stack)
      if (argument.isTensor() && losesWeightGradients(argument.toTensor()))
        return true;
    return false;
  }

  /// The tensor as PyTorch 2.11 differentiates it right. Where images are channels-last and only the gradient of the
  /// weight of a group norm is asked for, it crashes.
  at::Tensor sound(const at::Tensor &tensor) const {
    if (isGroupNorm)
      return tensor.contiguous();
    return isWide && tensor.is_floating_point() ? tensor.to(at::kFloat) : tensor;
  }

  /// Puts tensors that autograd has not seen in the place of those on the stack, and returns the one to record.
  at::Tensor replaceTensors() {
    at::Tensor leaf;
    auto replace = [&](const at::Tensor &tensor, size_t position, bool isWanted) {
      if (!tensor.defined())
        return tensor;
      // What was made in inference mode cannot be recorded, and what the operator writes it has written before.
      bool copied = tensor.is_inference() || isWritten(base.schema().arguments()[position]);
      at::Tensor result = copied ? tensor.clone() : tensor.detach();
      result = sound(result);
      if (isWanted) {
        TORCH_CHECK(result.is_floating_point(), "there is no gradient of a tensor of ", result.scalar_type());
        leaf = result.requires_grad_(true);
      }
      return result;
    };
    for (const auto &slot : arguments.values)
      stack[slot.position] = replace(stack[slot.position].toTensor(), slot.position, slot.position == wanted.position);
    for (const auto &slot : arguments.lists) {
      auto isWanted = [&](size_t index) {
        return slot.position == wanted.position && static_cast<int64_t>(index) == wanted.index;
      };
      if (slot.elementsAreOptional) {
        auto list = stack[slot.position].to<c10::List<std::optional<at::Tensor>>>();
        for (size_t i = 0; i < list.size(); ++i)
          if (std::optional<at::Tensor> tensor = list.get(i))
            list.set(i, replace(*tensor, slot.position, isWanted(i)));
      } else {
        auto list = stack[slot.position].toTensorList();
        for (size_t i = 0; i < list.size(); ++i)
          list.set(i, replace(list.get(i), slot.position, isWanted(i)));
      }
    }
    TORCH_CHECK(leaf.defined(), "there is no tensor to have a gradient");
    return leaf;
  }

  Expected<at::Tensor> gradientOf(const at::Tensor &leaf, std::span<Tensor> values) {
    std::vector<at::Tensor> results = resultsOnStack(), roots, seeds;
    if (results.size() != gradients.size())
      return Status::error(StatusCode::invalid, "it gave ", results.size(), " results, there are ", gradients.size(),
                           " gradients");
    for (size_t i = 0; i < results.size(); ++i) {
      const at::Tensor seed = gradients[i] < 0 ? at::Tensor() : unwrap(values[gradients[i]]);
      if (!seed.defined() || !results[i].defined() || !results[i].requires_grad())
        continue;
      if (seed.sizes() != results[i].sizes())
        return Status::error(StatusCode::invalid, "gradient ", i, " is ", describe(values[gradients[i]]),
                             ", the result is ", describe(wrap(results[i])));
      roots.push_back(results[i]);
      seeds.push_back((seed.is_inference() ? seed.clone() : seed).to(results[i].scalar_type()));
    }
    stack.clear();
    results.clear();
    at::Tensor gradient;
    if (!roots.empty())
      gradient = torch::autograd::grad(roots, {leaf}, seeds, /*retain_graph=*/false, /*create_graph=*/false,
                                       /*allow_unused=*/true)[0];
    return gradient.defined() ? gradient : at::zeros_like(leaf.detach());
  }

  /// Lists one by one; what is no tensor is not defined.
  std::vector<at::Tensor> resultsOnStack() const {
    std::vector<at::Tensor> results;
    for (const c10::IValue &result : stack)
      if (result.isTensorList())
        for (const at::Tensor &tensor : result.toTensorVector())
          results.push_back(tensor);
      else
        results.push_back(result.isTensor() ? result.toTensor() : at::Tensor());
    return results;
  }

  c10::OperatorHandle base;
  BoundArguments arguments;
  std::vector<int> gradients;
  Wanted wanted;
  int output;
  bool isGroupNorm, isConvolution, isWide = false;
  torch::jit::Stack stack;
};

/// The arguments that are not the operator's own.
struct VjpArguments {
  std::vector<int> gradients;
  std::string of;
  int64_t index = -1;
};

} // namespace

template <typename T> static const T *find(std::span<const Argument> arguments, std::string_view name) {
  auto found = std::ranges::find(arguments, name, &Argument::name);
  return found == arguments.end() ? nullptr : std::get_if<T>(&found->content);
}

static Expected<VjpArguments> vjpArguments(std::string_view target, std::span<const Argument> arguments) {
  auto *gradients = find<ValueListArgument>(arguments, "gradients");
  auto *of = find<std::string>(arguments, "of");
  if (!gradients || !of)
    return Status::error(StatusCode::invalid, target, ": argument '", gradients ? "of" : "gradients",
                         "' must be given as ", gradients ? "a string" : "a list of tensors");
  auto *index = find<int64_t>(arguments, "of_index");
  return VjpArguments{gradients->values, *of, index ? *index : -1};
}

/// Where the tensor that is named stands.
static Expected<Wanted> findWanted(std::string_view target, const c10::FunctionSchema &schema,
                                   const BoundArguments &bound, const VjpArguments &own) {
  std::optional<int> position = schema.argumentIndexWithName(own.of);
  for (const auto &slot : bound.values)
    if (position && slot.position == static_cast<size_t>(*position) && own.index < 0)
      return Wanted{slot.position};
  for (const auto &slot : bound.lists)
    if (position && slot.position == static_cast<size_t>(*position) && own.index >= 0 &&
        own.index < static_cast<int64_t>(slot.values.size()) && slot.values[own.index] >= 0)
      return Wanted{slot.position, own.index};
  std::string which = own.index < 0 ? "" : " at of_index " + std::to_string(own.index);
  return Status::error(StatusCode::invalid, target, ": argument '", own.of, "' has no tensor", which,
                       " whose gradient could be taken");
}

Expected<std::unique_ptr<OperatorCall>> meshplan::prepareVjp(c10::OperatorHandle base, std::string_view target,
                                                             std::span<const Argument> arguments,
                                                             std::vector<int> outputs) {
  MESHPLAN_ASSIGN_OR_RETURN(VjpArguments own, vjpArguments(target, arguments));
  std::vector<Argument> others;
  std::ranges::copy_if(arguments, std::back_inserter(others), [](const Argument &argument) {
    return argument.name != "gradients" && argument.name != "of" && argument.name != "of_index";
  });
  MESHPLAN_ASSIGN_OR_RETURN(BoundArguments bound, bindArguments(target, base.schema(), others));
  MESHPLAN_ASSIGN_OR_RETURN(Wanted wanted, findWanted(target, base.schema(), bound, own));
  if (outputs.size() != 1)
    return Status::error(StatusCode::invalid, target, " has one result, the schedule expects ", outputs.size());
  return std::unique_ptr<OperatorCall>(
      std::make_unique<VjpCall>(base, std::move(bound), std::move(own.gradients), wanted, outputs[0]));
}
