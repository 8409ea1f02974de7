//===- dim_parts.cpp - dims that are several parts side by side -----------===//

#include "compiler/draft/dim_parts.h"

using namespace meshplan;

std::vector<std::vector<int64_t>> meshplan::partsOfDims(const FeatureGraph &graph) {
  std::vector<std::vector<size_t>> linksOf(graph.extents.size());
  for (size_t index = 0; index < graph.links.size(); ++index)
    for (size_t dim : graph.links[index].dims)
      linksOf[dim].push_back(index);
  std::vector<std::vector<int64_t>> parts(graph.extents.size());
  std::vector<size_t> open;
  auto give = [&](size_t dim, const std::vector<int64_t> &sizes) {
    if (!parts[dim].empty())
      return;
    parts[dim] = sizes;
    open.push_back(dim);
  };
  for (const DimParts &own : graph.parts)
    give(own.dim, own.sizes);
  while (!open.empty()) {
    size_t dim = open.back();
    open.pop_back();
    for (size_t index : linksOf[dim])
      for (size_t other : graph.links[index].dims)
        if (graph.extents[other] == graph.extents[dim])
          give(other, parts[dim]);
  }
  return parts;
}
