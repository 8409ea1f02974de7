//===- drafted_training.h - what a drafted plan says of training -*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_TRAINING_DRAFTED_TRAINING_H
#define MESHPLAN_COMPILER_DRAFT_TRAINING_DRAFTED_TRAINING_H

#include "compiler/adopt/adopted_plan.h"
#include "compiler/draft/mesh_roles.h"
#include "compiler/frontend/model_outline.h"

namespace meshplan {

/// A statement, on a line of its own: "microbatches 4", or "data dp" with a block of options.
struct DraftStatement {
  std::string text;
  std::string from; ///< a comment behind it; empty: none
  std::vector<Taken> options;
  bool mayGo = true; ///< left out if the compiler refuses it or warns of it; else only options go that it refuses
};

/// What training depends on, apart from what is wanted.
struct TrainingFacts {
  const ModelOutline &model;
  const std::vector<DraftAxis> &mesh;
  const std::vector<std::string> &unused; ///< parameters that the loss does not reach
  bool splitsBatch = true;
  std::optional<int64_t> batch; ///< samples of a step, where the archive or the plan says
};

/// What one trains with where nothing is known: adamw with a decay of weights of two dims and more, clipping, masters
/// of 16-bit parameters, a dynamic loss scale for f16; gradients and states shared out over data axes, parameters too
/// over an axis that is called fsdp.
AdoptedTraining usualTraining(const std::vector<DraftAxis> &mesh, const ModelOutline &model);

/// Why there is nothing to train: "of 4 parameters 3 require no gradient in the archive, ..."; empty if there is
/// something.
std::string whyUntrained(const AdoptedTraining &training, const TrainingFacts &facts);

/// The statements, in the order of the language. Without an optimizer only those that a plan without training may have.
/// Reports what does not fit the model, such as a batch that is no multiple of its parts. Pure.
std::vector<DraftStatement> draftTraining(const AdoptedTraining &training, const TrainingFacts &facts,
                                          Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_TRAINING_DRAFTED_TRAINING_H
