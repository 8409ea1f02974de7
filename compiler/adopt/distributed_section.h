//===- distributed_section.h - the section `distributed` of a recipe -*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ADOPT_DISTRIBUTED_SECTION_H
#define MESHPLAN_COMPILER_ADOPT_DISTRIBUTED_SECTION_H

#include "compiler/adopt/adopted_plan.h"
#include "compiler/adopt/yaml_tree.h"
#include "compiler/frontend/model_outline.h"

namespace meshplan {

/// Reads the section `distributed` of NeMo Automodel: the strategy with its sizes and options, and a map of styles over
/// `axes`. Reports unknown strategies and options, options without effect, and features that the language does not have
/// yet. Pure.
void readDistributed(const YamlEntry &section, const ModelOutline &model, const std::string &axes, AdoptedPlan &plan,
                     Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_DISTRIBUTED_SECTION_H
