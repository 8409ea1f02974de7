//===- input_names.h - which dims of inputs are samples ---------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_INPUT_NAMES_H
#define MESHPLAN_COMPILER_DRAFT_INPUT_NAMES_H

#include "compiler/draft/feature_graph.h"

namespace meshplan {

/// Names of the dims of each input, by the classes of the graph, of a model that has positions first and samples behind
/// them: the first dim of its first input is needed whole, as by an attention, and the second one nowhere, nor is it
/// features. `batch` and `seq` are what is of one class with these two, `_` the rest. Empty if the first dim is the
/// batch. Pure.
std::vector<std::vector<std::string>> positionsFirst(const FeatureGraph &graph);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_INPUT_NAMES_H
