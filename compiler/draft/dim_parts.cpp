//===- dim_parts.cpp - dims that are several parts side by side -----------===//

#include "compiler/draft/dim_parts.h"
#include "llvm/ADT/STLExtras.h"
#include <set>
#include <utility>

using namespace meshplan;

namespace {

/// Where dims are cut into parts.
class PartSearch {
public:
  explicit PartSearch(const FeatureGraph &graph);

  std::vector<std::vector<int64_t>> run();

private:
  using Cuts = std::set<int64_t>; ///< the first elements of all parts but the first

  void add(size_t dim, const Cuts &places);
  void spread(size_t dim);
  void spreadToEqual(size_t dim);
  void spreadToParts(const DimParts &parts);
  void spreadFromPart(size_t dim, const DimParts &parts);
  std::vector<size_t> dimsOfPart(const DimParts &parts, size_t part) const;
  bool joins(size_t link, size_t dim) const { return joined.count({link, dim}) != 0; }

  const FeatureGraph &graph;
  std::vector<Cuts> cuts; ///< by dim
  std::vector<std::vector<size_t>> linksOf;
  std::vector<std::vector<size_t>> partsOf;   ///< what is said of the dim
  std::vector<std::vector<size_t>> partsWith; ///< of what the dim is a part
  std::set<std::pair<size_t, size_t>> joined; ///< a link, and a dim of which the others in it are a part
  std::vector<size_t> open;
};

} // namespace

PartSearch::PartSearch(const FeatureGraph &graph)
    : graph(graph), cuts(graph.extents.size()), linksOf(graph.extents.size()), partsOf(graph.extents.size()),
      partsWith(graph.extents.size()) {
  for (size_t index = 0; index < graph.links.size(); ++index)
    for (size_t dim : graph.links[index].dims)
      linksOf[dim].push_back(index);
  for (auto [index, parts] : llvm::enumerate(graph.parts)) {
    partsOf[parts.dim].push_back(index);
    for (size_t part = 0; part < parts.links.size(); ++part) {
      joined.insert({parts.links[part], parts.dim});
      for (size_t dim : dimsOfPart(parts, part))
        partsWith[dim].push_back(index);
    }
  }
}

/// The dims that are this part and nothing else. One that all ranks hold is not divided, and not cut.
std::vector<size_t> PartSearch::dimsOfPart(const DimParts &parts, size_t part) const {
  std::vector<size_t> dims;
  if (part >= parts.links.size() || parts.links[part] >= graph.links.size())
    return dims;
  const std::vector<size_t> &linked = graph.links[parts.links[part]].dims;
  for (size_t dim : linked)
    if (dim != parts.dim && graph.extents[dim] == parts.sizes[part] && llvm::is_contained(linked, parts.dim))
      dims.push_back(dim);
  return dims;
}

void PartSearch::add(size_t dim, const Cuts &places) {
  size_t before = cuts[dim].size();
  for (int64_t place : places)
    if (place > 0 && place < graph.extents[dim])
      cuts[dim].insert(place);
  if (cuts[dim].size() != before)
    open.push_back(dim);
}

/// Dims of the same extent, and those of which each index of the dim is a run. Parts of single indices would number
/// them there.
void PartSearch::spreadToEqual(size_t dim) {
  int64_t extent = graph.extents[dim];
  bool areIndices = static_cast<int64_t>(cuts[dim].size()) + 1 == extent;
  for (size_t link : linksOf[dim])
    for (size_t other : graph.links[link].dims) {
      int64_t to = graph.extents[other];
      bool isScaled = to != extent;
      if (joins(link, dim) || joins(link, other) || extent == 0 || to % extent != 0 || (isScaled && areIndices))
        continue;
      Cuts places;
      for (int64_t place : cuts[dim])
        places.insert(place * (to / extent));
      add(other, places);
    }
}

/// From a dim to the dims that are its parts.
void PartSearch::spreadToParts(const DimParts &parts) {
  int64_t start = 0;
  for (auto [part, size] : llvm::enumerate(parts.sizes)) {
    Cuts inside;
    for (int64_t place : cuts[parts.dim])
      inside.insert(place - start);
    for (size_t dim : dimsOfPart(parts, part))
      add(dim, inside);
    start += size;
  }
}

void PartSearch::spreadFromPart(size_t dim, const DimParts &parts) {
  int64_t start = 0;
  for (auto [part, size] : llvm::enumerate(parts.sizes)) {
    Cuts places;
    if (llvm::is_contained(dimsOfPart(parts, part), dim))
      for (int64_t place : cuts[dim])
        places.insert(start + place);
    add(parts.dim, places);
    start += size;
  }
}

void PartSearch::spread(size_t dim) {
  spreadToEqual(dim);
  for (size_t parts : partsOf[dim])
    spreadToParts(graph.parts[parts]);
  for (size_t parts : partsWith[dim])
    spreadFromPart(dim, graph.parts[parts]);
}

std::vector<std::vector<int64_t>> PartSearch::run() {
  for (const DimParts &own : graph.parts) {
    Cuts places;
    int64_t start = 0;
    for (int64_t size : own.sizes)
      places.insert(start += size);
    add(own.dim, places);
  }
  while (!open.empty()) {
    size_t dim = open.back();
    open.pop_back();
    spread(dim);
  }
  std::vector<std::vector<int64_t>> sizes(cuts.size());
  for (size_t dim = 0; dim < cuts.size(); ++dim) {
    int64_t start = 0;
    for (int64_t place : cuts[dim])
      sizes[dim].push_back(place - std::exchange(start, place));
    if (!cuts[dim].empty())
      sizes[dim].push_back(graph.extents[dim] - start);
  }
  return sizes;
}

std::vector<std::vector<int64_t>> meshplan::partsOfDims(const FeatureGraph &graph) { return PartSearch(graph).run(); }
