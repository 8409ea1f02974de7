//===- dim_classes.cpp - dims that are divided together -------------------===//
//
// Dims that calls link are one class, found by union-find over all dims of the model. Example: `y = linear(x, w)` links
// the first dim of w with the last one of y, and `z = relu(y)` the dims of y and z. A linear layer that reads z then
// has its input features in the class of the output features of w: if one is divided, so is the other.
//
//===----------------------------------------------------------------------===//

#include "compiler/draft/dim_classes.h"
#include "compiler/support/layer_names.h"
#include "llvm/ADT/ArrayRef.h"
#include <algorithm>
#include <numeric>

using namespace meshplan;
using Role = WeightUse::Role;

size_t DimClasses::find(size_t dim) const {
  while (parents[dim] != dim)
    // Path halving: without it chains of views would make each query linear in the model.
    dim = parents[dim] = parents[parents[dim]];
  return dim;
}

/// The smaller root is kept, so that the number of a class does not depend on the order of links.
void DimClasses::unite(size_t left, size_t right) {
  left = find(left), right = find(right);
  parents[std::max(left, right)] = std::min(left, right);
}

DimClasses::DimClasses(const FeatureGraph &graph, bool beginsAtGroups)
    : parents(graph.extents.size()), classes(graph.extents.size()) {
  std::iota(parents.begin(), parents.end(), 0);
  std::vector<bool> begins(graph.calls.size(), false);
  for (const DimLink &link : graph.links) {
    begins[link.call] = begins[link.call] || (beginsAtGroups && link.activations > 0);
    for (size_t dim : llvm::ArrayRef(link.dims).drop_back(beginsAtGroups ? link.activations : 0))
      unite(link.dims.front(), dim);
  }

  std::vector<bool> contracts(graph.calls.size(), false);
  for (size_t index = 0; index < graph.weights.size(); ++index) {
    const WeightUse &weight = graph.weights[index];
    if (weight.role == WeightUse::Role::other) {
      if (weight.outputDim && weight.call < begins.size() && begins[weight.call])
        classes[find(*weight.outputDim)].producedBy.push_back(index);
      continue;
    }
    contracts[weight.call] = true;
    DimClass &input = classes[find(*weight.inputDim)];
    if (weight.role == WeightUse::Role::embedding) {
      input.lookedUpBy.push_back(index);
      // A table that is looked up by computed indices, such as the biases of experts, is part of a layer; one that
      // token ids look up is the start of the model, whose features belong to the residual stream.
      if (!weight.looksUpInput)
        classes[find(*weight.outputDim)].producedBy.push_back(index);
      continue;
    }
    input.contractedBy.push_back(index);
    classes[find(*weight.outputDim)].producedBy.push_back(index);
  }
  for (const DimLink &link : graph.links) {
    DimClass &own = classes[find(link.dims.front())];
    if (link.kind == DimLink::Kind::whole)
      own.wholeAt = std::min(own.wholeAt.value_or(link.call), link.call);
    own.isReduced |= link.kind == DimLink::Kind::reduced && !contracts[link.call];
  }
  for (size_t dim : graph.outputDims)
    classes[find(dim)].isOutput = true;
}

static std::string wholeAt(const FeatureGraph &graph, size_t call, const char *features) {
  const GraphCall &own = graph.calls[call];
  std::string where = own.module.empty() ? "" : " in '" + withoutIndices(own.module) + "'";
  return "'" + own.target + "'" + where + " needs the " + features + " features whole";
}

static std::string whyOtherIsWhole(const FeatureGraph &graph, const WeightUse &weight) {
  if (weight.call >= graph.calls.size())
    return "nothing reads it";
  const GraphCall &own = graph.calls[weight.call];
  if (weight.outputDim && weight.inputDim)
    return "'" + own.target + "' reads it without an input of the model";
  return "no style splits a weight of '" + own.target + "'";
}

static std::string whyTableIsWhole(const FeatureGraph &graph, const DimClass &rows, const WeightUse &weight) {
  if (!weight.looksUpInput)
    return "the indices do not come from an input of the model";
  return rows.wholeAt ? wholeAt(graph, *rows.wholeAt, "input") : "nothing reads it";
}

std::string meshplan::whyWhole(const FeatureGraph &graph, const DimClasses &classes, const WeightUse &weight) {
  if (weight.role == Role::other)
    return whyOtherIsWhole(graph, weight);
  const DimClass &input = classes[classes.find(*weight.inputDim)], &output = classes[classes.find(*weight.outputDim)];
  if (weight.role == Role::embedding)
    return whyTableIsWhole(graph, input, weight);
  if (output.wholeAt)
    return wholeAt(graph, *output.wholeAt, "output");
  if (input.wholeAt)
    return wholeAt(graph, *input.wholeAt, "input");
  return "the features are not those of a pair of linear operators";
}
