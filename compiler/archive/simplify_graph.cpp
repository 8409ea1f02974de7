//===- simplify_graph.cpp - remove nodes without effect ----------*- C++ -*-===//

#include "compiler/archive/simplify_graph.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <numeric>

namespace meshplan::archive {

namespace {

/// True for `x.to(torch.float32)`, and not for `x.to(device)`.
bool statesType(const Node &node) {
  const Argument *dtype =
      node.target.starts_with("aten.to.dtype") || node.target == "aten._to_copy.default" ? node.find("dtype") : nullptr;
  return dtype && std::holds_alternative<ScalarType>(*dtype);
}

bool isAlias(llvm::StringRef target) {
  return llvm::StringSwitch<bool>(target)
      .Cases({"aten.alias.default", "aten.lift.default"}, true)
      .Cases({"aten.lift_fresh.default", "aten.lift_fresh_copy.default"}, true)
      .Default(false);
}

bool isDropout(llvm::StringRef target) {
  return llvm::StringSwitch<bool>(target)
      .Cases({"aten.dropout.default", "aten.feature_dropout.default"}, true)
      .Cases({"aten.alpha_dropout.default", "aten.feature_alpha_dropout.default"}, true)
      .Default(false);
}

double probabilityOf(const Node &node) {
  const Argument *probability = node.find("p");
  const double *p = probability ? std::get_if<double>(probability) : nullptr;
  return p ? *p : 1;
}

/// Dropout outside training, or with probability 0.
bool isIdleDropout(const Node &node) {
  if (!isDropout(node.target))
    return false;
  const Argument *train = node.find("train");
  const bool *on = train ? std::get_if<bool>(train) : nullptr;
  return (on && !*on) || probabilityOf(node) == 0;
}

/// True if a copy or a memory format is requested; an archive does not tell the operand's memory format.
bool asksForAnother(const Node &node) {
  const Argument *copy = node.find("copy"), *format = node.find("memory_format");
  const bool *on = copy ? std::get_if<bool>(copy) : nullptr;
  const MemoryFormat *order = format ? std::get_if<MemoryFormat>(format) : nullptr;
  return (on && *on) || (order && *order != MemoryFormat::Preserve);
}

/// Calls `visit` with every value id that the program refers to, by reference.
template <typename Visitor> void visitReferences(ExportedProgram &program, Visitor visit) {
  for (Node &node : program.nodes) {
    for (NamedArgument &argument : node.arguments)
      visitValues(argument.value, visit);
    for (ValueId &id : node.results)
      if (id != noValue)
        visit(id);
  }
  auto visitAll = [&](auto &entries) {
    for (auto &entry : entries)
      visit(entry.value);
  };
  visitAll(program.parameters);
  visitAll(program.buffers);
  visitAll(program.constants);
  visitAll(program.inputs);
  visitAll(program.outputs);
  visitAll(program.bufferUpdates);
}

class Simplifier {
public:
  explicit Simplifier(ExportedProgram &program) : program(program), replacement(program.values.size()) {
    std::iota(replacement.begin(), replacement.end(), 0);
  }

  void run() {
    std::vector<Node> kept;
    kept.reserve(program.nodes.size());
    for (Node &node : program.nodes) {
      for (NamedArgument &argument : node.arguments)
        visitValues(argument.value, [&](ValueId &id) { id = replacement[id]; });
      if (simplify(node))
        continue;
      kept.push_back(std::move(node));
    }
    program.nodes = std::move(kept);
    visitReferences(program, [&](ValueId &id) { id = replacement[id]; });
    compact();
  }

private:
  /// True if the node is removed.
  bool simplify(Node &node) {
    const Argument *self = node.find(isDropout(node.target) ? "input" : "self");
    const ValueId *operand = self ? std::get_if<ValueId>(self) : nullptr;
    if (!operand || node.results.size() != 1 || node.results[0] == noValue)
      return false;
    ValueId input = *operand, result = node.results[0];
    ScalarType type = program.values[result].type;
    bool converts = isConversion(node.target) && program.values[input].type != type;
    // A conversion to the type that the value has may matter under autocast, where the type before it may differ;
    // import removes it otherwise.
    if (!converts && isFloating(type))
      converts = statesType(node);
    if (!converts && !isConversion(node.target) && !isAlias(node.target) && !isIdleDropout(node))
      return false;
    if (isIdleDropout(node) && probabilityOf(node) != 0)
      program.inactiveDropouts.push_back({program.modulePath(node).str(), probabilityOf(node)});
    NamedArgument operandArgument{"self", Argument(std::in_place_type<ValueId>, input)};
    if (converts) {
      node.target = "aten.to.dtype";
      node.arguments = {operandArgument, {"dtype", Argument(type)}};
      return false;
    }
    replacement[result] = input;
    return true;
  }

  void compact() {
    std::vector<ValueId> newId(program.values.size(), noValue);
    visitReferences(program, [&](ValueId id) { newId[id] = 0; });
    std::vector<Value> values;
    for (auto [id, value] : llvm::enumerate(program.values))
      if (newId[id] != noValue) {
        newId[id] = values.size();
        values.push_back(std::move(value));
      }
    program.values = std::move(values);
    visitReferences(program, [&](ValueId &id) { id = newId[id]; });
    for (auto [index, node] : llvm::enumerate(program.nodes))
      for (ValueId id : node.results)
        if (id != noValue)
          program.values[id].producer = index;
  }

  ExportedProgram &program;
  std::vector<ValueId> replacement;
};

} // namespace

bool isConversion(llvm::StringRef target) {
  return target.starts_with("aten.to.") || target == "aten._to_copy.default" || target == "aten.type_as.default" ||
         target == "aten._autocast_to_reduced_precision.default" ||
         target == "aten._autocast_to_full_precision.default";
}

ValueId givenBack(const ExportedProgram &program, const Node &node) {
  bool isIdle = isIdleDropout(node);
  bool converts = isConversion(node.target) && node.target != "aten._to_copy.default" && !asksForAnother(node);
  const Argument *self = node.find(isIdle ? "input" : "self");
  const ValueId *operand = self ? std::get_if<ValueId>(self) : nullptr;
  if (!operand || *operand == noValue || node.results.size() != 1 || node.results[0] == noValue)
    return noValue;
  bool keepsType = program.values[*operand].type == program.values[node.results[0]].type;
  return isIdle || (converts && keepsType) ? *operand : noValue;
}

void simplifyGraph(ExportedProgram &program) { Simplifier(program).run(); }

} // namespace meshplan::archive
