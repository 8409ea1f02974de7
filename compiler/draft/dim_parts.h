//===- dim_parts.h - dims that are concatenations of parts ------*- C++ -*-===//
//
// A weight that is fused from several projections produces features that the model splits later. Splitting such a dim
// over ranks must split each part. Pure.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_DRAFT_DIM_PARTS_H
#define MESHPLAN_COMPILER_DRAFT_DIM_PARTS_H

#include "compiler/draft/feature_graph.h"

namespace meshplan {

/// For each dim of the graph, the sizes of its parts; empty if it is one part. A call that splits or concatenates a dim
/// tells its parts; they hold for all linked dims of the same extent, and, scaled, for linked dims whose extent is a
/// multiple. Nested parts, and parts by several calls, give the union of all cuts.
std::vector<std::vector<int64_t>> partsOfDims(const FeatureGraph &graph);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_DIM_PARTS_H
