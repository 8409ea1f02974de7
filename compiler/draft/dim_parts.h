//===- dim_parts.h - dims that are several parts side by side ---*- C++ -*-===//
//
// A weight that is fused from several projections makes features that the model
// takes apart later. Pure.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_DRAFT_DIM_PARTS_H
#define MESHPLAN_COMPILER_DRAFT_DIM_PARTS_H

#include "compiler/draft/feature_graph.h"

namespace meshplan {

/// For each dim of the graph the sizes of the parts that it consists of; empty if it is one. What a call says of a dim
/// holds for all dims of the same extent that are divided together with it, and for those whose runs are its indices.
/// A part that consists of parts, and one that several calls take apart, is cut at all of these places.
std::vector<std::vector<int64_t>> partsOfDims(const FeatureGraph &graph);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_DIM_PARTS_H
