//===- graph_reader.cpp - JSON graph to values and nodes ---------*- C++ -*-===//
//
// Nodes are read in order, in one walk. A region (a nested graph under no_grad
// or autocast) is inlined: its operands are bound to its inputs by name, its
// nodes are appended with the region's properties, and its results become
// results of the outer graph.
//
// Example: a graph with a region
//
//   y = wrap_with_set_grad_enabled(False, submodule, x)     submodule(a): b = mul(a, 2); return b
//
// becomes the one node b = mul(x, 2) with noGrad, and y is another name of b.
//
//===----------------------------------------------------------------------===//

#include "compiler/archive/graph_reader.h"

#include "compiler/archive/argument_reader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace meshplan::archive {

namespace {

/// The help for a region: regions of a context can be inlined by the exporter; branches and loops cannot.
std::string regionHelp(llvm::StringRef target, const ExportedProgram &program) {
  if (target.starts_with("higher_order.wrap_with_") && !program.isDecomposed)
    return "export with 'ep = ep.run_decompositions({})' before torch.export.save, which inlines the region";
  return "a plan is for one graph: export the model with the branch or the loop written "
         "out";
}

/// True for a sparse layout, numbered as in torch/_export/serde/schema.py.
bool isSparse(int64_t layout) {
  constexpr int64_t unknown = 0, sparseBsc = 5;
  return layout > unknown && layout <= sparseBsc;
}

/// Operators that only check what the shapes already imply.
bool isAssert(llvm::StringRef target) {
  llvm::StringRef name = target.split('.').second.split('.').first;
  return llvm::StringSwitch<bool>(name)
      .Cases({"_assert_tensor_metadata", "_assert_scalar", "_assert_async"}, true)
      .Cases({"sym_constrain_range", "sym_constrain_range_for_size"}, true)
      .Default(false);
}

struct Frame {
  llvm::StringRef function, code; ///< its name, and the current line
  std::string location;           ///< `file.py:12`
};

/// The frames of a Python stack trace, innermost last: lines `File "F.py", line 12, in NAME` and lines of code.
std::vector<Frame> framesOf(llvm::StringRef trace) {
  std::vector<Frame> frames;
  llvm::SmallVector<llvm::StringRef> lines;
  trace.split(lines, '\n');
  for (llvm::StringRef line : lines) {
    line = line.trim();
    if (line.consume_front("File \"")) {
      auto [file, rest] = line.split("\", line ");
      auto [number, function] = rest.split(", in ");
      frames.push_back({function, "", (file + ":" + number).str()});
    } else if (!frames.empty()) {
      frames.back().code = line;
    }
  }
  return frames;
}

/// `file.py:12` of the innermost frame of a Python stack trace.
std::string innermostFrame(llvm::StringRef trace) {
  constexpr llvm::StringRef fileMark = "File \"", lineMark = "\", line ";
  size_t start = trace.rfind(fileMark);
  if (start == llvm::StringRef::npos)
    return "";
  auto [file, rest] = trace.drop_front(start + fileMark.size()).split(lineMark);
  llvm::StringRef line = rest.take_while([](char c) { return llvm::isDigit(c); });
  return line.empty() ? "" : (file + ":" + line).str();
}

} // namespace

GraphNames GraphReader::read(const Json &graph) {
  GraphNames names;
  names.tensorMetadata = &document.object(document.member(graph, "tensor_values"));
  readNumbers(graph, names);
  for (const Json &input : document.array(document.member(graph, "inputs"))) {
    auto [kind, value] = document.unionMember(input);
    if (kind == "as_tensor")
      defineTensor(document.member(*value, "name"), names, -1, 0);
    else if (kind == "as_custom_obj" || kind == "as_sym_int")
      document.fail(input, "an input of kind '" + kind + "' is not supported");
  }
  readNodes(graph, names, {});
  return names;
}

