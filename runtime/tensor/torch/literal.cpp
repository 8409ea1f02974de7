//===- literal.cpp - literal arguments for the dispatcher -----------------===//
//
// A literal fits a parameter of the schema if Python would accept it there: an integer for a float, one integer for a
// list of fixed length, a number for a tensor. Nothing else is converted, since a wrong argument would otherwise become
// a wrong number.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/torch/literal.h"

#include "runtime/tensor/torch/device.h"
#include "runtime/tensor/torch/dtype.h"

#include <ATen/ScalarOps.h>
#include <array>

using namespace meshplan;
using c10::IValue;
using c10::TypeKind;

static std::optional<at::Scalar> scalarOf(const ArgumentContent &content) {
  if (auto *integer = std::get_if<int64_t>(&content))
    return at::Scalar(*integer);
  if (auto *real = std::get_if<double>(&content))
    return at::Scalar(*real);
  if (auto *boolean = std::get_if<bool>(&content))
    return at::Scalar(*boolean);
  return std::nullopt;
}

static IValue wrappedNumber(const at::Scalar &scalar) {
  at::Tensor tensor = c10::scalar_to_tensor(scalar);
  // As for `tensor + 2` in Python: a wrapped number takes part in type promotion as a number, so that the dtype of the
  // tensor is kept.
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

static std::optional<IValue> listValue(const ArgumentContent &content, TypeKind element,
                                       std::optional<int32_t> length) {
  if (element == TypeKind::IntType || element == TypeKind::SymIntType) {
    if (auto *integers = std::get_if<std::vector<int64_t>>(&content))
      return IValue(*integers);
    // A list of fixed length in the schema, such as int[2], accepts one integer for all elements.
    if (auto *integer = std::get_if<int64_t>(&content); integer && length)
      return IValue(std::vector<int64_t>(*length, *integer));
  }
  if (element == TypeKind::FloatType) {
    if (auto *reals = std::get_if<std::vector<double>>(&content))
      return IValue(*reals);
    if (auto *integers = std::get_if<std::vector<int64_t>>(&content))
      return IValue(std::vector<double>(integers->begin(), integers->end()));
  }
  if (element == TypeKind::BoolType)
    if (auto *booleans = std::get_if<std::vector<bool>>(&content)) {
      c10::List<bool> list;
      for (bool boolean : *booleans)
        list.push_back(boolean);
      return IValue(list);
    }
  return std::nullopt;
}

/// The enumerator whose name is `name`, after an optional "torch.".
template <typename Enumeration, size_t count>
static std::optional<IValue>
enumerationValue(std::string_view name, const std::array<std::pair<std::string_view, Enumeration>, count> &names) {
  if (name.starts_with("torch."))
    name.remove_prefix(6);
  for (const auto &[spelling, value] : names)
    if (spelling == name)
      return IValue(value);
  return std::nullopt;
}

static std::optional<IValue> textValue(const std::string &text, TypeKind kind) {
  static constexpr std::array<std::pair<std::string_view, c10::MemoryFormat>, 4> memoryFormats = {
      {{"contiguous_format", c10::MemoryFormat::Contiguous},
       {"preserve_format", c10::MemoryFormat::Preserve},
       {"channels_last", c10::MemoryFormat::ChannelsLast},
       {"channels_last_3d", c10::MemoryFormat::ChannelsLast3d}}};
  static constexpr std::array<std::pair<std::string_view, c10::Layout>, 1> layouts = {
      {{"strided", c10::Layout::Strided}}};
  static constexpr std::array<std::pair<std::string_view, c10::DeviceType>, 2> devices = {
      {{"cpu", c10::DeviceType::CPU}, {"cuda", c10::DeviceType::CUDA}}};
  switch (kind) {
  case TypeKind::StringType:
    return IValue(text);
  case TypeKind::MemoryFormatType:
    return enumerationValue(text, memoryFormats);
  case TypeKind::LayoutType:
    return enumerationValue(text, layouts);
  case TypeKind::DeviceObjType:
    for (const auto &[name, type] : devices)
      if (name == text)
        // The exported device is the one used at export; the model runs on the thread's device.
        return IValue(deviceOfThread().isHost() ? c10::Device(type) : torchDevice(deviceOfThread()));
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

static std::optional<IValue> numberValue(const ArgumentContent &content, TypeKind kind) {
  std::optional<at::Scalar> scalar = scalarOf(content);
  if (!scalar)
    return std::nullopt;
  bool isInteger = std::holds_alternative<int64_t>(content), isBool = std::holds_alternative<bool>(content);
  switch (kind) {
  case TypeKind::TensorType:
    return wrappedNumber(*scalar);
  case TypeKind::NumberType:
    return IValue(*scalar);
  case TypeKind::FloatType:
  case TypeKind::SymFloatType:
    // An integer is a valid float argument, a bool is not; otherwise an argument of the wrong type would pass
    // unnoticed.
    return isBool ? std::nullopt : std::optional(IValue(scalar->toDouble()));
  case TypeKind::IntType:
  case TypeKind::SymIntType:
    return isInteger ? std::optional(IValue(scalar->toLong())) : std::nullopt;
  case TypeKind::BoolType:
    return isBool ? std::optional(IValue(scalar->toBool())) : std::nullopt;
  default:
    return std::nullopt;
  }
}

std::optional<IValue> meshplan::literalValue(const ArgumentContent &content, const c10::Argument &parameter) {
  // The real type distinguishes a dtype from an integer; the schema's other type does not.
  c10::TypePtr type = parameter.real_type();
  bool isOptional = type->kind() == TypeKind::OptionalType;
  if (isOptional)
    type = type->expectRef<c10::OptionalType>().getElementType();
  if (std::holds_alternative<std::monostate>(content))
    return isOptional ? std::optional(IValue()) : std::nullopt;
  if (type->kind() == TypeKind::ListType)
    return listValue(content, type->expectRef<c10::ListType>().getElementType()->kind(), parameter.N());
  if (auto *dtype = std::get_if<DType>(&content))
    return type->kind() == TypeKind::ScalarTypeType ? std::optional(IValue(scalarTypeOf(*dtype))) : std::nullopt;
  if (auto *text = std::get_if<std::string>(&content))
    return textValue(*text, type->kind());
  return numberValue(content, type->kind());
}

std::string_view meshplan::contentName(const ArgumentContent &content) {
  static constexpr std::array<std::string_view, std::variant_size_v<ArgumentContent>> names = {"None",
                                                                                               "a tensor",
                                                                                               "a list of tensors",
                                                                                               "an integer",
                                                                                               "a list of integers",
                                                                                               "a number",
                                                                                               "a list of numbers",
                                                                                               "a bool",
                                                                                               "a list of bools",
                                                                                               "a string",
                                                                                               "a dtype"};
  return names[content.index()];
}
