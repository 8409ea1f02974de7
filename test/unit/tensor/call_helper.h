//===- call_helper.h - one operator call in a test --------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_TENSOR_CALL_HELPER_H
#define MESHPLAN_TEST_UNIT_TENSOR_CALL_HELPER_H

#include "runtime/tensor/operator.h"
#include "runtime/tensor/torch/access.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace meshplan {

inline Argument value(std::string name, int index) { return {std::move(name), ValueArgument{index}}; }

/// The results of a call on `inputs`, to which the arguments refer by index.
inline std::vector<at::Tensor> callOperator(std::string_view target, std::vector<at::Tensor> inputs,
                                            std::vector<Argument> arguments, size_t resultCount = 1) {
  std::vector<Tensor> values;
  for (at::Tensor &input : inputs)
    values.push_back(wrap(std::move(input)));
  std::vector<int> outputs;
  for (size_t i = 0; i < resultCount; ++i)
    outputs.push_back(static_cast<int>(values.size() + i));
  values.resize(values.size() + resultCount);
  auto call = prepareCall(target, arguments, outputs);
  EXPECT_TRUE(call.ok()) << call.status().message();
  std::vector<at::Tensor> results(resultCount);
  if (!call)
    return results;
  Status status = (*call)->run(values);
  EXPECT_TRUE(status.ok()) << status.message();
  for (size_t i = 0; i < resultCount; ++i)
    results[i] = unwrap(values[outputs[i]]);
  return results;
}

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// The tensors of a call and its arguments; undefined tensors are left out.
inline std::pair<std::vector<at::Tensor>, std::vector<Argument>> positions(const NamedTensors &named,
                                                                           std::vector<Argument> literals) {
  std::vector<at::Tensor> tensors;
  for (const auto &[name, tensor] : named)
    if (tensor.defined()) {
      literals.push_back(value(name, static_cast<int>(tensors.size())));
      tensors.push_back(tensor);
    }
  return {std::move(tensors), std::move(literals)};
}

/// The results of a call on tensors named by its arguments.
inline std::vector<at::Tensor> callNamed(std::string_view target, const NamedTensors &named,
                                         std::vector<Argument> literals = {}, size_t resultCount = 1) {
  auto [tensors, arguments] = positions(named, std::move(literals));
  return callOperator(target, tensors, arguments, resultCount);
}

/// The error of a call that can be prepared, but fails when it runs.
inline std::string failureOf(std::string_view target, const NamedTensors &named, std::vector<Argument> literals = {},
                             size_t resultCount = 1) {
  auto [tensors, arguments] = positions(named, std::move(literals));
  auto call = prepareCall(target, arguments, std::vector<int>(resultCount, -1));
  EXPECT_TRUE(call.ok()) << call.status().message();
  std::vector<Tensor> values;
  for (const at::Tensor &tensor : tensors)
    values.push_back(wrap(tensor));
  return call ? (*call)->run(values).message() : "";
}

/// Largest absolute difference, in f64.
inline double difference(const at::Tensor &a, const at::Tensor &b) {
  EXPECT_EQ(a.sizes(), b.sizes());
  return a.numel() == 0 ? 0.0 : (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_TENSOR_CALL_HELPER_H
