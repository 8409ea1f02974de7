//===- verify_order.cpp - rules V7 and V8 of several lists ----------------===//
//
// A graph whose nodes are the instances that coordinates take part in. A list that issues A and then B makes an edge
// from A to B. Instances of one grouped launch have no edge between them. With the lists
//
//   stage 0:   send forward 1,    receive backward 0
//   stage 1:   send backward 0,   receive forward 1
//
// the edges are forward 1 -> backward 0 -> forward 1: each stage waits in its send for a receive that the other one
// issues only after its own send.
//
//===----------------------------------------------------------------------===//

#include "compiler/scheduling/solution.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <deque>

using namespace meshplan::scheduling;
using llvm::Error;
using llvm::Twine;

namespace {
/// A coordinate issues `from`, and then `to`.
struct Edge {
  unsigned from, to, coordinate;
};

class OrderGraph {
public:
  explicit OrderGraph(llvm::ArrayRef<Coordinate> coordinates) : coordinates(coordinates) {}

  Error check();

private:
  struct Node {
    std::string name;
    /// The operation that takes part on each coordinate.
    std::vector<std::optional<unsigned>> operations;
    llvm::SmallVector<Edge, 4> next;
    unsigned before = 0; ///< edges to it from nodes that are not in order yet
  };

  Error addStarts(unsigned coordinate);
  Error addInstances(unsigned coordinate, unsigned operation, llvm::SmallVectorImpl<unsigned> &nodes);
  Error checkParticipants(const Node &node) const;
  bool removeOrdered();
  std::vector<Edge> findCycle() const;
  Error refuse(llvm::ArrayRef<Edge> cycle) const;
  const std::string &nameOf(unsigned node, unsigned coordinate) const {
    return coordinates[coordinate].problem.operations[*nodes[node].operations[coordinate]].name;
  }

  llvm::ArrayRef<Coordinate> coordinates;
  std::vector<Node> nodes;
  llvm::StringMap<unsigned> byName;
};
} // namespace

Error OrderGraph::addInstances(unsigned coordinate, unsigned operation, llvm::SmallVectorImpl<unsigned> &issued) {
  const Operation &own = coordinates[coordinate].problem.operations[operation];
  for (const Instance &instance : own.instances) {
    for (unsigned other : instance.others)
      if (other >= coordinates.size() || other == coordinate)
        return llvm::createStringError("V7: '" + own.name + "' of coordinate '" + coordinates[coordinate].name +
                                       "' takes part in '" + instance.name + "' with coordinate " + Twine(other) +
                                       ", must be another one of " + Twine(coordinates.size()));
    auto [entry, inserted] = byName.try_emplace(instance.name, nodes.size());
    if (inserted)
      nodes.push_back({instance.name, std::vector<std::optional<unsigned>>(coordinates.size()), {}});
    std::optional<unsigned> &mine = nodes[entry->second].operations[coordinate];
    if (mine)
      return llvm::createStringError("V7: coordinate '" + coordinates[coordinate].name + "' issues '" + instance.name +
                                     "' twice, as '" + coordinates[coordinate].problem.operations[*mine].name +
                                     "' and as '" + own.name + "'");
    mine = operation;
    issued.push_back(entry->second);
  }
  return Error::success();
}

/// Adds the instances that a coordinate issues, and edges from those of one launch to those of the next.
Error OrderGraph::addStarts(unsigned coordinate) {
  llvm::SmallVector<unsigned> previous;
  for (Step step : coordinates[coordinate].solution.steps) {
    if (step.kind != StepKind::start || coordinates[coordinate].problem.operations[step.index].instances.empty())
      continue;
    llvm::SmallVector<unsigned> issued;
    if (Error error = addInstances(coordinate, step.index, issued))
      return error;
    for (unsigned from : previous)
      for (unsigned to : issued) {
        nodes[from].next.push_back({from, to, coordinate});
        ++nodes[to].before;
      }
    previous = std::move(issued);
  }
  return Error::success();
}

