//===- dim_classes.cpp - dims that are divided together -------------------===//

#include "compiler/draft/dim_classes.h"
#include "llvm/ADT/ArrayRef.h"
#include <algorithm>
#include <numeric>

using namespace meshplan;

size_t DimClasses::find(size_t dim) const {
  while (parents[dim] != dim)
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
