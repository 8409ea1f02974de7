//===- binding.h - named arguments in schema order --------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_BINDING_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_BINDING_H

#include "runtime/tensor/operator.h"

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

namespace meshplan {

/// The arguments of a call in schema order. An omitted device is that of the thread. Arguments that depend on the run
/// are None in `fixed` and listed in `values` and `lists`.
struct BoundArguments {
  struct ValueSlot {
    size_t position;
    int value;
  };
  struct ListSlot {
    size_t position;
    std::vector<int> values;
    bool elementsAreOptional;
  };
  torch::jit::Stack fixed;
  std::vector<ValueSlot> values;
  std::vector<ListSlot> lists;
  bool rowMajor = false; ///< tensors that are not row-major are copied
};

/// An LSTM, a GRU or a plain recurrent layer.
bool isRecurrent(const c10::FunctionSchema &schema);

/// `invalid`, naming `target` and the argument, if one is unknown, given twice, missing or of the wrong type.
Expected<BoundArguments> bindArguments(std::string_view target, const c10::FunctionSchema &schema,
                                       std::span<const Argument> arguments);

/// Sets `stack` to the arguments, with the current tensors of `values`.
void fillStack(const BoundArguments &arguments, std::span<Tensor> values, torch::jit::Stack &stack);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_BINDING_H