Error OrderGraph::checkParticipants(const Node &node) const {
  for (auto [coordinate, operation] : llvm::enumerate(node.operations)) {
    if (!operation)
      continue;
    const Operation &own = coordinates[coordinate].problem.operations[*operation];
    const Instance &instance =
        *llvm::find_if(own.instances, [&](const Instance &each) { return each.name == node.name; });
    for (auto [other, others] : llvm::enumerate(node.operations)) {
      bool expected = other == coordinate || llvm::is_contained(instance.others, other);
      if (expected == others.has_value())
        continue;
      return llvm::createStringError("V7: '" + node.name + "' is between coordinate '" + coordinates[coordinate].name +
                                     "', as '" + own.name + "', and " + (expected ? "" : "not ") + "coordinate '" +
                                     coordinates[other].name + "', which " + (expected ? "never issues" : "issues") +
                                     " it");
    }
  }
  return Error::success();
}

/// Removes nodes that nothing comes before, and their edges. False if some are left: these contain a cycle.
bool OrderGraph::removeOrdered() {
  std::vector<unsigned> ready;
  for (auto [index, node] : llvm::enumerate(nodes))
    if (node.before == 0)
      ready.push_back(index);
  size_t ordered = 0;
  for (; ordered < ready.size(); ++ordered)
    for (Edge edge : nodes[ready[ordered]].next)
      if (--nodes[edge.to].before == 0)
        ready.push_back(edge.to);
  return ordered == nodes.size();
}

/// The shortest cycle through the first node that is on one.
std::vector<Edge> OrderGraph::findCycle() const {
  for (unsigned start = 0; start < nodes.size(); ++start) {
    if (nodes[start].before == 0)
      continue;
    std::vector<std::optional<Edge>> reachedBy(nodes.size());
    std::deque<unsigned> open = {start};
    while (!open.empty() && !reachedBy[start]) {
      for (Edge edge : nodes[open.front()].next)
        if (!reachedBy[edge.to]) {
          reachedBy[edge.to] = edge;
          open.push_back(edge.to);
        }
      open.pop_front();
    }
    if (!reachedBy[start])
      continue; // it comes after a cycle
    std::vector<Edge> cycle;
    do
      cycle.insert(cycle.begin(), *reachedBy[cycle.empty() ? start : cycle.front().from]);
    while (cycle.front().from != start);
    return cycle;
  }
  return {};
}

Error OrderGraph::refuse(llvm::ArrayRef<Edge> cycle) const {
  std::string message = "V8: the lists wait for each other in a cycle: ";
  llvm::ListSeparator separator;
  for (size_t index = 0; index < cycle.size(); ++index) {
    Edge edge = cycle[index];
    // What a coordinate issues between the two ends of its part of the cycle explains nothing.
    while (index + 1 < cycle.size() && cycle[index + 1].coordinate == edge.coordinate)
      edge.to = cycle[++index].to;
    message += (llvm::StringRef(separator) + "'" + nodes[edge.from].name + "' comes before '" + nodes[edge.to].name +
                "' on coordinate '" + coordinates[edge.coordinate].name + "' ('" + nameOf(edge.from, edge.coordinate) +
                "', then '" + nameOf(edge.to, edge.coordinate) + "')")
                   .str();
  }
  return llvm::createStringError(message);
}

Error OrderGraph::check() {
  for (unsigned coordinate = 0; coordinate < coordinates.size(); ++coordinate)
    if (Error error = addStarts(coordinate))
      return error;
  for (const Node &node : nodes)
    if (Error error = checkParticipants(node))
      return error;
  return removeOrdered() ? Error::success() : refuse(findCycle());
}

Error meshplan::scheduling::verifyOrder(llvm::ArrayRef<Coordinate> coordinates) {
  return OrderGraph(coordinates).check();
}