/// Floats and booleans are read where an operator uses them: most are used by asserts only.
void GraphReader::readNumbers(const Json &graph, GraphNames &names) {
  const Json &integers = document.object(document.member(graph, "sym_int_values"));
  for (auto it = integers.begin(); it != integers.end(); ++it)
    // Read before the nodes, whose arguments refer to integers by name.
    names.integers[it.key()] = readSymbolicInt(*it);
  names.floats = document.optionalMember(graph, "sym_float_values");
  names.truths = document.optionalMember(graph, "sym_bool_values");
}

std::optional<SymbolicScalar> GraphReader::readSymbolicScalar(SymbolicScalar::Type type, const Json &argument,
                                                              const GraphNames &names) {
  bool isFloat = type == SymbolicScalar::Type::Float;
  auto known = [&](const Json &value) {
    auto constant = std::make_shared<SymbolicExpression>();
    if (isFloat)
      constant->constant = document.number(value);
    else
      constant->constant = document.boolean(value);
    return SymbolicScalar{type, std::move(constant)};
  };
  auto [kind, value] = document.unionMember(argument);
  if (kind == (isFloat ? "as_float" : "as_bool"))
    return known(*value);
  if (kind != "as_name") {
    if (!kind.empty())
      document.fail(argument, "an argument of kind '" + kind + "' is not supported");
    return std::nullopt;
  }
  std::string name = document.string(*value);
  const Json *table = isFloat ? names.floats : names.truths;
  const Json *entry = table ? document.optionalMember(*table, name.c_str()) : nullptr;
  if (!entry) {
    document.fail(argument, (isFloat ? "float '" : "truth value '") + name + "' is not defined");
    return std::nullopt;
  }
  auto [form, content] = document.unionMember(*entry);
  if (form != "as_expr")
    return known(*content);
  llvm::Expected<SymbolicExpressionPtr> parsed =
      parseExpression(document.string(document.member(*content, "expr_str")));
  if (parsed)
    return SymbolicScalar{type, std::move(*parsed)};
  document.fail(*entry, llvm::toString(parsed.takeError()));
  return std::nullopt;
}

SymbolicInt GraphReader::readSymbolicInt(const Json &symInt) {
  auto [kind, value] = document.unionMember(symInt);
  if (kind == "as_int")
    return document.integer(*value);
  llvm::Expected<SymbolicInt> parsed = parseSymbolicInt(document.string(document.member(*value, "expr_str")));
  if (parsed) {
    noteExample(*parsed, *value);
    return std::move(*parsed);
  }
  document.fail(symInt, llvm::toString(parsed.takeError()));
  return 0;
}

void GraphReader::noteExample(const SymbolicInt &integer, const Json &expression) {
  const Json *hint = document.optionalMember(expression, "hint");
  if (!hint || !integer.isSymbolic() || integer.expression->kind != SymbolicExpression::Kind::Symbol)
    return;
  auto [kind, value] = document.unionMember(*hint);
  if (kind == "as_int")
    program.examples[integer.expression->name] = document.integer(*value);
}

std::optional<ScalarType> GraphReader::readScalarType(const Json &number) {
  int64_t code = document.integer(number);
  std::optional<ScalarType> type = scalarTypeFromSchema(code);
  if (!type)
    document.fail(number, "unknown element type " + llvm::Twine(code));
  return type;
}

ValueId GraphReader::readTensor(const Json &tensorArgument, const GraphNames &names) {
  std::string name = document.string(document.member(tensorArgument, "name"));
  auto it = names.tensors.find(name);
  if (it != names.tensors.end())
    return it->second;
  document.fail(tensorArgument, "tensor '" + name + "' is not defined");
  return noValue;
}

void GraphReader::readNodes(const Json &graph, GraphNames &names, const RegionContext &context) {
  for (const Json &node : document.array(document.member(graph, "nodes")))
    readNode(node, names, context);
}

