//===- outline_model.cpp - names of an archive for a plan -----------------===//
//
// torch.export flattens a model: a graph of nodes with stacks of modules, and a list of parameters. Plans name modules,
// so this recovers the tree: modules that ran come from the scopes of nodes, their containers from prefixes of paths,
// and modules that only hold parameters (nn.ParameterList) from the names of these.
//
// Ties need a guess. `lm_head.weight` tied to `embed.weight` is exported as two parameters, one of which has no reader,
// because torch.export reads both through one name. If the archive has weights, the two have one payload. Without
// payloads, an unread parameter is tied to a parameter of the same shape and type that its module reads although
// another module owns it.

#include "compiler/transforms/import/outline_model.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace meshplan;
using archive::ExportedProgram;
using archive::ValueId;
using llvm::StringRef;

namespace {

/// The module that holds a parameter: of a stacked one the list, although its name has more components.
StringRef ownerOf(const archive::Parameter &parameter) {
  StringRef name = parameter.name;
  if (!parameter.list.empty())
    return parameter.list;
  return name.contains('.') ? name.rsplit('.').first : StringRef();
}

class Outliner {
public:
  explicit Outliner(const ExportedProgram &program) : program(program) {}

  ProgramOutline run();

private:
  size_t addModule(StringRef path, StringRef className);

  /// Modules that ran, each after its containers, and then those that only hold parameters.
  void collectModules();
  void collectReaders();

  void collectParameters();

  /// The parameter that is the same tensor as an unread one, or -1: a parameter that is read or, if payloads show ties,
  /// an earlier unread one.
  int findTwin(size_t unread, bool payloads) const;
  bool readsForeign(StringRef module, const archive::Parameter &parameter) const;
  bool sameShape(const archive::Parameter &left, const archive::Parameter &right) const;
  OutlineParameterName nameOf(size_t index) const;
  int addGroup(size_t index);
  OutlineValue describe(const std::string &name, ValueId id) const;

  const ExportedProgram &program;
  ProgramOutline outline;
  llvm::StringMap<size_t> moduleIndex;
  std::vector<llvm::SmallVector<size_t, 2>> readers; ///< modules that read each value
};

} // namespace

ProgramOutline Outliner::run() {
  collectModules();
  collectReaders();
  collectParameters();
  for (const archive::Input &input : program.inputs)
    outline.model.inputs.push_back(describe(input.name, input.value));
  for (const archive::Output &output : program.outputs)
    outline.model.outputs.push_back(describe(output.name, output.value));
  for (const archive::Buffer &buffer : program.buffers)
    if (buffer.persistent) {
      outline.model.buffers.push_back({buffer.name, {}});
      for (const OutlineDim &dim : describe(buffer.name, buffer.value).dims)
        outline.model.buffers.back().shape.push_back(dim.extent);
    }
  return std::move(outline);
}

size_t Outliner::addModule(StringRef path, StringRef className) {
  auto [position, inserted] = moduleIndex.try_emplace(path, outline.model.modules.size());
  if (inserted)
    outline.model.modules.push_back({path.str(), className.str()});
  else if (outline.model.modules[position->second].className.empty())
    outline.model.modules[position->second].className = className.str();
  return position->second;
}

void Outliner::collectModules() {
  addModule("", "");
  auto addWithParents = [&](StringRef path, StringRef className) {
    for (size_t dot = path.find('.'); dot != StringRef::npos; dot = path.find('.', dot + 1))
      addModule(path.take_front(dot), "");
    addModule(path, className);
  };
  for (const archive::Scope &scope : program.scopes)
    addWithParents(scope.path, scope.className);
  for (const archive::Parameter &parameter : program.parameters)
    addWithParents(ownerOf(parameter), "");
}

void Outliner::collectReaders() {
  readers.resize(program.values.size());
  for (const archive::Node &node : program.nodes) {
    size_t module = moduleIndex.lookup(program.modulePath(node));
    for (ValueId value : program.operands(node))
      if (!llvm::is_contained(readers[value], module))
        readers[value].push_back(module);
  }
}

