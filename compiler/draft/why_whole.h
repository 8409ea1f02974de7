//===- why_whole.h - why a weight cannot be split ---------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_WHY_WHOLE_H
#define MESHPLAN_COMPILER_DRAFT_WHY_WHOLE_H

#include "compiler/draft/dim_classes.h"

namespace meshplan {

/// The reason why no style fits a weight, as a comment of the plan. Equal layers have equal reasons. Pure.
std::string whyWhole(const FeatureGraph &graph, const DimClasses &classes, const WeightUse &weight);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_WHY_WHOLE_H