void GraphReader::readNode(const Json &json, GraphNames &names, const RegionContext &context) {
  std::string text = document.string(document.member(json, "target"));
  llvm::StringRef target = text;
  bool isOperator = target.consume_front("torch.ops.");
  const Json &outputs = document.array(document.member(json, "outputs"));
  if (target.starts_with("higher_order."))
    readRegion(json, target, names, context);
  else if (isOperator && isAssert(target))
    return;
  else if (isSymbolicArithmetic(outputs))
    return;
  else if (isOperator)
    readOperator(json, target, names, context);
  else
    document.fail(json, "operator '" + target + "' is not supported");
}

/// Nodes that only compute symbolic numbers are dropped: names.integers has the results as expressions.
bool GraphReader::isSymbolicArithmetic(const Json &outputs) {
  for (const Json &output : outputs) {
    llvm::StringRef kind = document.unionMember(output).first;
    if (kind != "as_sym_int" && kind != "as_sym_bool" && kind != "as_sym_float")
      return false;
  }
  return !outputs.empty();
}

void GraphReader::readOperator(const Json &json, llvm::StringRef target, GraphNames &names,
                               const RegionContext &context) {
  Node node;
  node.target = target.str();
  node.noGrad = context.noGrad;
  node.autocastOff = context.autocastOff;
  readArguments(document.member(json, "inputs"), names, node);
  readMetadata(json, node);
  defineResults(document.member(json, "outputs"), names, node);
  if (const Json *name = document.optionalMember(json, "name"))
    node.name = document.string(*name);
  else if (!node.results.empty() && node.results.front() != noValue)
    node.name = program.values[node.results.front()].name;
  program.nodes.push_back(std::move(node));
}

void GraphReader::readArguments(const Json &inputs, const GraphNames &names, Node &node) {
  for (const Json &input : document.array(inputs)) {
    std::string name = document.string(document.member(input, "name"));
    std::optional<Argument> argument = readArgument(document.member(input, "arg"), names, *this, document);
    // Where and how a tensor is stored is decided by the plan and the runtime.
    if (argument && name != "device" && name != "pin_memory" && name != "non_blocking" && name != "layout")
      node.arguments.push_back({std::move(name), std::move(*argument)});
  }
}

void GraphReader::readMetadata(const Json &json, Node &node) {
  const Json &metadata = document.object(document.member(json, "metadata"));
  if (const Json *stack = document.optionalMember(metadata, "nn_module_stack")) {
    std::optional<int32_t> scope = scopes.find(document.string(*stack));
    if (!scope)
      document.fail(*stack, "malformed module stack");
    node.scope = scope.value_or(-1);
  }
  if (const Json *trace = document.optionalMember(metadata, "stack_trace"))
    noteTrace(document.string(*trace), node);
  for (const char *member : {"from_node", "torch_fn"})
    if (const Json *origin = document.optionalMember(metadata, member))
      noteOrigin(document.string(*origin), node);
}

/// Decompositions inline no-grad regions, and core decompositions turn a `detach` into an `alias`. What remains is the
/// origin of a node (the nodes and the torch function that it was made from).
void GraphReader::noteOrigin(llvm::StringRef origin, Node &node) {
  node.noGrad |= origin.contains("wrap_with_set_grad_enabled");
  if (node.target == "aten.alias.default" &&
      (origin.contains("\"aten.detach.default\"") || origin.ends_with(".detach")))
    node.target = "aten.detach.default";
}

/// A call of a custom autograd function shows as a `forward` after a line with `apply`; the trace then has one
/// `forward` more than the node has modules.
void GraphReader::noteTrace(llvm::StringRef trace, Node &node) {
  node.source = innermostFrame(trace);
  std::vector<Frame> frames = framesOf(trace);
  auto isForward = [](const Frame &frame) { return frame.function == "forward"; };
  if (llvm::count_if(frames, isForward) <= static_cast<ptrdiff_t>(program.moduleChain(node).size()))
    return;
  for (size_t i = 0; i + 1 < frames.size(); ++i)
    if (frames[i].code.contains(".apply(") && isForward(frames[i + 1]) &&
        llvm::none_of(program.customFunctions,
                      [&](const CustomFunction &own) { return own.source == frames[i].location; }))
      program.customFunctions.push_back({program.modulePath(node).str(), frames[i].location});
}

