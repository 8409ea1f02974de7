//===- autograd.cpp - gradients by LibTorch's autograd --------------------===//

#include "runtime/tensor/autograd.h"

#include "runtime/tensor/torch/access.h"
#include "runtime/tensor/torch/dtype.h"
#include "runtime/tensor/torch/guard.h"
#include "runtime/tensor/torch/recording.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/DefaultDtype.h>
#include <torch/csrc/autograd/autograd.h>

using namespace meshplan;

struct AutogradScope::Guards {
  Guards(int threads, DType dtype) : outerThreads(at::get_num_threads()), outerType(c10::get_default_dtype()) {
    at::set_num_threads(threads);
    c10::set_default_dtype(c10::scalarTypeToTypeMeta(scalarTypeOf(dtype)));
  }
  ~Guards() {
    at::set_num_threads(outerThreads);
    c10::set_default_dtype(outerType);
  }

  int outerThreads;
  caffe2::TypeMeta outerType;
  RecordingScope recording;
};

AutogradScope::AutogradScope(int threads, DType dtype) : guards(std::make_unique<Guards>(threads, dtype)) {}

AutogradScope::~AutogradScope() = default;

Expected<Tensor> meshplan::differentiable(const Tensor &tensor) {
  return guarded([&]() -> Expected<Tensor> {
    if (!isFloat(tensor.dtype()))
      return Status::error(StatusCode::invalid, "there is no gradient of a tensor of ", dtypeName(tensor.dtype()));
    return wrap(unwrap(tensor).detach().requires_grad_(true));
  });
}

Expected<Tensor> meshplan::detached(const Tensor &tensor) {
  return guarded([&]() -> Expected<Tensor> { return wrap(unwrap(tensor).detach()); });
}

Expected<std::vector<Tensor>> meshplan::gradientsOf(const Tensor &number, std::span<const Tensor> leaves) {
  return guarded([&]() -> Expected<std::vector<Tensor>> {
    std::vector<at::Tensor> inputs;
    for (const Tensor &leaf : leaves)
      inputs.push_back(unwrap(leaf));
    // autograd::grad fails if nothing was recorded; then all gradients are undefined.
    if (inputs.empty() || !unwrap(number).requires_grad())
      return std::vector<Tensor>(leaves.size());
    std::vector<at::Tensor> made =
        torch::autograd::grad({unwrap(number).sum()}, inputs, {}, /*retain_graph=*/false, /*create_graph=*/false,
                              /*allow_unused=*/true);
    std::vector<Tensor> gradients;
    for (at::Tensor &gradient : made)
      gradients.push_back(wrap(withElements(std::move(gradient))));
    return gradients;
  });
}
