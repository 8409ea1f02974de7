//===- stack_modules.cpp - parameters of equal modules --------------------===//

#include "compiler/transforms/import/stack_modules.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <map>

using namespace meshplan;
using archive::ExportedProgram;
using archive::ValueId;
using llvm::StringRef;

namespace {

class ModuleStacker {
public:
  ModuleStacker(ExportedProgram &program, StringRef list) : program(program), list(list) {}

  std::string run();

private:
  void collect();
  bool isShared(const archive::Parameter &parameter) const;
  std::string faultOf(StringRef leaf) const;
  std::string nameIn(size_t module, StringRef leaf) const {
    return (list + "." + llvm::Twine(module) + "." + leaf).str();
  }
  void stack(StringRef leaf);
  void selectElements();

  ExportedProgram &program;
  StringRef list;
  /// Of each module by its number: its parameters, as indices of the program, by name in the module.
  std::map<size_t, std::map<std::string, size_t>> modules;
  llvm::StringMap<unsigned> payloads;        ///< how many parameters have each; empty if they do not tell ties
  llvm::DenseMap<ValueId, unsigned> holders; ///< how many parameters have each value
  llvm::DenseSet<ValueId> read;
  std::vector<archive::Node> selects;
  int32_t scope = -1; ///< of the list
};

} // namespace

void ModuleStacker::collect() {
  bool tellTies = program.payloadsTellTies();
  for (auto [index, parameter] : llvm::enumerate(program.parameters)) {
    ++holders[parameter.value];
    if (tellTies && !parameter.payload.empty())
      ++payloads[parameter.payload];
    StringRef name = parameter.name;
    if (!name.consume_front(list) || !name.consume_front("."))
      continue;
    auto [number, leaf] = name.split('.');
    size_t module = 0;
    if (!leaf.empty() && llvm::to_integer(number, module, 10))
      modules[module][leaf.str()] = index;
  }
  for (const archive::Node &node : program.nodes)
    for (ValueId value : program.operands(node))
      read.insert(value);
}

bool ModuleStacker::isShared(const archive::Parameter &parameter) const {
  return holders.lookup(parameter.value) > 1 || payloads.lookup(parameter.payload) > 1;
}

/// `float32 [48, 16]`
static std::string textOf(const archive::Value &value) {
  std::vector<std::string> dims;
  for (const archive::SymbolicInt &dim : value.dims)
    dims.push_back(toString(dim));
  return archive::scalarTypeName(value.type).str() + " [" + llvm::join(dims, ", ") + "]";
}

/// Why the parameters of this name are not elements of one tensor; empty if they are.
std::string ModuleStacker::faultOf(StringRef leaf) const {
  const archive::Parameter &first = program.parameters[modules.begin()->second.at(leaf.str())];
  const archive::Value &value = program.value(first.value);
  for (const auto &[module, parameters] : modules) {
    auto found = parameters.find(leaf.str());
    if (found == parameters.end())
      return "'" + nameIn(module, leaf) + "' does not exist, and '" + first.name + "' does";
    const archive::Parameter &other = program.parameters[found->second];
    const archive::Value &own = program.value(other.value);
    if (isShared(other))
      return "'" + other.name + "' is also another parameter";
    // Of tied parameters torch.export reads one. Without payloads nothing else tells them.
    if (bool isRead = read.contains(other.value); isRead != read.contains(first.value))
      return "the model does not use '" + (isRead ? first : other).name +
             "', or ties it to another parameter, and uses '" + (isRead ? other : first).name + "'";
    if (own.dims != value.dims || own.type != value.type)
      return "'" + other.name + "' is " + textOf(own) + ", and '" + first.name + "' is " + textOf(value);
    if (other.requiresGrad != first.requiresGrad)
      return "the archive freezes '" + (other.requiresGrad ? first : other).name + "', and not '" +
             (other.requiresGrad ? other : first).name + "'";
  }
  return "";
}

/// Replaces the parameters of this name by one. The values that nodes read become elements of it.
void ModuleStacker::stack(StringRef leaf) {
  auto stacked = static_cast<ValueId>(program.values.size());
  archive::Parameter &first = program.parameters[modules.begin()->second.at(leaf.str())];
  archive::Value value = program.value(first.value);
  value.name += "_stacked";
  value.dims.insert(value.dims.begin(), archive::SymbolicInt(static_cast<int64_t>(modules.size())));
  program.values.push_back(std::move(value));
  for (const auto &[module, parameters] : modules) {
    archive::Parameter &part = program.parameters[parameters.at(leaf.str())];
    archive::Node select;
    select.name = program.value(part.value).name;
    select.target = "aten.select.int";
    select.arguments = {{"self", stacked},
                        {"dim", archive::SymbolicInt(0)},
                        {"index", archive::SymbolicInt(static_cast<int64_t>(module))}};
    select.results = {part.value};
    select.scope = scope;
    selects.push_back(std::move(select));
    if (&part != &first)
      part.value = archive::noValue; // removed by run()
  }
  first.name = (list + "." + leaf).str();
  first.list = list.str();
  first.value = stacked;
}

/// Inserts the nodes that read elements, before all others.
void ModuleStacker::selectElements() {
  auto added = static_cast<int32_t>(selects.size());
  for (archive::Value &value : program.values)
    if (value.producer >= 0)
      value.producer += added;
  for (auto [index, select] : llvm::enumerate(selects)) {
    program.values[select.results[0]].producer = static_cast<int32_t>(index);
    program.values[select.results[0]].result = 0;
  }
  program.nodes.insert(program.nodes.begin(), std::make_move_iterator(selects.begin()),
                       std::make_move_iterator(selects.end()));
}

std::string ModuleStacker::run() {
  collect();
  if (modules.empty())
    return "";
  if (modules.size() == 1)
    return "it has one module with parameters, '" + (list + "." + llvm::Twine(modules.begin()->first)).str() + "'";
  for (auto [number, module] : llvm::enumerate(modules))
    if (module.first != number)
      return "it has no '" + (list + "." + llvm::Twine(number)).str() + "' with parameters, and '" +
             (list + "." + llvm::Twine(module.first)).str() + "' has some";
  std::vector<std::string> leaves;
  for (const auto &[module, parameters] : modules)
    for (const auto &[leaf, index] : parameters) {
      if (module != 0 && !modules.begin()->second.count(leaf))
        return "'" + nameIn(0, leaf) + "' does not exist, and '" + nameIn(module, leaf) + "' does";
      if (module == 0)
        leaves.push_back(leaf);
    }
  for (StringRef leaf : leaves)
    if (std::string fault = faultOf(leaf); !fault.empty())
      return fault;
  scope = static_cast<int32_t>(program.scopes.size());
  program.scopes.push_back({0, list.str(), "torch.nn.modules.container.ModuleList", 0});
  for (StringRef leaf : leaves)
    stack(leaf);
  llvm::erase_if(program.parameters,
                 [](const archive::Parameter &parameter) { return parameter.value == archive::noValue; });
  selectElements();
  return "";
}

std::string meshplan::stackModules(ExportedProgram &program, StringRef list) {
  return ModuleStacker(program, list).run();
}
