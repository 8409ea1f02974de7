//===- signature_reader.cpp - meaning of a graph's inputs, outputs -*- C++ -===//
//
// The inputs of an exported graph are tensors like `p_layers_0_weight`; the signature says that this one is the
// parameter `layers.0.weight`, and so on. An archive comes from anywhere, so the signature and the graph are checked
// against each other: every tensor input has exactly one specification, names are unique, and held tensors have static
// shapes. Later passes rely on this without checks of their own.

#include "compiler/archive/signature_reader.h"

#include "compiler/archive/output_names.h"
#include "llvm/ADT/StringSet.h"

namespace meshplan::archive {

namespace {

class SignatureReader {
public:
  SignatureReader(const SignatureContext &context, ExportedProgram &program)
      : context(context), document(context.document), program(program) {}

  void read(const Json &module);

private:
  static bool isPlainConstant(llvm::StringRef kind);

  ValueId tensor(const Json &spec) { return context.graph.readTensor(document.member(spec, "arg"), context.names); }

  /// The tensor of an input specification: an input of the graph that no other specification names.
  ValueId inputTensor(const Json &argument);

  /// The same for parameters, buffers and constants, which have a unique name and a static shape.
  ValueId heldTensor(const Json &spec, const std::string &name);

  /// Checks that every tensor input of the graph is a parameter, a buffer, a constant or a user input.
  void checkInputs(const Json &inputs);

  std::string text(const Json &spec, const char *key) { return document.string(document.member(spec, key)); }

  void readInput(const Json &json);

  /// Member that holds a weight; empty if the archive has no bytes for it.
  std::string weightMember(const std::string &name);
  void readParameter(const Json &spec);
  bool requiresGrad(const Json &spec);
  void readBuffer(const Json &spec);
  void readTensorConstant(const Json &spec);
  ConstantData load(const std::string &what, const std::string &name, ValueId value);
  void readUserInput(const Json &argument);

  /// Names of the model's results; empty if the archive has none.
  std::vector<std::string> leafNames(const Json &module);
  void readOutputs(const Json &specs, const std::vector<std::string> &names);
  void readUserOutput(llvm::StringRef specKind, const Json &argument, std::string name);

