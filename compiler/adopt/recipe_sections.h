//===- recipe_sections.h - what a recipe says beside sizes ------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ADOPT_RECIPE_SECTIONS_H
#define MESHPLAN_COMPILER_ADOPT_RECIPE_SECTIONS_H

#include "compiler/adopt/adopted_plan.h"
#include "compiler/adopt/yaml_tree.h"
#include "compiler/frontend/model_outline.h"

namespace meshplan {

/// Reads the sections of a recipe that say neither sizes nor numbers: what is frozen becomes a part of the plan, what
/// may change the training and has no words here is a warning and a note, and what can not is a note. Reports names of
/// sections that are near a known one. Pure.
void readOtherSections(const YamlValue &recipe, const ModelOutline &model, AdoptedPlan &plan, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_RECIPE_SECTIONS_H
