//===- pair_writer.cpp - nodes that compute with pairs of reals --*- C++ -*-===//
//
// A node of complex tensors becomes several nodes of real ones. They take the location, the module and the name of the
// node that they stand for, so that reports and styles find them there.
//
//===----------------------------------------------------------------------===//

#include "compiler/archive/complex/pair_writer.h"

namespace meshplan::archive {

NamedArgument tensorArgument(llvm::StringRef name, ValueId value) {
  return {name.str(), Argument(std::in_place_type<ValueId>, value)};
}

static NamedArgument integer(llvm::StringRef name, int64_t value) {
  return {name.str(), Argument(std::in_place_type<SymbolicInt>, value)};
}

PairWriter::PairWriter(ExportedProgram &program) : program(program) {
  for (const Value &value : program.values)
    names.insert(value.name);
}

ValueId PairWriter::define(ScalarType type, const Dims &dims) {
  Value value;
  for (int number = 1; !names.insert(value.name = origin->name + "$" + std::to_string(number)).second; ++number) {
  }
  value.type = type;
  value.dims = dims;
  program.values.push_back(std::move(value));
  return program.values.size() - 1;
}

ValueId PairWriter::write(llvm::StringRef target, std::vector<NamedArgument> arguments, const Dims &dims,
                          ScalarType type) {
  Node node;
  node.target = target.str();
  node.arguments = std::move(arguments);
  node.results = {define(type, dims)};
  node.name = program.values.back().name;
  node.scope = origin->scope;
  node.noGrad = origin->noGrad;
  // PyTorch's autocast does not convert complex tensors, so it must not convert the real nodes that stand for them.
  node.autocastOff = everyDevice.str();
  node.source = origin->source;
  nodes.push_back(std::move(node));
  return nodes.back().results.front();
}

std::vector<ValueId> PairWriter::repeat(const Node &node, std::vector<NamedArgument> arguments) {
  Node copy = node;
  copy.autocastOff = everyDevice.str();
  copy.arguments = std::move(arguments);
  for (NamedArgument &argument : copy.arguments)
    if (auto *type = std::get_if<ScalarType>(&argument.value))
      *type = partType(*type);
  for (ValueId &result : copy.results)
    if (result != noValue) {
      Value old = program.values[result];
      result = define(partType(old.type), old.dims);
    }
  nodes.push_back(copy);
  return copy.results;
}

ValueId PairWriter::unary(llvm::StringRef target, ValueId self) {
  Value operand = value(self);
  return write(target, {tensorArgument("self", self)}, operand.dims, operand.type);
}

ValueId PairWriter::binary(llvm::StringRef target, ValueId left, ValueId right, const Dims &dims) {
  return write(target, {tensorArgument("self", left), tensorArgument("other", right)}, dims, value(left).type);
}

ValueId PairWriter::scaled(ValueId self, double factor) {
  if (self == noValue || factor == 0)
    return noValue;
  if (factor == 1)
    return self;
  Value operand = value(self);
  return write("aten.mul.Tensor", {tensorArgument("self", self), {"other", Argument(factor)}}, operand.dims,
               operand.type);
}

ValueId PairWriter::expanded(ValueId self, const Dims &dims) {
  if (self == noValue || value(self).dims == dims)
    return self;
  std::vector<SymbolicInt> size(dims.begin(), dims.end());
  return write("aten.expand.default", {tensorArgument("self", self), {"size", Argument(size)}}, dims, value(self).type);
}

ValueId PairWriter::named(ValueId self, ScalarType type) {
  return write("aten.to.dtype", {tensorArgument("self", self), {"dtype", Argument(type)}}, value(self).dims, type);
}

ValueId PairWriter::converted(ValueId self, ScalarType type) {
  return self == noValue || value(self).type == type ? self : named(self, type);
}

ValueId PairWriter::selected(ValueId self, int64_t index, const Dims &dims) {
  return write("aten.select.int", {tensorArgument("self", self), integer("dim", dims.size()), integer("index", index)},
               dims, value(self).type);
}

ValueId PairWriter::sum(ValueId left, ValueId right, const Dims &dims) {
  if (left == noValue || right == noValue)
    return expanded(left == noValue ? right : left, dims);
  return binary("aten.add.Tensor", left, right, dims);
}

ValueId PairWriter::difference(ValueId left, ValueId right, const Dims &dims) {
  if (left == noValue || right == noValue)
    return expanded(left == noValue ? negated(right) : left, dims);
  return binary("aten.sub.Tensor", left, right, dims);
}

} // namespace meshplan::archive
