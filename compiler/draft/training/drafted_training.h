//===- drafted_training.h - training in a drafted plan ----------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_TRAINING_DRAFTED_TRAINING_H
#define MESHPLAN_COMPILER_DRAFT_TRAINING_DRAFTED_TRAINING_H

#include "compiler/adopt/adopted_plan.h"
#include "compiler/draft/mesh_roles.h"
#include "compiler/frontend/model_outline.h"

namespace meshplan {

/// A statement on a line of its own: "microbatches 4", or "data dp" with a block of options.
struct DraftStatement {
  std::string text;
  std::string from; ///< a comment at the end of the line; empty: none
  std::vector<AdoptedText> options;
  bool mayGo = true; ///< removed if the compiler refuses it or warns of it; if false, only refused options are
};

/// The facts that training depends on, apart from the requested settings.
struct TrainingFacts {
  const ModelOutline &model;
  const std::vector<DraftAxis> &mesh;
  const std::vector<std::string> &unused; ///< parameters that the loss does not reach
  bool splitsBatch = true;
  std::optional<int64_t> batch; ///< samples of a step, where the archive or the plan states them
};

/// The default training: adamw with weight decay for parameters of two or more dims, clipping, f32 masters of 16-bit
/// parameters, a dynamic loss scale for f16; gradients and optimizer states sharded over the data axes, and parameters
/// too over an axis that is called fsdp.
AdoptedTraining usualTraining(const std::vector<DraftAxis> &mesh, const ModelOutline &model);

/// Why there is nothing to train: "of 4 parameters 3 require no gradient in the archive, ..."; empty if there is
/// something.
std::string whyUntrained(const AdoptedTraining &training, const TrainingFacts &facts);

/// The statements, in the order of the language. Without an optimizer, only those that a plan without training may
/// have. Reports settings that do not fit the model, such as a batch that is not a multiple of its microbatches. Pure.
std::vector<DraftStatement> draftTraining(const AdoptedTraining &training, const TrainingFacts &facts,
                                          Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_TRAINING_DRAFTED_TRAINING_H
