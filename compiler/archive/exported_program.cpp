//===- exported_program.cpp - look-ups in an exported model ------*- C++ -*-===//

#include "compiler/archive/exported_program.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace meshplan::archive {

namespace {

struct ScalarTypeInfo {
  ScalarType type;
  const char *name;
  int64_t size;
};

constexpr ScalarTypeInfo scalarTypes[] = {
    {ScalarType::UInt8, "uint8", 1},
    {ScalarType::Int8, "int8", 1},
    {ScalarType::Int16, "int16", 2},
    {ScalarType::Int32, "int32", 4},
    {ScalarType::Int64, "int64", 8},
    {ScalarType::Float16, "float16", 2},
    {ScalarType::Float32, "float32", 4},
    {ScalarType::Float64, "float64", 8},
    {ScalarType::Complex32, "complex32", 4},
    {ScalarType::Complex64, "complex64", 8},
    {ScalarType::Complex128, "complex128", 16},
    {ScalarType::Bool, "bool", 1},
    {ScalarType::BFloat16, "bfloat16", 2},
    {ScalarType::UInt16, "uint16", 2},
    {ScalarType::Float8E4M3FN, "float8_e4m3fn", 1},
    {ScalarType::Float8E5M2, "float8_e5m2", 1},
    {ScalarType::Float8E4M3FNUZ, "float8_e4m3fnuz", 1},
    {ScalarType::Float8E5M2FNUZ, "float8_e5m2fnuz", 1},
};

const ScalarTypeInfo *findInfo(int64_t number) {
  auto *it = std::find_if(std::begin(scalarTypes), std::end(scalarTypes),
                          [&](const ScalarTypeInfo &info) { return int64_t(info.type) == number; });
  return it == std::end(scalarTypes) ? nullptr : it;
}

} // namespace

llvm::StringRef scalarTypeName(ScalarType type) { return findInfo(int64_t(type))->name; }

int64_t scalarTypeSize(ScalarType type) { return findInfo(int64_t(type))->size; }

bool isFloating(ScalarType type) {
  return !llvm::is_contained({ScalarType::UInt8, ScalarType::Int8, ScalarType::Int16, ScalarType::Int32,
                              ScalarType::Int64, ScalarType::UInt16, ScalarType::Bool},
                             type);
}

ScalarType partType(ScalarType type) {
  switch (type) {
  case ScalarType::Complex32:
    return ScalarType::Float16;
  case ScalarType::Complex64:
    return ScalarType::Float32;
  case ScalarType::Complex128:
    return ScalarType::Float64;
  default:
    return type;
  }
}

bool isComplex(ScalarType type) { return partType(type) != type; }

std::optional<ScalarType> scalarTypeFromSchema(int64_t number) {
  const ScalarTypeInfo *info = findInfo(number);
  return info ? std::optional(info->type) : std::nullopt;
}

bool hasPossibleSize(const Value &value) {
  int64_t bytes = scalarTypeSize(value.type);
  for (const SymbolicInt &dim : value.dims)
    // An extent of 0 does not excuse the others: strides and offsets are computed from them.
    if (!dim.isSymbolic() && __builtin_mul_overflow(bytes, std::max<int64_t>(dim.value, 1), &bytes))
      return false;
  return true;
}

const Argument *Node::find(llvm::StringRef argumentName) const {
  for (const NamedArgument &argument : arguments)
    if (argument.name == argumentName)
      return &argument.value;
  return nullptr;
}

bool ExportedProgram::payloadsTellTies() const {
  return llvm::any_of(parameters,
                      [&](const Parameter &parameter) { return parameter.payload != parameters.front().payload; });
}

bool ExportedProgram::keepsType(const Node &node) const {
  const Argument *self = node.target == "aten.to.dtype" ? node.find("self") : nullptr;
  const ValueId *operand = self ? std::get_if<ValueId>(self) : nullptr;
  const Argument *dtype = node.find("dtype");
  const ScalarType *type = dtype ? std::get_if<ScalarType>(dtype) : nullptr;
  return operand && type && node.results.size() == 1 && node.results[0] != noValue && value(*operand).type == *type &&
         value(node.results[0]).type == *type;
}

llvm::StringRef ExportedProgram::modulePath(const Node &node) const {
  return node.scope < 0 ? llvm::StringRef() : llvm::StringRef(scopes[node.scope].path);
}

llvm::SmallVector<const Scope *> ExportedProgram::moduleChain(const Node &node) const {
  llvm::SmallVector<const Scope *> chain;
  for (int32_t scope = node.scope; scope >= 0; scope = scopes[scope].parent)
    chain.push_back(&scopes[scope]);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

llvm::SmallVector<ValueId> ExportedProgram::operands(const Node &node) const {
  llvm::SmallVector<ValueId> ids;
  for (const NamedArgument &argument : node.arguments)
    visitValues(argument.value, [&](ValueId id) { ids.push_back(id); });
  return ids;
}

} // namespace meshplan::archive
