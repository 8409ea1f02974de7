//===- build_arguments.cpp - types and literals of the archive ------------===//
//
// A call of the plan dialect keeps the arguments of its node by name; a tensor becomes a reference to an operand. What
// has no effect on values is left out, so that records need not know it. An argument that has no attribute (a complex
// number) makes the result null, and the caller reports the node.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/import/build_arguments.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace meshplan;
using archive::noValue;
using archive::ValueId;

Type meshplan::elementType(archive::ScalarType type, MLIRContext *context) {
  Builder builder(context);
  switch (type) {
  case archive::ScalarType::Float64:
    return builder.getF64Type();
  case archive::ScalarType::Float32:
    return builder.getF32Type();
  case archive::ScalarType::Float16:
    return builder.getF16Type();
  case archive::ScalarType::BFloat16:
    return builder.getBF16Type();
  case archive::ScalarType::Int64:
    return builder.getI64Type();
  case archive::ScalarType::Int32:
    return builder.getI32Type();
  case archive::ScalarType::Int16:
    return builder.getI16Type();
  case archive::ScalarType::Int8:
    return builder.getI8Type();
  case archive::ScalarType::UInt8:
    return builder.getIntegerType(8, /*isSigned=*/false);
  case archive::ScalarType::Bool:
    return builder.getI1Type();
  default:
    return {};
  }
}

RankedTensorType meshplan::tensorType(const archive::Value &value, MLIRContext *context) {
  Type element = elementType(value.type, context);
  if (!element)
    return {};
  SmallVector<int64_t> shape;
  for (const archive::SymbolicInt &dim : value.dims)
    shape.push_back(dim.value);
  return RankedTensorType::get(shape, element);
}

ElementsAttr meshplan::constantValue(const archive::ConstantData &data, RankedTensorType type) {
  if (type.getElementType().isInteger(1)) {
    // An archive has a byte for each boolean, a raw buffer of MLIR has a bit.
    SmallVector<bool> bits(data.bytes.begin(), data.bytes.end());
    return DenseElementsAttr::get(type, ArrayRef<bool>(bits));
  }
  ArrayRef<char> bytes(reinterpret_cast<const char *>(data.bytes.data()), data.bytes.size());
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

DictionaryAttr ArgumentBuilder::build(const archive::Node &node) {
  NamedAttrList list;
  for (const archive::NamedArgument &argument : node.arguments) {
    // None is the default of every optional argument. A memory format changes strides, never values.
    if (std::holds_alternative<std::monostate>(argument.value) ||
        std::holds_alternative<archive::MemoryFormat>(argument.value))
      continue;
    Attribute value = convert(argument.value);
    if (!value)
      return {};
    list.set(argument.name, value);
  }
  return list.getDictionary(context);
}

Attribute ArgumentBuilder::convertValue(ValueId id) {
  if (id == noValue)
    return UnitAttr::get(context);
  mlir::Value value = values[id];
  // A tensor that several arguments name is one operand: a reshard of it is then inserted once.
  auto *found = llvm::find(operandValues, value);
  int64_t index = found - operandValues.begin();
  if (found == operandValues.end())
    operandValues.push_back(value);
  return plan::OperandRefAttr::get(context, index);
}

namespace {
template <typename... Handlers> struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <typename... Handlers> Overloaded(Handlers...) -> Overloaded<Handlers...>;
} // namespace

Attribute ArgumentBuilder::convert(const archive::Argument &argument) {
  Builder builder(context);
  auto convertList = [&](const auto &list, auto convertItem) -> Attribute {
    SmallVector<Attribute> items;
    for (const auto &item : list) {
      items.push_back(convertItem(item));
      if (!items.back())
        return {};
    }
    return builder.getArrayAttr(items);
  };
  return std::visit(
      Overloaded{
          [&](std::monostate) -> Attribute { return builder.getUnitAttr(); },
          [&](ValueId id) { return convertValue(id); },
          [&](const std::vector<ValueId> &ids) {
            return convertList(ids, [&](ValueId id) { return convertValue(id); });
          },
          [&](const archive::SymbolicInt &integer) -> Attribute { return builder.getI64IntegerAttr(integer.value); },
          [&](const std::vector<archive::SymbolicInt> &list) {
            return convertList(list, [&](const archive::SymbolicInt &integer) -> Attribute {
              return builder.getI64IntegerAttr(integer.value);
            });
          },
          [&](double value) -> Attribute { return builder.getF64FloatAttr(value); },
          [&](const std::vector<double> &list) {
            return convertList(list, [&](double value) -> Attribute { return builder.getF64FloatAttr(value); });
          },
          [&](std::complex<double>) -> Attribute { return {}; },
          [&](bool value) -> Attribute { return builder.getBoolAttr(value); },
          [&](const std::vector<bool> &list) {
            return convertList(list, [&](bool value) -> Attribute { return builder.getBoolAttr(value); });
          },
          [&](const std::string &text) -> Attribute { return builder.getStringAttr(text); },
          [&](const std::vector<std::string> &list) {
            return convertList(list, [&](const std::string &text) -> Attribute { return builder.getStringAttr(text); });
          },
          [&](archive::ScalarType type) -> Attribute {
            Type element = elementType(type, context);
            return element ? TypeAttr::get(element) : Attribute();
          },
          [&](archive::MemoryFormat) -> Attribute { return {}; },
          // Symbols are bound before a program is built.
          [&](const archive::SymbolicScalar &) -> Attribute { return {}; },
          [&](const std::vector<archive::SymbolicScalar> &) -> Attribute { return {}; },
      },
      argument);
}
