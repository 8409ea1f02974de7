//===- dim_parts.cpp - dims that are concatenations of parts --------------===//
//
// A fixed point over cuts. A cut is the first element of a part other than the
// first one. Calls that split or concatenate a dim give the first cuts; cuts
// then move along the links of the graph until nothing changes.
//
// Example: qkv = linear(x, w) with w: [12, e], then q, k, v = split(qkv, [4, 4, 4]),
// and later gate, up = split(q, [2, 2]). The split cuts the dim of qkv at {4, 8},
// and q at {2}. spreadToEqual() copies {4, 8} to the rows of w, which have the
// same extent; spreadFromPart() moves the cut of q, the part that starts at 0, to
// qkv: {2, 4, 8}; and so to w. The parts of w are 2, 2, 4 and 4.
//
//===----------------------------------------------------------------------===//

#include "compiler/draft/dim_parts.h"
#include "llvm/ADT/STLExtras.h"
#include <set>
#include <utility>

using namespace meshplan;

namespace {

/// Finds where dims are cut into parts.
class PartSearch {
public:
  explicit PartSearch(const FeatureGraph &graph);

  std::vector<std::vector<int64_t>> run();

private:
  using Cuts = std::set<int64_t>; ///< the first elements of all parts but the first

  void add(size_t dim, const Cuts &offsets);
  void spread(size_t dim);
  void spreadToEqual(size_t dim);
  void spreadToParts(const DimParts &parts);
  void spreadFromPart(size_t dim, const DimParts &parts);
  std::vector<size_t> dimsOfPart(const DimParts &parts, size_t part) const;
  bool joins(size_t link, size_t dim) const { return joined.count({link, dim}) != 0; }

  const FeatureGraph &graph;
  std::vector<Cuts> cuts; ///< by dim
  std::vector<std::vector<size_t>> linksOf;
  std::vector<std::vector<size_t>> partsOf;   ///< descriptions of the dim's own parts
  std::vector<std::vector<size_t>> partsWith; ///< descriptions in which the dim is a part
  std::set<std::pair<size_t, size_t>> joined; ///< a link, and a dim that other dims in the link are a part of
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

/// The dims that consist of this part only. A replicated dim (a single key head) is not split, so it is not cut.
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

void PartSearch::add(size_t dim, const Cuts &offsets) {
  size_t before = cuts[dim].size();
  for (int64_t offset : offsets)
    if (offset > 0 && offset < graph.extents[dim])
      cuts[dim].insert(offset);
  // Cuts are only added, and there are at most as many as elements, so the search ends.
  if (cuts[dim].size() != before)
    open.push_back(dim);
}

/// Copies cuts to linked dims of the same extent, and scales them to those in which each index of the dim is a run of
/// several. Cuts at every index are not scaled: there they would only enumerate the runs.
void PartSearch::spreadToEqual(size_t dim) {
  int64_t extent = graph.extents[dim];
  bool areIndices = static_cast<int64_t>(cuts[dim].size()) + 1 == extent;
  for (size_t link : linksOf[dim])
    for (size_t other : graph.links[link].dims) {
      int64_t to = graph.extents[other];
      bool isScaled = to != extent;
      if (joins(link, dim) || joins(link, other) || extent == 0 || to % extent != 0 || (isScaled && areIndices))
        continue;
      Cuts offsets;
      for (int64_t offset : cuts[dim])
        offsets.insert(offset * (to / extent));
      add(other, offsets);
    }
}

/// From a dim to the dims that are its parts.
void PartSearch::spreadToParts(const DimParts &parts) {
  int64_t start = 0;
  for (auto [part, size] : llvm::enumerate(parts.sizes)) {
    Cuts inside;
    for (int64_t offset : cuts[parts.dim])
      inside.insert(offset - start);
    for (size_t dim : dimsOfPart(parts, part))
      add(dim, inside);
    start += size;
  }
}

void PartSearch::spreadFromPart(size_t dim, const DimParts &parts) {
  int64_t start = 0;
  for (auto [part, size] : llvm::enumerate(parts.sizes)) {
    Cuts offsets;
    if (llvm::is_contained(dimsOfPart(parts, part), dim))
      for (int64_t offset : cuts[dim])
        offsets.insert(start + offset);
    add(parts.dim, offsets);
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
    Cuts offsets;
    int64_t start = 0;
    for (int64_t size : own.sizes)
      offsets.insert(start += size);
    add(own.dim, offsets);
  }
  while (!open.empty()) {
    size_t dim = open.back();
    open.pop_back();
    spread(dim);
  }
  std::vector<std::vector<int64_t>> sizes(cuts.size());
  for (size_t dim = 0; dim < cuts.size(); ++dim) {
    int64_t start = 0;
    for (int64_t offset : cuts[dim])
      sizes[dim].push_back(offset - std::exchange(start, offset));
    if (!cuts[dim].empty())
      sizes[dim].push_back(graph.extents[dim] - start);
  }
  return sizes;
}

std::vector<std::vector<int64_t>> meshplan::partsOfDims(const FeatureGraph &graph) { return PartSearch(graph).run(); }
