//===- operator.cpp - boxed calls through the dispatcher ------------------===//
//
// A call is prepared once and runs in every step. Preparation looks up the operator and converts the arguments that do
// not change; a run fills in the tensors, calls, and stores the results.
//
// An index out of range is a failure that data causes, and is worth a message of its own. Looking for it before each
// call would make the host wait for the device, so it is looked for after a failure, except where the kernel would end
// the process instead of failing.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/operator.h"

#include "runtime/tensor/memory.h"
#include "runtime/tensor/torch/access.h"
#include "runtime/tensor/torch/binding.h"
#include "runtime/tensor/torch/device.h"
#include "runtime/tensor/torch/dtype.h"
#include "runtime/tensor/torch/guard.h"
#include "runtime/tensor/torch/host_call.h"
#include "runtime/tensor/torch/index_check.h"
#include "runtime/tensor/torch/kernels/gradients/convolution.h"
#include "runtime/tensor/torch/kernels/register.h"
#include "runtime/tensor/torch/vjp.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <algorithm>
#include <c10/core/InferenceMode.h>
#include <mutex>

using namespace meshplan;

/// "aten.linear.default" is aten::linear without overload name, "aten.add.Tensor" is aten::add.Tensor, and
/// "meshplan.attention" is meshplan::attention.
static std::optional<c10::OperatorName> operatorNameOf(std::string_view target) {
  size_t first = target.find('.');
  if (first == std::string_view::npos)
    return std::nullopt;
  std::string_view space = target.substr(0, first), rest = target.substr(first + 1);
  size_t second = rest.find('.');
  std::string_view name = rest.substr(0, second);
  std::string_view overload = second == std::string_view::npos ? "default" : rest.substr(second + 1);
  return c10::OperatorName(std::string(space) + "::" + std::string(name),
                           overload == "default" ? "" : std::string(overload));
}

namespace {

class BoxedCall final : public OperatorCall {
public:
  BoxedCall(c10::OperatorHandle handle, BoundArguments arguments, std::vector<int> outputs,
            std::optional<IndexCheck> indices)
      : handle(handle), arguments(std::move(arguments)), outputs(std::move(outputs)), indices(std::move(indices)),
        isConvolution(handle.schema().name().starts_with("aten::conv")) {}

  Status run(std::span<Tensor> values) override {
    fault.reset();
    // A check costs a device synchronization, so it is made beforehand only where a bad index would end the process.
    if (indices && indices->comesFirst(values))
      MESHPLAN_RETURN_IF_ERROR(findFault(values));
    Status status = guarded([&]() -> Status {
      fillStack(arguments, values, stack);
      // If autograd records this call, its derivative would lose elements in PyTorch 2.11 (gradients/convolution.h).
      bool isWide = isConvolution && !c10::InferenceMode::is_enabled() && losesWeightGradients(stack);
      if (isWide)
        convertFloats(at::kFloat);
      handle.callBoxed(&stack);
      if (isWide)
        convertFloats(at::kBFloat16);
      return storeResults(values);
    });
    // The stack must not keep tensors alive until the next call.
    stack.clear();
    if (status.ok() || !indices)
      return status;
    // The operator's own message does not name the input, so the index is looked for after the failure.
    Status found = findFault(values);
    return fault ? found : status;
  }

  const IndexFault *indexFault() const override { return fault ? &*fault : nullptr; }

private:
  Status findFault(std::span<const Tensor> values) {
    return guarded([&]() -> Status {
      fault = indices->find(values);
      return fault ? Status(StatusCode::invalid, indexText(*fault)) : Status();
    });
  }

  void convertFloats(at::ScalarType type) {
    for (c10::IValue &each : stack)
      if (each.isTensor() && each.toTensor().is_floating_point())
        each = each.toTensor().to(type);
  }

  Status storeResults(std::span<Tensor> values) {
    results.clear();
    // An operator may return a list, such as split; the schedule numbers its tensors one by one.
    for (c10::IValue &result : stack)
      if (result.isTensorList())
        for (const at::Tensor &tensor : result.toTensorVector())
          results.emplace_back(tensor);
      else
        results.push_back(std::move(result));
    MESHPLAN_RETURN_IF_ERROR(checkResults());
    for (size_t i = 0; i < outputs.size(); ++i)
      // Results that no instruction reads have no value; they are freed here.
      if (outputs[i] >= 0)
        values[outputs[i]] = wrap(std::move(results[i]).toTensor());
    results.clear();
    return Status();
  }

