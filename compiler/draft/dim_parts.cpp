//===- dim_parts.cpp - dims that are several parts side by side -----------===//

#include "compiler/draft/dim_parts.h"
#include "llvm/ADT/STLExtras.h"

using namespace meshplan;

/// The sizes in a dim of `to` elements of which each index of the dim of `from` is a run; nothing if there are no runs,
/// or if the parts are equal: those would number the indices.
static std::vector<int64_t> scaledParts(std::vector<int64_t> sizes, int64_t from, int64_t to) {
  if (from == to)
    return sizes;
  if (from == 0 || to % from != 0 || llvm::all_equal(sizes))
    return {};
  for (int64_t &size : sizes)
    size *= to / from;
  return sizes;
}

std::vector<std::vector<int64_t>> meshplan::partsOfDims(const FeatureGraph &graph) {
  std::vector<std::vector<size_t>> linksOf(graph.extents.size());
  for (size_t index = 0; index < graph.links.size(); ++index)
    for (size_t dim : graph.links[index].dims)
      linksOf[dim].push_back(index);
  std::vector<std::vector<int64_t>> parts(graph.extents.size());
  std::vector<size_t> open;
  auto give = [&](size_t dim, const std::vector<int64_t> &sizes) {
    if (!parts[dim].empty() || sizes.empty())
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
        give(other, scaledParts(parts[dim], graph.extents[dim], graph.extents[other]));
  }
  return parts;
}
