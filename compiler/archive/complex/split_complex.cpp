//===- split_complex.cpp - complex tensors as pairs of reals -----*- C++ -*-===//
//
// No kernel, collective or optimizer knows complex numbers, so they end here: each complex tensor is a pair of real
// ones, and each operator of complex tensors the real operators of its rule. Nodes are rewritten in order, so the pairs
// of a node's operands are known when it is reached. What enters and leaves the graph may not be complex, because names
// and shapes of parameters, inputs and outputs are those that the user knows.

#include "compiler/archive/complex/split_complex.h"

#include "compiler/archive/complex/pair_rules.h"
#include "compiler/archive/functional_check.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

namespace meshplan::archive {

namespace {

/// Every second number of a complex tensor's data, beginning with the first or the second.
ConstantData partOf(const ConstantData &data, size_t first) {
  ConstantData part{partType(data.type), data.dims, {}};
  size_t size = scalarTypeSize(part.type);
  for (size_t begin = first * size; begin < data.bytes.size(); begin += 2 * size)
    part.bytes.insert(part.bytes.end(), data.bytes.begin() + begin, data.bytes.begin() + begin + size);
  return part;
}

class ComplexSplitter {
public:
  ComplexSplitter(ExportedProgram &program, const std::string &path, std::vector<Diagnostic> &errors)
      : program(program), prefix("'" + path + "': "), errors(errors), writer(program), rules(program, writer) {}

  void run();

private:
  bool isComplexValue(ValueId id) const { return id != noValue && isComplex(program.value(id).type); }
  void refuse(const std::string &what, ValueId value, const std::string &help);
  void refuseBorders();

  void splitConstants();
  void splitBuffers();
  ValueId partOfValue(ValueId whole, const char *suffix);
  Pair definePair(ValueId whole);

  bool touchesComplex(const Node &node) const;
  void visit(Node node);
  void reportRefused();