  Status checkResults() const {
    if (results.size() != outputs.size())
      return Status::error(StatusCode::invalid, "it gave ", results.size(), " results, the schedule expects ",
                           outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] < 0)
        continue;
      if (!results[i].isTensor())
        return Status::error(StatusCode::unsupported, "its result ", i, " is not a tensor");
      const at::Tensor &tensor = results[i].toTensor();
      if (tensor.defined() && !dtypeOf(tensor.scalar_type()))
        return Status::error(StatusCode::unsupported, "its result ", i, " has the element type ",
                             c10::toString(tensor.scalar_type()));
    }
    return Status();
  }

  c10::OperatorHandle handle;
  BoundArguments arguments;
  std::vector<int> outputs;
  std::optional<IndexCheck> indices;
  std::optional<IndexFault> fault;
  bool isConvolution;
  torch::jit::Stack stack, results;
};

} // namespace

static bool isLinearAlgebra(std::string_view name) {
  constexpr std::string_view prefixes[] = {"aten::linalg_", "aten::_linalg_", "aten::cholesky", "aten::lu_"};
  constexpr std::string_view names[] = {"aten::det",     "aten::inverse", "aten::geqrf",           "aten::logdet",
                                        "aten::orgqr",   "aten::ormqr",   "aten::pinverse",        "aten::qr",
                                        "aten::slogdet", "aten::svd",     "aten::triangular_solve"};
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
         std::ranges::find(names, name) != std::end(names);
}

/// LibTorch's CUDA part loads its linear algebra library at the first call, and fails if two threads do so at once.
static void openLinearAlgebra(std::string_view name) {
  if (deviceOfThread().isHost() || !isLinearAlgebra(name))
    return;
  static std::once_flag once;
  std::call_once(once, [] { at::linalg_inv(at::eye(1, at::TensorOptions(torchDevice(deviceOfThread())))); });
}

/// Prepares the gradient of the operator, or the operator itself.
static Expected<std::unique_ptr<OperatorCall>> prepareFor(const c10::OperatorHandle &handle, bool isGradient,
                                                          std::string_view target, std::span<const Argument> arguments,
                                                          std::vector<int> outputs) {
  if (isGradient)
    return prepareVjp(handle, target, arguments, std::move(outputs));
  MESHPLAN_ASSIGN_OR_RETURN(BoundArguments bound, bindArguments(target, handle.schema(), arguments));
  return std::unique_ptr<OperatorCall>(
      std::make_unique<BoxedCall>(handle, std::move(bound), std::move(outputs), IndexCheck::of(target, arguments)));
}

Expected<std::unique_ptr<OperatorCall>>
meshplan::prepareCall(std::string_view target, std::span<const Argument> arguments, std::vector<int> outputs) {
  return guarded([&]() -> Expected<std::unique_ptr<OperatorCall>> {
    registerKernels();
    // Literal numbers that are passed as tensors belong to the call, not to the rank's memory.
    PoolScope unmetered(nullptr);
    constexpr std::string_view gradientOf = "vjp.";
    bool isGradient = target.starts_with(gradientOf);
    std::optional<c10::OperatorName> name = operatorNameOf(isGradient ? target.substr(gradientOf.size()) : target);
    auto handle = name ? c10::Dispatcher::singleton().findSchema(*name) : std::nullopt;
    if (!handle)
      return Status::error(StatusCode::notFound, "there is no operator '", target, "'");
    openLinearAlgebra(name->name);
    MESHPLAN_ASSIGN_OR_RETURN(auto call, prepareFor(*handle, isGradient, target, arguments, outputs));
    // A mutable operator writes its argument, and on the host it would write a copy.
    if (deviceOfThread().isHost() || handle->schema().is_mutable())
      return call;
    return onHostWithoutKernel(std::move(call), target, arguments, std::move(outputs));
  });
}