void GraphReader::defineResults(const Json &outputs, GraphNames &names, Node &node) {
  int32_t producer = program.nodes.size();
  auto define = [&](const Json &tensor) {
    node.results.push_back(defineTensor(document.member(tensor, "name"), names, producer, node.results.size()));
  };
  for (const Json &output : document.array(outputs)) {
    auto [kind, value] = document.unionMember(output);
    if (kind == "as_tensor")
      define(*value);
    else if (kind == "as_tensors")
      for (const Json &element : document.array(*value))
        define(element);
    else if (kind == "as_none")
      node.results.push_back(noValue);
    else
      document.fail(output, "a result of kind '" + kind + "' is not supported");
  }
}

ValueId GraphReader::defineTensor(const Json &name, GraphNames &names, int32_t producer, int32_t result) {
  Value value;
  value.name = document.string(name);
  value.producer = producer;
  value.result = result;
  ValueId id = program.values.size();
  if (!names.tensors.try_emplace(value.name, id).second)
    document.fail(name, "tensor '" + value.name + "' is defined twice");
  auto metadata = names.tensorMetadata->find(value.name);
  if (metadata == names.tensorMetadata->end()) {
    document.fail(name, "tensor '" + value.name + "' has no shape in tensor_values");
  } else {
    value.type = readScalarType(document.member(*metadata, "dtype")).value_or(ScalarType::Float32);
    if (const Json *layout = document.optionalMember(*metadata, "layout");
        layout && isSparse(document.integer(*layout)))
      document.fail(*layout, "tensor '" + value.name + "' is sparse, which is not implemented yet",
                    "compute with dense tensors");
    const Json &sizes = document.array(document.member(*metadata, "sizes"));
    for (const Json &size : sizes) {
      value.dims.push_back(readSymbolicInt(size));
      if (!value.dims.back().isSymbolic() && value.dims.back().value < 0)
        document.fail(size, "an extent is negative");
    }
    if (!hasPossibleSize(value))
      document.fail(sizes, "tensor '" + value.name + "' has more bytes than 64 bits can count");
  }
  // Regions have names of their own, which may repeat; values need unique names.
  std::string base = value.name;
  for (int suffix = 1; !valueNames.insert(value.name).second; ++suffix)
    value.name = base + "$" + std::to_string(suffix);
  program.values.push_back(std::move(value));
  return id;
}

void GraphReader::readRegion(const Json &json, llvm::StringRef target, GraphNames &names, RegionContext context) {
  if (target == "higher_order.wrap_with_set_grad_enabled")
    return readGradientRegion(json, names, std::move(context));
  if (target == "higher_order.wrap_with_autocast")
    return readAutocastRegion(json, names, std::move(context));
  document.fail(json, "higher-order operator '" + target + "' is not supported", regionHelp(target, program));
  defineUnread(json, names);
}

void GraphReader::defineUnread(const Json &json, GraphNames &names) {
  Node unread;
  defineResults(document.member(json, "outputs"), names, unread);
}

void GraphReader::readGradientRegion(const Json &json, GraphNames &names, RegionContext context) {
  const Json &inputs = document.array(document.member(json, "inputs"));
  if (inputs.size() < 2)
    return document.fail(inputs, "a gradient region needs a flag and a graph");
  // A region states its own mode: enable_grad inside of no_grad turns gradients on again.
  context.noGrad = !document.boolean(document.member(document.member(inputs[0], "arg"), "as_bool"));
  inlineRegion(json, 1, names, context);
}

