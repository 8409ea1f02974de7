//===- automodel.h - recipes of NeMo Automodel ------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ADOPT_AUTOMODEL_H
#define MESHPLAN_COMPILER_ADOPT_AUTOMODEL_H

#include "compiler/adopt/adopted_plan.h"
#include "compiler/frontend/model_outline.h"

namespace meshplan {

/// Reads a recipe: its section `distributed`, and from other sections the dtype of the model, batch sizes, optimizer,
/// schedule and clipping. Styles are taken only if `distributed.tp_plan` is a map; `axes` are the tensor axes: "tp".
/// Reports unknown strategies and options, options that have no effect here, and features that the language does not
/// have yet; empty after an error. Pure.
std::optional<AdoptedPlan> adoptAutomodel(const SourceBuffer &source, const ModelOutline &model,
                                          const std::string &axes, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_AUTOMODEL_H
