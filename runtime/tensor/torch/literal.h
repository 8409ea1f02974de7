//===- literal.h - literal arguments as the dispatcher takes them -*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_LITERAL_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_LITERAL_H

#include "runtime/tensor/operator.h"

#include <ATen/core/function_schema.h>
#include <optional>

namespace meshplan {

/// The content, which holds no value of the program, as a value of the schema
/// argument's type, or nullopt when it cannot be one. A number where the schema
/// asks for a tensor becomes a wrapped number, which does not take part in type
/// promotion; one integer where it asks for a list of fixed length is repeated.
std::optional<c10::IValue> literalValue(const ArgumentContent &content, const c10::Argument &parameter);

/// "an integer", "a list of tensors": for messages.
std::string_view contentName(const ArgumentContent &content);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_LITERAL_H
