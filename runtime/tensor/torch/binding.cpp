//===- binding.cpp - named arguments in schema order ----------------------===//

#include "runtime/tensor/torch/binding.h"

#include "runtime/tensor/torch/access.h"
#include "runtime/tensor/torch/device.h"
#include "runtime/tensor/torch/literal.h"

using namespace meshplan;
using c10::TypeKind;

static const c10::Type &withoutOptional(const c10::Type &type) {
  return type.kind() == TypeKind::OptionalType ? *type.expectRef<c10::OptionalType>().getElementType() : type;
}

static bool takesTensor(const c10::Argument &parameter) {
  return withoutOptional(*parameter.type()).kind() == TypeKind::TensorType;
}

/// The element type if the parameter is a list of tensors, else null.
static const c10::Type *tensorListElement(const c10::Argument &parameter) {
  const c10::Type &type = withoutOptional(*parameter.type());
  if (type.kind() != TypeKind::ListType)
    return nullptr;
  const c10::Type &element = *type.expectRef<c10::ListType>().getElementType();
  return withoutOptional(element).kind() == TypeKind::TensorType ? &element : nullptr;
}

/// Appends one argument; false if the parameter cannot take it.
static bool bindOne(BoundArguments &bound, const c10::Argument &parameter, const ArgumentContent &content) {
  size_t position = bound.fixed.size();
  if (auto *argument = std::get_if<ValueArgument>(&content)) {
    if (!takesTensor(parameter))
      return false;
    bound.values.push_back({position, argument->value});
    // A placeholder; fillStack sets the tensor of each run.
    bound.fixed.emplace_back();
    return true;
  }
  const c10::Type *element = tensorListElement(parameter);
  if (auto *argument = std::get_if<ValueListArgument>(&content)) {
    if (!element)
      return false;
    bound.lists.push_back({position, argument->values, element->kind() == TypeKind::OptionalType});
    bound.fixed.emplace_back();
    return true;
  }
  std::optional<c10::IValue> literal = literalValue(content, parameter);
  if (literal)
    bound.fixed.push_back(std::move(*literal));
  return literal.has_value();
}

/// True for the `device` argument of operators that create a tensor. Schedules do not specify it.
static bool isDevice(const c10::Argument &parameter) {
  return parameter.name() == "device" && withoutOptional(*parameter.real_type()).kind() == TypeKind::DeviceObjType;
}

static std::string parameterNames(const c10::FunctionSchema &schema) {
  std::string names;
  for (const c10::Argument &parameter : schema.arguments())
    names += (names.empty() ? "" : ", ") + parameter.name();
  return names.empty() ? "it has none" : "its arguments are " + names;
}

/// Every argument is one of the schema's and is given once.
static Status checkNames(std::string_view target, const c10::FunctionSchema &schema,
                         std::span<const Argument> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string &name = arguments[i].name;
    if (!schema.argumentIndexWithName(name))
      return Status::error(StatusCode::invalid, target, " has no argument '", name, "'; ", parameterNames(schema));
    for (const Argument &earlier : arguments.first(i))
      if (earlier.name == name)
        return Status::error(StatusCode::invalid, target, ": argument '", name, "' is given twice");
  }
  return Status();
}

bool meshplan::isRecurrent(const c10::FunctionSchema &schema) {
  constexpr std::string_view names[] = {"aten::lstm", "aten::gru", "aten::rnn_tanh", "aten::rnn_relu"};
  return std::ranges::find(names, schema.name()) != std::end(names);
}

/// Operators whose GPU kernels refuse views that the CPU kernels, used at export, accept.
static bool needsRowMajor(const c10::FunctionSchema &schema) {
  return !deviceOfThread().isHost() && (isRecurrent(schema) || schema.name() == "aten::channel_shuffle");
}

Expected<BoundArguments> meshplan::bindArguments(std::string_view target, const c10::FunctionSchema &schema,
                                                 std::span<const Argument> arguments) {
  MESHPLAN_RETURN_IF_ERROR(checkNames(target, schema, arguments));
  BoundArguments bound;
  bound.rowMajor = needsRowMajor(schema);
  for (const c10::Argument &parameter : schema.arguments()) {
    auto given = std::ranges::find(arguments, parameter.name(), &Argument::name);
    if (given != arguments.end()) {
      if (!bindOne(bound, parameter, given->content))
        return Status::error(StatusCode::invalid, target, ": argument '", parameter.name(), "' is ",
                             contentName(given->content), ", the operator takes ", parameter.real_type()->str());
    } else if (isDevice(parameter) && !deviceOfThread().isHost()) {
      // Without it an operator such as aten.arange would make its tensor on the host.
      bound.fixed.emplace_back(torchDevice(deviceOfThread()));
    } else if (parameter.default_value()) {
      bound.fixed.push_back(*parameter.default_value());
    } else if (parameter.type()->kind() == TypeKind::OptionalType) {
      // Artifacts leave out None, but some schemas have no default for it (`Tensor? weight`).
      bound.fixed.emplace_back();
    } else {
      return Status::error(StatusCode::invalid, target, ": argument '", parameter.name(), "' is missing");
    }
  }
  return bound;
}

static at::Tensor tensorAt(std::span<Tensor> values, int index) {
  return index < 0 ? at::Tensor() : unwrap(values[index]);
}

/// The tensor as row-major copy in a storage of its own, if it is not already. cuDNN assumes that the weights of a
/// recurrent layer are adjacent in the storage of the first one, and that what follows are biases, even if there are
/// none.
static at::Tensor alone(const at::Tensor &tensor) {
  at::Tensor dense = tensor.contiguous();
  bool isAlone = dense.storage().nbytes() == dense.nbytes();
  return isAlone ? dense : dense.clone();
}

static c10::IValue makeList(const BoundArguments::ListSlot &slot, std::span<Tensor> values, bool rowMajor) {
  if (slot.elementsAreOptional) {
    c10::List<std::optional<at::Tensor>> list;
    list.reserve(slot.values.size());
    for (int index : slot.values)
      list.push_back(index < 0 ? std::nullopt : std::optional(tensorAt(values, index)));
    return list;
  }
  c10::List<at::Tensor> list;
  list.reserve(slot.values.size());
  for (int index : slot.values)
    list.push_back(rowMajor ? alone(tensorAt(values, index)) : tensorAt(values, index));
  return list;
}

void meshplan::fillStack(const BoundArguments &arguments, std::span<Tensor> values, torch::jit::Stack &stack) {
  // A copy of the fixed arguments for each call, because an operator consumes its stack.
  stack = arguments.fixed;
  for (const auto &slot : arguments.values)
    stack[slot.position] = arguments.rowMajor ? unwrap(values[slot.value]).contiguous() : unwrap(values[slot.value]);
  for (const auto &slot : arguments.lists)
    stack[slot.position] = makeList(slot, values, arguments.rowMajor);
}
