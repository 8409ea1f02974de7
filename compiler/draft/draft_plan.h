//===- draft_plan.h - a first plan for a model ------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_DRAFT_PLAN_H
#define MESHPLAN_COMPILER_DRAFT_DRAFT_PLAN_H

#include "compiler/draft/mesh_roles.h"
#include "compiler/support/diagnostics.h"
#include <optional>

namespace meshplan {

struct DraftOptions {
  std::string modelFile; ///< archive of torch.export
  std::string planFile;  ///< where the plan will stand; not written here
  std::vector<DraftAxis> mesh;
  bool sequence = false; ///< norms divide the sequence
};

struct DraftedPlan {
  std::string text;         ///< in canonical form; it compiles
  size_t modules = 0;       ///< of the model, that hold parameters
  size_t divided = 0;       ///< of them, with a tensor style
  size_t dividedOthers = 0; ///< with a tensor style that divides what other modules hold
  bool splitsBatch = false;
};

/// Drafts a plan: the batch over the data axes, tensor styles found from the graph (chooseStyles), the rest replicated.
/// The draft is compiled; what the compiler refuses is taken back with a comment until nothing is refused. Reports a
/// model that cannot be compiled whole; then the result is empty.
std::optional<DraftedPlan> draftPlan(const DraftOptions &options, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_DRAFT_PLAN_H
