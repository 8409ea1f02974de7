//===- call_helper.h - one operator call in a test ---------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_TENSOR_CALL_HELPER_H
#define MESHPLAN_TEST_UNIT_TENSOR_CALL_HELPER_H

#include "runtime/tensor/operator.h"
#include "runtime/tensor/torch/access.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace meshplan {

inline Argument value(std::string name, int index) { return {std::move(name), ValueArgument{index}}; }

/// The results of a call on `inputs`, which the arguments name by position.
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

/// Largest absolute difference, in f64.
inline double difference(const at::Tensor &a, const at::Tensor &b) {
  EXPECT_EQ(a.sizes(), b.sizes());
  return a.numel() == 0 ? 0.0 : (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_TENSOR_CALL_HELPER_H
