//===- draft_plan.h - a first plan for a model ------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_DRAFT_PLAN_H
#define MESHPLAN_COMPILER_DRAFT_DRAFT_PLAN_H

#include "compiler/archive/diagnostic.h"
#include "compiler/draft/mesh_roles.h"
#include "compiler/support/diagnostics.h"
#include <optional>

namespace meshplan {

/// A plan of others that the draft follows.
struct ForeignPlan {
  enum class Kind { none, huggingface, automodel, megatron };
  Kind kind = Kind::none;
  const SourceBuffer *source = nullptr; ///< its text
};

struct DraftOptions {
  std::string modelFile; ///< archive of torch.export
  std::string planFile;  ///< where the plan will stand; not written here
  std::vector<DraftAxis> mesh;
  bool sequence = false; ///< norms divide the sequence
  ForeignPlan from;
  std::optional<int64_t> ranks;    ///< in all, for a foreign plan that does not say
  std::optional<std::string> loss; ///< the output that is the loss; empty: there is one, to be found
  bool train = false;              ///< draft optimizer and data block
};

struct DraftedPlan {
  std::string text;         ///< in canonical form; it compiles
  size_t modules = 0;       ///< of the model, that hold parameters
  size_t divided = 0;       ///< of them, with a tensor style
  size_t dividedOthers = 0; ///< with a tensor style that divides what other modules hold
  bool splitsBatch = false;
  std::vector<DraftAxis> mesh = {}; ///< that of the options, or that of the foreign plan
};

/// Drafts a plan: the batch over the data axes, tensor styles found from the graph (chooseStyles), the rest replicated.
/// A foreign plan says what of this it knows, and the mesh where the options have none. The draft is compiled; what the
/// compiler refuses is taken back with a comment until nothing is refused. Reports a model that cannot be compiled
/// whole; then the result is empty.
std::optional<DraftedPlan> draftPlan(const DraftOptions &options, Diagnostics &diagnostics);

/// Reports what is wrong with the archive at `path`, whose place is `file`.
void reportArchive(llvm::ArrayRef<archive::Diagnostic> errors, llvm::StringRef path, int32_t file,
                   Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_DRAFT_PLAN_H