void Outliner::collectParameters() {
  std::vector<int> group(program.parameters.size(), -1);
  // Parameters that are read come first: an unread parameter joins the group of its twin, which must exist then.
  for (size_t index = 0; index < program.parameters.size(); ++index)
    if (!readers[program.parameters[index].value].empty())
      group[index] = addGroup(index);
  bool payloads = program.payloadsTellTies();
  for (size_t index = 0; index < program.parameters.size(); ++index) {
    if (group[index] >= 0)
      continue;
    // torch.export reads tied parameters through one name. The other names are unread, but belong to the same tensor.
    int twin = findTwin(index, payloads);
    if (twin < 0) {
      group[index] = addGroup(index);
      continue;
    }
    group[index] = group[twin];
    outline.parameterNames[group[twin]].push_back(index);
  }
  for (auto [indices, parameter] : llvm::zip(outline.parameterNames, outline.model.parameters)) {
    llvm::sort(indices);
    for (size_t index : indices)
      parameter.names.push_back(nameOf(index));
  }
}

int Outliner::findTwin(size_t unread, bool payloads) const {
  const archive::Parameter &parameter = program.parameters[unread];
  for (size_t other = 0; other < program.parameters.size(); ++other) {
    const archive::Parameter &candidate = program.parameters[other];
    bool isRead = !readers[candidate.value].empty();
    if (other == unread || (!isRead && (!payloads || other > unread)))
      continue;
    bool same = payloads ? !parameter.payload.empty() && candidate.payload == parameter.payload
                         : readsForeign(ownerOf(parameter), candidate) && sameShape(parameter, candidate);
    if (same)
      return other;
  }
  return -1;
}

bool Outliner::readsForeign(StringRef module, const archive::Parameter &parameter) const {
  return ownerOf(parameter) != module && llvm::is_contained(readers[parameter.value], moduleIndex.lookup(module));
}

bool Outliner::sameShape(const archive::Parameter &left, const archive::Parameter &right) const {
  const archive::Value &a = program.value(left.value), &b = program.value(right.value);
  return a.type == b.type && a.dims == b.dims;
}

OutlineParameterName Outliner::nameOf(size_t index) const {
  const archive::Parameter &parameter = program.parameters[index];
  StringRef owner = ownerOf(parameter), name = parameter.name;
  return {moduleIndex.lookup(owner), (owner.empty() ? name : name.drop_front(owner.size() + 1)).str()};
}

/// The name of a parameter type in the language.
static StringRef dtypeOf(archive::ScalarType type) {
  switch (type) {
  case archive::ScalarType::Float64:
    return "f64";
  case archive::ScalarType::Float32:
    return "f32";
  case archive::ScalarType::BFloat16:
    return "bf16";
  case archive::ScalarType::Float16:
    return "f16";
  default:
    return "";
  }
}

int Outliner::addGroup(size_t index) {
  const archive::Parameter &parameter = program.parameters[index];
  OutlineParameter entry;
  entry.readers.assign(readers[parameter.value].begin(), readers[parameter.value].end());
  for (const archive::SymbolicInt &dim : program.value(parameter.value).dims)
    entry.shape.push_back(dim.value);
  entry.requiresGrad = parameter.requiresGrad;
  entry.isStacked = !parameter.list.empty();
  entry.dtype = dtypeOf(program.value(parameter.value).type);
  outline.model.parameters.push_back(std::move(entry));
  outline.parameterNames.push_back({index});
  return static_cast<int>(outline.parameterNames.size()) - 1;
}

OutlineValue Outliner::describe(const std::string &name, ValueId id) const {
  OutlineValue value{name, {}};
  for (const archive::SymbolicInt &dim : program.value(id).dims)
    value.dims.push_back(dim.isSymbolic() ? OutlineDim{0, toString(dim)} : OutlineDim{dim.value, ""});
  return value;
}

ProgramOutline meshplan::outlineModel(const ExportedProgram &program) { return Outliner(program).run(); }
