//===- graph_of.h - feature graphs written by hand --------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_DRAFT_GRAPH_OF_H
#define MESHPLAN_TEST_UNIT_DRAFT_GRAPH_OF_H

#include "compiler/draft/feature_graph.h"

namespace meshplan {

/// Builds a graph of operators on features: a tensor is represented by its feature dim.
class GraphOf {
public:
  size_t input() { return newDim(); }

  /// A new dim.
  size_t newDim(int64_t extent = 12) {
    graph.extents.push_back(extent);
    return graph.extents.size() - 1;
  }

  /// x @ w: contracts `x`, returns the new features.
  size_t linear(const std::string &module, size_t x, int64_t extent = 12, const std::string &name = "weight") {
    size_t out = newDim(extent);
    addWeight(module, WeightUse::Role::linear, x, out, name);
    return out;
  }

  /// x @ w whose results are existing features.
  void linearTo(const std::string &module, size_t x, size_t out) { addWeight(module, WeightUse::Role::linear, x, out); }

  /// A grouped convolution: each group produces its own features.
  size_t grouped(const std::string &module, size_t x) {
    call("aten.conv1d.default", module);
    size_t weight = newDim(), out = newDim();
    link(DimLink::Kind::together, {weight, out, x});
    graph.links.back().activations = 1;
    WeightUse use{WeightUse::Role::other, module,     module + ".weight",
                  graph.weights.size(),   lastCall(), {weight, newDim(1)}};
    use.outputDim = weight;
    graph.weights.push_back(use);
    return out;
  }

  /// Looks up indices.
  size_t embedding(const std::string &module, bool looksUpInput = true, int64_t count = 32) {
    size_t rows = newDim(count), out = newDim();
    addWeight(module, WeightUse::Role::embedding, rows, out);
    graph.weights.back().looksUpInput = looksUpInput;
    return out;
  }

  /// Queries, keys and values are sharded together by heads.
  size_t attention(size_t query, size_t key, size_t value) {
    call("meshplan.attention", "");
    link(DimLink::Kind::together, {query, key, value});
    return query;
  }

  /// A vector of the module that an operator reads: returns its dim.
  size_t vector(const std::string &module, const std::string &name, int64_t extent) {
    call("aten.add.Tensor", module);
    size_t dim = newDim(extent);
    graph.weights.push_back(
        {WeightUse::Role::other, module, module + "." + name, graph.weights.size(), lastCall(), {dim}});
    return dim;
  }

  /// x + y, element by element.
  size_t together(size_t x, size_t y) {
    call("aten.add.Tensor", "");
    link(DimLink::Kind::together, {x, y});
    return x;
  }

  /// A norm with a weight: needs the whole of x and produces other features.
  size_t norm(const std::string &module, size_t x) {
    call("aten.layer_norm.default", module);
    link(DimLink::Kind::whole, {x});
    size_t weight = newDim(graph.extents[x]), out = newDim(graph.extents[x]);
    link(DimLink::Kind::whole, {weight});
    link(DimLink::Kind::made, {out});
    WeightUse use{WeightUse::Role::other, module, module + ".weight", graph.weights.size(), lastCall(), {weight}};
    graph.weights.push_back(use);
    return out;
  }

  /// Splits x into equal parts, which are sharded together.
  size_t parts(const std::string &target, const std::string &module, size_t x, std::vector<int64_t> sizes) {
    call(target, module);
    size_t first = graph.extents.size();
    std::vector<size_t> links;
    for (int64_t size : sizes) {
      links.push_back(graph.links.size());
      link(DimLink::Kind::together, {x, newDim(size)});
    }
    graph.parts.push_back({x, std::move(sizes), std::move(links)});
    return first;
  }

  /// An operator that needs the whole of x and whose result has other features.
  size_t whole(const std::string &target, const std::string &module, size_t x) {
    call(target, module);
    link(DimLink::Kind::whole, {x});
    size_t out = newDim();
    link(DimLink::Kind::made, {out});
    return out;
  }

  void reduce(size_t x, const std::string &module = "") {
    call("aten.mean.dim", module);
    link(DimLink::Kind::reduced, {x});
  }

  /// The last operator shards this dim, too, or needs it whole.
  void keeps(size_t dim) { link(DimLink::Kind::together, {dim}); }
  void needs(size_t dim) { link(DimLink::Kind::whole, {dim}); }

  void output(size_t x) { graph.outputDims.push_back(x); }

  FeatureGraph graph;

private:
  size_t lastCall() const { return graph.calls.size() - 1; }
  void call(const std::string &target, const std::string &module) { graph.calls.push_back({target, module}); }
  void link(DimLink::Kind kind, std::vector<size_t> dims) {
    graph.links.push_back({kind, lastCall(), std::move(dims)});
  }

  void addWeight(const std::string &module, WeightUse::Role role, size_t in, size_t out,
                 const std::string &name = "weight") {
    call("aten.linear.default", module);
    link(DimLink::Kind::reduced, {in});
    link(DimLink::Kind::together, {out});
    graph.weights.push_back({role, module, module + "." + name, graph.weights.size(), lastCall(), {out, in}, out, in});
  }
};

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_DRAFT_GRAPH_OF_H