  ExportedProgram &program;
  std::string prefix;
  std::vector<Diagnostic> &errors;
  PairWriter writer;
  PairRules rules;
  std::map<std::string, std::vector<std::string>> refused; ///< locations of operators without a rule, by operator
};

} // namespace

void ComplexSplitter::run() {
  refuseBorders();
  if (!errors.empty())
    return;
  splitConstants();
  splitBuffers();
  std::vector<Node> nodes = std::move(program.nodes);
  for (Node &node : nodes)
    visit(std::move(node));
  program.nodes = writer.take();
  for (Output &output : program.outputs)
    output.value = rules.realValue(output.value);
  for (BufferUpdate &update : program.bufferUpdates)
    update.value = rules.realValue(update.value);
  reportRefused();
}

void ComplexSplitter::refuse(const std::string &what, ValueId value, const std::string &help) {
  if (isComplexValue(value))
    errors.push_back(
        {prefix + what + " is complex (" + scalarTypeName(program.value(value).type).str() + ")", {}, help});
}

void ComplexSplitter::refuseBorders() {
  const std::string inside = "only inside of a graph tensors may be complex: ";
  for (const Parameter &parameter : program.parameters)
    refuse("parameter '" + parameter.name + "'", parameter.value,
           inside + "store a real parameter with a last dim of 2, and read it through torch.view_as_complex");
  for (const Input &input : program.inputs)
    refuse("input '" + input.name + "'", input.value,
           inside + "take torch.view_as_real of it, and read that through torch.view_as_complex");
  for (const Output &output : program.outputs)
    refuse("output '" + output.name + "'", output.value, inside + "return torch.view_as_real of it");
  for (const BufferUpdate &update : program.bufferUpdates)
    refuse("what updates buffer '" + update.buffer + "'", update.value,
           inside + "store a real buffer with a last dim of 2, and read it through torch.view_as_complex");
}

ValueId ComplexSplitter::partOfValue(ValueId whole, const char *suffix) {
  Value part = program.value(whole);
  part.name += suffix;
  part.type = partType(part.type);
  program.values.push_back(std::move(part));
  return program.values.size() - 1;
}

Pair ComplexSplitter::definePair(ValueId whole) {
  Pair parts{partOfValue(whole, "$real"), partOfValue(whole, "$imag")};
  rules.define(whole, parts);
  return parts;
}

void ComplexSplitter::splitConstants() {
  std::vector<Constant> constants;
  for (Constant &constant : program.constants) {
    if (!isComplexValue(constant.value)) {
      constants.push_back(std::move(constant));
      continue;
    }
    Pair parts = definePair(constant.value);
    constants.push_back({constant.name + ".real", parts.real, partOf(constant.data, 0)});
    constants.push_back({constant.name + ".imag", parts.imag, partOf(constant.data, 1)});
  }
  program.constants = std::move(constants);
}

/// A buffer that is not persistent becomes two. A persistent one, which a file of weights contains, stays one tensor,
/// from which the parts are selected.
void ComplexSplitter::splitBuffers() {
  std::vector<Buffer> buffers;
  for (Buffer &buffer : program.buffers) {
    if (!isComplexValue(buffer.value)) {
      buffers.push_back(std::move(buffer));
    } else if (buffer.persistent) {
      Value &value = program.values[buffer.value];
      Dims dims = value.dims;
      // [n, m] complex numbers are [n, m, 2] real ones with the same bytes, as torch.view_as_real has them.
      ValueId whole = buffer.value, pairs = partOfValue(whole, "$pairs");
      program.values[pairs].dims.push_back(2);
      Node origin;
      origin.name = program.value(whole).name;
      writer.begin(origin);
      ValueId real = writer.selected(pairs, 0, dims), imag = writer.selected(pairs, 1, dims);
      rules.define(whole, {real, imag});
      buffer.value = pairs;
      buffers.push_back(std::move(buffer));
    } else {
      Pair parts = definePair(buffer.value);
      buffers.push_back({buffer.name + ".real", parts.real, false, "", partOf(*buffer.data, 0)});
      buffers.push_back({buffer.name + ".imag", parts.imag, false, "", partOf(*buffer.data, 1)});
    }
  }
  program.buffers = std::move(buffers);
}

bool ComplexSplitter::touchesComplex(const Node &node) const {
  bool touches = llvm::any_of(node.results, [&](ValueId id) { return isComplexValue(id); });
  for (const NamedArgument &argument : node.arguments)
    visitValues(argument.value, [&](ValueId id) { touches |= isComplexValue(id); });
  return touches;
}

void ComplexSplitter::visit(Node node) {
  if (!touchesComplex(node)) {
    for (NamedArgument &argument : node.arguments)
      visitValues(argument.value, [&](ValueId &id) { id = rules.realValue(id); });
    return writer.keep(std::move(node));
  }
  // A reader of a refused node is not reported as well.
  for (ValueId id : program.operands(node))
    if (!rules.isKnown(id))
      return;
  if (!rules.run(node))
    refused[node.target].push_back(describeNode(program, node));
}

void ComplexSplitter::reportRefused() {
  constexpr size_t maxNotes = 3;
  for (auto &[target, nodes] : refused) {
    Diagnostic error;
    error.message = prefix + "operator '" + target + "' is not implemented for complex tensors";
    size_t count = nodes.size();
    nodes.resize(std::min(count, maxNotes));
    error.notes = std::move(nodes);
    if (count > maxNotes)
      error.notes.push_back("and " + std::to_string(count - maxNotes) + " more");
    error.help = "write it with torch.view_as_real, or with sums, products, quotients and exponentials, which are "
                 "computed as pairs of real tensors";
    errors.push_back(std::move(error));
  }
}

void splitComplex(ExportedProgram &program, const std::string &path, std::vector<Diagnostic> &errors) {
  auto isAnyComplex = llvm::any_of(program.values, [](const Value &value) { return isComplex(value.type); });
  if (isAnyComplex)
    ComplexSplitter(program, path, errors).run();
}

} // namespace meshplan::archive
