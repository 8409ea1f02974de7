//===- draft_plan.h - a first plan for a model ------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_DRAFT_PLAN_H
#define MESHPLAN_COMPILER_DRAFT_DRAFT_PLAN_H

#include "compiler/archive/diagnostic.h"
#include "compiler/draft/mesh_roles.h"
#include "compiler/support/diagnostics.h"
#include <optional>

namespace meshplan {

/// A foreign plan (of transformers, NeMo Automodel or Megatron-LM) that the draft follows.
struct ForeignPlan {
  enum class Kind { none, huggingface, automodel, megatron };
  Kind kind = Kind::none;
  const SourceBuffer *source = nullptr; ///< its text
};

struct DraftOptions {
  std::string modelFile; ///< archive of torch.export
  std::string planFile;  ///< where the plan will be written; not written here
  std::vector<DraftAxis> mesh;
  bool sequence = false; ///< norms split the sequence
  ForeignPlan from;
  std::optional<int64_t> ranks;    ///< total number, for a foreign plan that does not state it
  std::optional<std::string> loss; ///< the output that is the loss; empty: find it
  bool train = false;              ///< draft optimizer and data block
};

struct DraftedPlan {
  std::string text;         ///< in canonical form; it compiles
  size_t modules = 0;       ///< modules of the model that hold parameters
  size_t divided = 0;       ///< those with a tensor style
  size_t dividedOthers = 0; ///< modules with a tensor style that splits parameters of other modules
  bool splitsBatch = false;
  std::vector<DraftAxis> mesh = {}; ///< the mesh of the options or of the foreign plan
};

/// Drafts a plan: the batch is split over the data axes, tensor styles are chosen from the graph (chooseStyles) or
/// taken from the foreign plan, and everything else is replicated. The foreign plan also gives the mesh if the options
/// have none. The draft is compiled; what the compiler refuses is removed, with a comment, until it compiles. If the
/// model cannot be compiled even when it is replicated, this is reported and the result is empty.
std::optional<DraftedPlan> draftPlan(const DraftOptions &options, Diagnostics &diagnostics);

/// Reports errors of the archive at `path`, whose file number in diagnostics is `file`.
void reportArchive(llvm::ArrayRef<archive::Diagnostic> errors, llvm::StringRef path, int32_t file,
                   Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_DRAFT_PLAN_H
