//===- graph_of.h - feature graphs written by hand --------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_DRAFT_GRAPH_OF_H
#define MESHPLAN_TEST_UNIT_DRAFT_GRAPH_OF_H

#include "compiler/draft/feature_graph.h"

namespace meshplan {

/// Builds a graph of operators on features: each tensor is the number of its feature dim.
class GraphOf {
public:
  size_t input() { return graph.dimCount++; }

  /// x @ w: contracts `x`, returns the new features.
  size_t linear(const std::string &module, size_t x) {
    size_t out = graph.dimCount++;
    addWeight(module, WeightUse::Role::linear, x, out);
    return out;
  }

  /// Looks up indices.
  size_t embedding(const std::string &module, bool looksUpInput = true) {
    size_t rows = graph.dimCount++, out = graph.dimCount++;
    addWeight(module, WeightUse::Role::embedding, rows, out);
    graph.weights.back().looksUpInput = looksUpInput;
    return out;
  }

  /// x + y, element by element.
  size_t together(size_t x, size_t y) {
    call("aten.add.Tensor", "");
    link(DimLink::Kind::together, {x, y});
    return x;
  }

  /// A norm with a weight: needs x whole and returns features of the same class.
  size_t norm(const std::string &module, size_t x) {
    call("aten.layer_norm.default", module);
    link(DimLink::Kind::whole, {x});
    WeightUse use{WeightUse::Role::other, module, module + ".weight", graph.weights.size(), lastCall(), {x}};
    graph.weights.push_back(use);
    return x;
  }

  /// An operator that needs x whole and whose result has other features.
  size_t whole(const std::string &target, const std::string &module, size_t x) {
    call(target, module);
    link(DimLink::Kind::whole, {x});
    size_t out = graph.dimCount++;
    link(DimLink::Kind::whole, {out});
    return out;
  }

  void reduce(size_t x) {
    call("meshplan.row_max", "");
    link(DimLink::Kind::reduced, {x});
  }

  void output(size_t x) { graph.outputDims.push_back(x); }

  FeatureGraph graph;

private:
  size_t lastCall() const { return graph.calls.size() - 1; }
  void call(const std::string &target, const std::string &module) { graph.calls.push_back({target, module}); }
  void link(DimLink::Kind kind, std::vector<size_t> dims) { graph.links.push_back({kind, lastCall(), std::move(dims)}); }

  void addWeight(const std::string &module, WeightUse::Role role, size_t in, size_t out) {
    call("aten.linear.default", module);
    link(DimLink::Kind::reduced, {in});
    link(DimLink::Kind::together, {out});
    graph.weights.push_back({role, module, module + ".weight", graph.weights.size(), lastCall(), {out, in}, out, in});
  }
};

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_DRAFT_GRAPH_OF_H