/// Where autocast is on, tensors have the types that autocast gives them, but the graph does not contain the
/// conversions of operands. Decompositions make these explicit.
void GraphReader::readAutocastRegion(const Json &json, GraphNames &names, RegionContext context) {
  const Json &inputs = document.array(document.member(json, "inputs"));
  constexpr size_t settings = 4; // device type, dtype, enabled, cache
  if (inputs.size() <= settings)
    return document.fail(inputs, "an autocast region needs four settings and a graph");
  std::string device = document.string(document.member(document.member(inputs[0], "arg"), "as_string"));
  if (document.boolean(document.member(document.member(inputs[2], "arg"), "as_bool"))) {
    document.fail(json,
                  "the graph has a region under torch.autocast('" + device + "'), whose conversions it does not show",
                  regionHelp("higher_order.wrap_with_autocast", program));
    return defineUnread(json, names);
  }
  // If autocast is off for the tensors' own device, or for a second device type, it is off here for every device.
  bool isEvery = isOwnDevice(device, names) || (!context.autocastOff.empty() && context.autocastOff != device);
  context.autocastOff = isEvery ? everyDevice.str() : device;
  inlineRegion(json, settings, names, context);
}

bool GraphReader::isOwnDevice(const std::string &type, const GraphNames &names) {
  for (const Json &metadata : *names.tensorMetadata)
    if (const Json *device = document.optionalMember(metadata, "device"))
      return document.string(document.member(*device, "type")) == type;
  return true;
}

void GraphReader::inlineRegion(const Json &json, size_t settings, GraphNames &names, const RegionContext &context) {
  const Json &inputs = document.member(json, "inputs");
  const Json &graph = document.member(document.member(document.member(inputs[settings], "arg"), "as_graph"), "graph");
  GraphNames inner;
  inner.tensorMetadata = &document.object(document.member(graph, "tensor_values"));
  readNumbers(graph, inner);
  bindRegionInputs(inputs, settings + 1, graph, names, inner);
  readNodes(graph, inner, context);
  bindRegionOutputs(json, graph, inner, names);
}

void GraphReader::bindRegionInputs(const Json &inputs, size_t before, const Json &graph, const GraphNames &outer,
                                   GraphNames &inner) {
  const Json &formals = document.array(document.member(graph, "inputs"));
  if (formals.size() + before != inputs.size())
    return document.fail(inputs, "region takes " + llvm::Twine(formals.size()) + " operands, " +
                                     llvm::Twine(inputs.size() - before) + " are given");
  for (size_t i = 0; i < formals.size(); ++i) {
    auto [kind, formal] = document.unionMember(formals[i]);
    // Other kinds are constants or integers, which are in the region's own table.
    if (kind == "as_tensor")
      inner.tensors[document.string(document.member(*formal, "name"))] =
          readTensor(document.member(document.member(inputs[i + before], "arg"), "as_tensor"), outer);
  }
}

void GraphReader::bindRegionOutputs(const Json &json, const Json &graph, const GraphNames &inner, GraphNames &outer) {
  std::vector<const Json *> results;
  for (const Json &output : document.array(document.member(json, "outputs"))) {
    auto [kind, value] = document.unionMember(output);
    if (kind == "as_tensors")
      for (const Json &element : document.array(*value))
        results.push_back(&element);
    else
      results.push_back(kind == "as_tensor" ? value : nullptr);
  }
  const Json &returned = document.array(document.member(graph, "outputs"));
  if (returned.size() != results.size())
    return document.fail(json, "region returns " + llvm::Twine(returned.size()) + " values, " +
                                   llvm::Twine(results.size()) + " are taken");
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i])
      bindRegionOutput(document.member(*results[i], "name"), document.member(returned[i], "as_tensor"), inner, outer);
}

void GraphReader::bindRegionOutput(const Json &name, const Json &returned, const GraphNames &inner, GraphNames &outer) {
  std::string text = document.string(name);
  if (!outer.tensors.try_emplace(text, readTensor(returned, inner)).second)
    document.fail(name, "tensor '" + text + "' is defined twice");
}

} // namespace meshplan::archive
