//===- host_call.cpp - operators without a GPU kernel ---------------------===//

#include "runtime/tensor/torch/host_call.h"

#include "runtime/tensor/torch/access.h"
#include "runtime/tensor/torch/guard.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <utility>

using namespace meshplan;

namespace {

class HostCall final : public OperatorCall {
public:
  HostCall(std::unique_ptr<OperatorCall> call, std::string_view target, std::vector<int> operands,
           std::vector<int> outputs)
      : call(std::move(call)), target(target), operands(std::move(operands)), outputs(std::move(outputs)) {}

  Status run(std::span<Tensor> values) override {
    Status status = call->run(values);
    // LibTorch reports a missing kernel as NotImplementedError (guard.cpp).
    if (status.code() != StatusCode::unsupported)
      return status;
    auto onDevice = std::ranges::find_if(operands, [&](int operand) { return !unwrap(values[operand]).is_cpu(); });
    if (onDevice == operands.end())
      return status;
    return guarded([&]() -> Status { return runOnHost(values, unwrap(values[*onDevice]).device(), status); });
  }

  const IndexFault *indexFault() const override { return call->indexFault(); }

private:
  Status runOnHost(std::span<Tensor> values, c10::Device device, const Status &reason) {
    // After the first sentence, LibTorch lists the available kernels.
    const std::string &text = reason.message();
    if (!std::exchange(isTold, true))
      TORCH_WARN(target, " runs on the host, and the rank waits for it: ", text.substr(0, text.find(". ")));
    // A table of the same size, because the call is bound to indices of values.
    std::vector<Tensor> own(values.size());
    for (int operand : operands)
      own[operand] = wrap(unwrap(values[operand]).cpu());
    MESHPLAN_RETURN_IF_ERROR(call->run(own));
    for (int output : outputs)
      if (output >= 0)
        values[output] = wrap(unwrap(own[output]).to(device));
    return Status();
  }

  std::unique_ptr<OperatorCall> call;
  std::string target;
  std::vector<int> operands, outputs;
  bool isTold = false;
};

} // namespace

std::unique_ptr<OperatorCall> meshplan::onHostWithoutKernel(std::unique_ptr<OperatorCall> call, std::string_view target,
                                                            std::span<const Argument> arguments,
                                                            std::vector<int> outputs) {
  std::vector<int> operands;
  for (const Argument &argument : arguments) {
    if (auto *one = std::get_if<ValueArgument>(&argument.content))
      operands.push_back(one->value);
    if (auto *list = std::get_if<ValueListArgument>(&argument.content))
      std::ranges::copy_if(list->values, std::back_inserter(operands), [](int value) { return value >= 0; });
  }
  return std::make_unique<HostCall>(std::move(call), target, std::move(operands), std::move(outputs));
}
