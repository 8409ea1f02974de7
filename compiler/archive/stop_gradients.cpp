//===- stop_gradients.cpp - regions without gradients -----------*- C++ -*-===//
//
// A region under no_grad stops gradients at its border: its results are read outside as constants. The graph has no
// border after regions are inlined, so a detach is inserted at each result that carries a gradient and is read outside;
// readers outside read the detach. Within the region nothing is stopped, since nothing there is differentiated.
//
//   with no_grad: m = mean(h); v = sub(h, m)     y = mul(v, h)
//
//   v carries a gradient and is read outside: v1 = detach(v); y = mul(v1, h)
//   m is read inside only, and stays as it is
//
// Values without a path to a parameter need no detach: there is no gradient to stop.

#include "compiler/archive/stop_gradients.h"

#include "compiler/archive/simplify_graph.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

namespace meshplan::archive {

namespace {

class GradientStopper {
public:
  explicit GradientStopper(ExportedProgram &program);

  void run() {
    std::vector<Node> nodes;
    nodes.reserve(program.nodes.size());
    for (Node &node : program.nodes) {
      findCarriers(node);
      std::vector<Node> stops;
      for (ValueId result : node.results)
        if (node.noGrad && result != noValue && carries[result] && isReadOutside[result])
          stops.push_back(stop(node, result));
      nodes.push_back(std::move(node));
      std::move(stops.begin(), stops.end(), std::back_inserter(nodes));
    }
    program.nodes = std::move(nodes);
    visitReadersOutside([&](ValueId &id) { id = stopped.lookup_or(id, id); });
  }

private:
  /// A node that returns a tensor from outside of its region unchanged keeps the tensor's gradient: it leaves the
  /// region.
  void takeOut() {
    llvm::DenseSet<ValueId> inside;
    for (Node &node : program.nodes) {
      ValueId given = node.noGrad ? givenBack(program, node) : noValue;
      node.noGrad = node.noGrad && (given == noValue || inside.contains(given));
      for (ValueId result : node.results)
        if (node.noGrad && result != noValue)
          inside.insert(result);
    }
  }

  /// Calls `visit`, by reference, with the values that nodes with gradients and outputs read. A detach of the model
  /// does not count as such a node.
  template <typename Visitor> void visitReadersOutside(Visitor visit) {
    for (Node &node : program.nodes)
      for (NamedArgument &argument : node.arguments)
        if (!node.noGrad && node.target != "aten.detach.default")
          visitValues(argument.value, visit);
    for (Output &output : program.outputs)
      visit(output.value);
  }

  /// True if a gradient may flow from `node` to the value: not through a value that is stopped at the border of a
  /// region.
  bool carriesInto(const Node &node, ValueId id) const { return carries[id] && (node.noGrad || !stopped.contains(id)); }

  /// Marks the node's results if a gradient would flow through them.
  void findCarriers(const Node &node) {
    bool reads = false;
    for (const NamedArgument &argument : node.arguments)
      visitValues(argument.value, [&](ValueId id) { reads |= carriesInto(node, id); });
    for (ValueId result : node.results)
      if (result != noValue)
        carries[result] = reads && node.target != "aten.detach.default" && isFloating(program.values[result].type);
  }

  Node stop(const Node &made, ValueId value) {
    Value result = program.values[value];
    while (!names.insert(result.name += "$stopped").second) {
    }
    ValueId id = program.values.size();
    Node node;
    node.name = result.name;
    node.target = "aten.detach.default";
    node.arguments = {{"self", Argument(std::in_place_type<ValueId>, value)}};
    node.results = {id};
    node.scope = made.scope;
    node.noGrad = true;
    node.source = made.source;
    result.result = 0;
    program.values.push_back(std::move(result));
    stopped[value] = id;
    return node;
  }

  ExportedProgram &program;
  std::vector<bool> carries; ///< a value of the original program that depends on a parameter
  std::vector<bool> isReadOutside;
  llvm::DenseMap<ValueId, ValueId> stopped;
  llvm::StringSet<> names;
};

} // namespace

GradientStopper::GradientStopper(ExportedProgram &program)
    : program(program), carries(program.values.size(), false), isReadOutside(program.values.size(), false) {
  for (const Value &value : program.values)
    names.insert(value.name);
  for (const Parameter &parameter : program.parameters)
    carries[parameter.value] = true;
  takeOut();
  visitReadersOutside([&](ValueId id) { isReadOutside[id] = true; });
}

void stopGradients(ExportedProgram &program) { GradientStopper(program).run(); }

} // namespace meshplan::archive
