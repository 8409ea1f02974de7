//===- input_names.h - which dims of inputs are samples ---------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_INPUT_NAMES_H
#define MESHPLAN_COMPILER_DRAFT_INPUT_NAMES_H

#include "compiler/draft/feature_graph.h"

namespace meshplan {

/// Names of the dims of each input of a model whose inputs have positions first and samples second. This is so if the
/// first dim of its first input is needed whole, as by an attention, and the second dim is not and is not features.
/// Dims in the classes of these two are `seq` and `batch`, all others `_`. Empty if the first dim is the batch. Pure.
std::vector<std::vector<std::string>> positionsFirst(const FeatureGraph &graph);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_INPUT_NAMES_H
