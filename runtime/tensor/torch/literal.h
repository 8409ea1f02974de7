//===- literal.h - literal arguments for the dispatcher ---------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_LITERAL_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_LITERAL_H

#include "runtime/tensor/operator.h"

#include <ATen/core/function_schema.h>
#include <optional>

namespace meshplan {

/// Converts a literal argument to the type of the schema argument; nullopt if impossible. A number becomes, where the
/// schema has a tensor, a wrapped number, which does not take part in type promotion. An integer is repeated where the
/// schema has a list of fixed length.
std::optional<c10::IValue> literalValue(const ArgumentContent &content, const c10::Argument &parameter);

/// "an integer", "a list of tensors": for messages.
std::string_view contentName(const ArgumentContent &content);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_LITERAL_H
