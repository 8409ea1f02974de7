//===- recipe_sections.h - the other sections of a recipe -------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ADOPT_RECIPE_SECTIONS_H
#define MESHPLAN_COMPILER_ADOPT_RECIPE_SECTIONS_H

#include "compiler/adopt/adopted_plan.h"
#include "compiler/adopt/yaml_tree.h"
#include "compiler/frontend/model_outline.h"

namespace meshplan {

/// Reads the sections of a recipe other than sizes and numbers. Frozen modules become part of the plan. A section that
/// may change the training and that the language cannot express is a warning and a note; one that cannot change it is a
/// note. Reports section names that are close to a known one. Pure.
void readOtherSections(const YamlValue &recipe, const ModelOutline &model, AdoptedPlan &plan, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_RECIPE_SECTIONS_H
