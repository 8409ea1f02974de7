//===- argument_reader.cpp - JSON argument to Argument -----------*- C++ -*-===//
//
// PyTorch's schema has an argument as a union of one member, whose name is its kind: `{"as_tensor": {"name": "x"}}`.
// The kinds that a plan or the runtime decides (device, layout) are read and dropped; a kind that is not known is an
// error, because an argument that is left out would become the default of the operator.
//
//===----------------------------------------------------------------------===//

#include "compiler/archive/argument_reader.h"

#include "compiler/archive/bind_symbols.h"

namespace meshplan::archive {

namespace {

constexpr int64_t stridedLayout = 7;

class ArgumentReader {
public:
  ArgumentReader(const GraphNames &names, GraphReader &graph, JsonDocument &document)
      : names(names), graph(graph), document(document) {}

  std::optional<Argument> read(const Json &argument);

private:
  template <typename T, typename Read> Argument list(const Json &json, Read read) {
    std::vector<T> elements;
    for (const Json &element : document.array(json))
      elements.push_back(read(element));
    return Argument(std::in_place_type<std::vector<T>>, std::move(elements));
  }

  ValueId optionalTensor(const Json &json);
  std::optional<Argument> readTensors(llvm::StringRef kind, const Json &value, const Json &argument);
  SymbolicInt symbolicInt(const Json &json);
  std::optional<Argument> readIntegers(llvm::StringRef kind, const Json &value, const Json &argument);
  std::optional<Argument> readScalar(llvm::StringRef kind, const Json &value, const Json &argument);
  std::optional<Argument> symbolicScalar(llvm::StringRef kind, const Json &value);
  std::optional<Argument> unsupported(llvm::StringRef kind, const Json &argument);

  const GraphNames &names;
  GraphReader &graph;
  JsonDocument &document;
};

} // namespace

std::optional<Argument> ArgumentReader::read(const Json &argument) {
  auto [kind, value] = document.unionMember(argument);
  if (kind == "as_none")
    return Argument(std::monostate());
  // Where a tensor is stored is decided by the plan and the runtime, so the argument is left out without an error.
  if (kind == "as_device")
    return std::nullopt;
  if (kind == "as_layout") {
    if (document.integer(*value) != stridedLayout)
      document.fail(argument, "only strided tensors are supported");
    return std::nullopt;
  }
  if (kind.contains("tensor"))
    return readTensors(kind, *value, argument);
  if (kind.contains("int"))
    return readIntegers(kind, *value, argument);
  return readScalar(kind, *value, argument);
}

ValueId ArgumentReader::optionalTensor(const Json &json) {
  auto [kind, value] = document.unionMember(json);
  if (kind == "as_tensor")
    return graph.readTensor(*value, names);
  if (kind != "as_none")
    unsupported(kind, json);
  return noValue;
}

std::optional<Argument> ArgumentReader::readTensors(llvm::StringRef kind, const Json &value, const Json &argument) {
  if (kind == "as_tensor")
    return Argument(std::in_place_type<ValueId>, graph.readTensor(value, names));
  if (kind == "as_tensors")
    return list<ValueId>(value, [&](const Json &json) { return graph.readTensor(json, names); });
  if (kind == "as_optional_tensors")
    return list<ValueId>(value, [&](const Json &json) { return optionalTensor(json); });
  if (kind == "as_optional_tensor") {
    ValueId id = optionalTensor(value);
    return id == noValue ? Argument(std::monostate()) : Argument(std::in_place_type<ValueId>, id);
  }
  return unsupported(kind, argument);
}

SymbolicInt ArgumentReader::symbolicInt(const Json &json) {
  auto [kind, value] = document.unionMember(json);
  if (kind == "as_int")
    return document.integer(*value);
  std::string name = document.string(*value);
  auto it = names.integers.find(name);
  if (it != names.integers.end())
    return it->second;
  document.fail(json, "integer '" + name + "' is not defined");
  return 0;
}

std::optional<Argument> ArgumentReader::readIntegers(llvm::StringRef kind, const Json &value, const Json &argument) {
  if (kind == "as_int")
    return Argument(SymbolicInt(document.integer(value)));
  if (kind == "as_sym_int")
    return Argument(symbolicInt(value));
  if (kind == "as_ints")
    return list<SymbolicInt>(value, [&](const Json &json) { return document.integer(json); });
  if (kind == "as_sym_ints")
    return list<SymbolicInt>(value, [&](const Json &json) { return symbolicInt(json); });
  return unsupported(kind, argument);
}

std::optional<Argument> ArgumentReader::readScalar(llvm::StringRef kind, const Json &value, const Json &argument) {
  if (kind == "as_float")
    return Argument(document.number(value));
  if (kind == "as_floats")
    return list<double>(value, [&](const Json &json) { return document.number(json); });
  if (kind == "as_complex")
    return Argument(std::complex<double>(document.number(document.member(value, "real")),
                                         document.number(document.member(value, "imag"))));
  if (kind == "as_bool")
    return Argument(document.boolean(value));
  if (kind == "as_bools")
    return list<bool>(value, [&](const Json &json) { return document.boolean(json); });
  if (kind == "as_string")
    return Argument(document.string(value));
  if (kind == "as_strings")
    return list<std::string>(value, [&](const Json &json) { return document.string(json); });
  if (kind == "as_scalar_type") {
    std::optional<ScalarType> type = graph.readScalarType(value);
    return type ? std::optional(Argument(*type)) : std::nullopt;
  }
  if (kind == "as_memory_format") {
    int64_t format = document.integer(value);
    if (format >= 1 && format <= 4)
      return Argument(MemoryFormat(format));
  }
  if (kind == "as_sym_float" || kind == "as_sym_bool")
    return symbolicScalar(kind, value);
  if (kind == "as_sym_floats")
    return list<SymbolicScalar>(value, [&](const Json &json) {
      return graph.readSymbolicScalar(SymbolicScalar::Type::Float, json, names).value_or(SymbolicScalar());
    });
  return unsupported(kind, argument);
}

/// A scalar that is already known becomes a plain number.
std::optional<Argument> ArgumentReader::symbolicScalar(llvm::StringRef kind, const Json &value) {
  auto type = kind == "as_sym_float" ? SymbolicScalar::Type::Float : SymbolicScalar::Type::Bool;
  std::optional<SymbolicScalar> scalar = graph.readSymbolicScalar(type, value, names);
  if (!scalar)
    return std::nullopt;
  if (scalar->expression->kind != SymbolicExpression::Kind::Constant)
    return Argument(std::move(*scalar));
  llvm::Expected<Argument> known = bindScalar(*scalar, {});
  if (known)
    return std::move(*known);
  document.fail(value, llvm::toString(known.takeError()));
  return std::nullopt;
}

std::optional<Argument> ArgumentReader::unsupported(llvm::StringRef kind, const Json &argument) {
  document.fail(argument, "an argument of kind '" + kind + "' is not supported");
  return std::nullopt;
}

std::optional<Argument> readArgument(const Json &argument, const GraphNames &names, GraphReader &graph,
                                     JsonDocument &document) {
  return ArgumentReader(names, graph, document).read(argument);
}

} // namespace meshplan::archive
