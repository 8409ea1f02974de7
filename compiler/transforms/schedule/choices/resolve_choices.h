//===- resolve_choices.h - the projection of what was chosen ----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_CHOICES_RESOLVE_CHOICES_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_CHOICES_RESOLVE_CHOICES_H

#include "compiler/scheduling/solution.h"
#include "compiler/transforms/schedule/build_problem.h"

namespace meshplan {

/// The projection in which these choices are decided, with the costs of merged collectives. They are those of a
/// verified solution, whose steps refer to the operations of the result.
ProjectedFunction resolveChoices(const ProjectedFunction &projection, const scheduling::Choices &choices,
                                 const Cluster &cluster, LayoutTable &layouts);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_CHOICES_RESOLVE_CHOICES_H
