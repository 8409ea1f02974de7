//===- draft_text.h - the text of a drafted plan ----------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_DRAFT_TEXT_H
#define MESHPLAN_COMPILER_DRAFT_DRAFT_TEXT_H

#include "compiler/draft/mesh_roles.h"
#include "compiler/draft/module_patterns.h"
#include "compiler/draft/training/drafted_training.h"
#include "compiler/frontend/model_outline.h"
#include "llvm/ADT/StringMap.h"
#include <optional>

namespace meshplan {

/// What a drafted plan says, apart from how it is written.
struct Draft {
  std::string name;
  std::string modelFile; ///< seen from the folder of the plan
  std::vector<DraftAxis> mesh;
  bool splitsBatch = true;
  std::string wholeBatchReason;                     ///< if the mesh has a data axis and the batch stays whole
  std::vector<LabelledModule> styles;               ///< module or parameter, and style clause, in program order
  std::vector<LabelledModule> undivided;            ///< module or parameter, and reason
  std::vector<std::string> modules;                 ///< all that hold or use parameters
  std::vector<std::string> parameters;              ///< paths
  const ModelOutline *model = nullptr;              ///< inputs, outputs and parameters
  bool readsTokens = false;                         ///< some inputs are looked up: their dims are samples and positions
  llvm::StringMap<int64_t> exampleExtents;          ///< of symbols, where known
  std::vector<std::vector<std::string>> inputNames; ///< of dims, where positions come first; else empty
  std::vector<std::string> notes;                   ///< comments at the head
  std::string loss;                                 ///< the output that is the loss; empty: none is
  Taken lossUnit;                                   ///< "token"
  std::vector<DraftStatement> training;             ///< what the plan says of training
  std::vector<std::string> leftOut;                 ///< what it does not say, and why
};

/// A text, and what its lines (from 1) stand for.
struct DraftText {
  std::string text;
  std::vector<std::pair<int32_t, std::vector<size_t>>> entries; ///< line, indices into Draft::styles

  /// A line of Draft::training: the statement, and the option of it that stands there.
  struct TrainingLine {
    int32_t line = 0;
    size_t statement = 0;
    std::optional<size_t> option;
  };
  std::vector<TrainingLine> training;
};

/// Writes a draft. Not in canonical form: each entry stands on a line of its own. Pure.
DraftText writeDraft(const Draft &draft);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_DRAFT_TEXT_H