  const SignatureContext &context;
  JsonDocument &document;
  ExportedProgram &program;
  std::set<ValueId> specified; ///< graph inputs with an input specification
  llvm::StringSet<> held;      ///< names of parameters, buffers and constants
  llvm::StringSet<> outputNames;
  int64_t growth = 0; ///< of the constants: see loadConstant
};

} // namespace

void SignatureReader::read(const Json &module) {
  const Json &signature = document.member(module, "signature");
  for (const Json &spec : document.array(document.member(signature, "input_specs")))
    readInput(spec);
  checkInputs(document.member(document.member(module, "graph"), "inputs"));
  readOutputs(document.array(document.member(signature, "output_specs")), leafNames(module));
}

bool SignatureReader::isPlainConstant(llvm::StringRef kind) {
  return kind == "as_none" || kind == "as_int" || kind == "as_float" || kind == "as_bool" || kind == "as_string";
}

ValueId SignatureReader::inputTensor(const Json &argument) {
  ValueId id = context.graph.readTensor(argument, context.names);
  if (id == noValue)
    return id;
  const Value &value = program.values[id];
  if (value.producer >= 0)
    document.fail(argument, "expected an input of the graph, and '" + value.name + "' is a result");
  else if (!specified.insert(id).second)
    document.fail(argument, "'" + value.name + "' has an input specification already");
  return id;
}

ValueId SignatureReader::heldTensor(const Json &spec, const std::string &name) {
  const Json &argument = document.member(spec, "arg");
  ValueId id = inputTensor(argument);
  if (!held.insert(name).second)
    document.fail(spec, "two input specifications have the name '" + name + "'");
  if (id != noValue && llvm::any_of(program.values[id].dims, [](const SymbolicInt &dim) { return dim.isSymbolic(); }))
    document.fail(argument, "expected '" + name + "' to have a shape without symbols");
  return id;
}

void SignatureReader::checkInputs(const Json &inputs) {
  for (const Json &input : document.array(inputs)) {
    auto [kind, value] = document.unionMember(input);
    if (kind != "as_tensor")
      continue;
    ValueId id = context.graph.readTensor(*value, context.names);
    if (id != noValue && !specified.count(id))
      document.fail(input, "expected an input specification for '" + program.values[id].name +
                               "' in graph_module.signature.input_specs, found none");
  }
}

void SignatureReader::readInput(const Json &json) {
  auto [kind, spec] = document.unionMember(json);
  if (kind == "parameter")
    readParameter(*spec);
  else if (kind == "buffer")
    readBuffer(*spec);
  else if (kind == "tensor_constant")
    readTensorConstant(*spec);
  else if (kind == "user_input")
    readUserInput(document.member(*spec, "arg"));
  else if (kind != "constant_input")
    document.fail(json, "an input of kind '" + kind + "' is not supported");
}

std::string SignatureReader::weightMember(const std::string &name) {
  auto it = context.weights.find(name);
  return it != context.weights.end() && hasBytes(it->second, context.archive) ? it->second.member : "";
}

void SignatureReader::readParameter(const Json &spec) {
  std::string name = text(spec, "parameter_name");
  program.parameters.push_back({name, heldTensor(spec, name), requiresGrad(spec), weightMember(name)});
}

bool SignatureReader::requiresGrad(const Json &spec) {
  auto it = context.names.tensorMetadata->find(document.string(document.member(document.member(spec, "arg"), "name")));
  return it == context.names.tensorMetadata->end() || document.boolean(document.member(*it, "requires_grad"));
}

void SignatureReader::readBuffer(const Json &spec) {
  Buffer buffer;
  buffer.name = text(spec, "buffer_name");
  buffer.value = heldTensor(spec, buffer.name);
  buffer.persistent = document.boolean(document.member(spec, "persistent"));
  if (buffer.persistent)
    buffer.payload = weightMember(buffer.name);
  else
    buffer.data = load("non-persistent buffer '" + buffer.name + "'", buffer.name, buffer.value);
  program.buffers.push_back(std::move(buffer));
}

void SignatureReader::readTensorConstant(const Json &spec) {
  Constant constant;
  constant.name = text(spec, "tensor_constant_name");
  constant.value = heldTensor(spec, constant.name);
  constant.data = load("constant '" + constant.name + "'", constant.name, constant.value);
  program.constants.push_back(std::move(constant));
}

ConstantData SignatureReader::load(const std::string &what, const std::string &name, ValueId value) {
  auto it = context.constants.find(name);
  if (it == context.constants.end()) {
    context.errors.push_back({"'" + context.archive.path() + "': " + what +
                                  " has no value: the archive's constants "
                                  "do not list it",
                              {},
                              "export the model again with torch.export.save"});
    return {};
  }
  // Checked before the bytes are read, whose number follows from the stored shape.
  if (value != noValue && !it->second.pickled && !hasTypeOf(it->second, program.values[value])) {
    context.errors.push_back(
        {"'" + context.archive.path() + "': " + what + " is stored with another type or shape than the graph gives it",
         {},
         ""});
    return {};
  }
  return loadConstant(it->second, what, context.archive, growth, context.errors).value_or(ConstantData());
}

void SignatureReader::readUserInput(const Json &argument) {
  auto [kind, value] = document.unionMember(argument);
  if (kind == "as_tensor") {
    ValueId id = inputTensor(*value);
    if (id != noValue)
      program.inputs.push_back({program.values[id].name, id});
  } else if (!isPlainConstant(kind)) {
    document.fail(argument, "an input of kind '" + kind + "' is not supported");
  }
}

std::vector<std::string> SignatureReader::leafNames(const Json &module) {
  for (const Json &call : document.array(document.member(module, "module_call_graph"))) {
    const Json *signature = document.optionalMember(call, "signature");
    if (!signature || !text(call, "fqn").empty())
      continue;
    JsonDocument spec("out_spec", text(*signature, "out_spec"), context.errors);
    return spec.failed() ? std::vector<std::string>() : treeLeafNames(spec);
  }
  return {};
}

void SignatureReader::readOutputs(const Json &specs, const std::vector<std::string> &names) {
  size_t leaf = 0;
  for (const Json &json : specs) {
    auto [kind, spec] = document.unionMember(json);
    if (kind == "user_output" || kind == "loss_output") {
      // Only what forward() returns has a name; updates of buffers are outputs of the graph in between and are not
      // counted.
      std::string name = leaf < names.size() ? names[leaf] : std::to_string(leaf);
      ++leaf;
      if (!outputNames.insert(name).second)
        document.fail(json, "two outputs have the name '" + name + "'");
      readUserOutput(kind, document.member(*spec, "arg"), std::move(name));
    } else if (kind == "buffer_mutation") {
      program.bufferUpdates.push_back({text(*spec, "buffer_name"), tensor(*spec)});
    } else if (kind == "user_input_mutation" || kind == "parameter_mutation") {
      document.fail(json,
                    "the graph changes its " + llvm::StringRef(kind[0] == 'u' ? "input" : "parameter") + " '" +
                        text(*spec, kind[0] == 'u' ? "user_input_name" : "parameter_name") + "'",
                    kind[0] == 'u' ? "write the model so that forward() returns the new value"
                                   : "write the model so that forward() returns the new value; an embedding with "
                                     "max_norm changes its table: leave max_norm out and scale the rows that are "
                                     "looked up");
    } else {
      document.fail(json, "an output of kind '" + kind + "' is not supported");
    }
  }
}

void SignatureReader::readUserOutput(llvm::StringRef specKind, const Json &argument, std::string name) {
  if (specKind == "loss_output") {
    program.lossOutput = program.outputs.size();
    program.outputs.push_back({std::move(name), context.graph.readTensor(argument, context.names)});
    return;
  }
  auto [kind, value] = document.unionMember(argument);
  if (kind == "as_tensor")
    program.outputs.push_back({std::move(name), context.graph.readTensor(*value, context.names)});
  else if (!isPlainConstant(kind))
    document.fail(argument, "an output of kind '" + kind + "' is not supported");
}

void readSignature(const Json &module, const SignatureContext &context, ExportedProgram &program) {
  SignatureReader(context, program).read(module);
}

} // namespace meshplan::archive
