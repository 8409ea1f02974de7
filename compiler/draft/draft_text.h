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

/// The content of a drafted plan, independent of its text.
struct Draft {
  std::string name;
  std::string modelFile; ///< relative to the folder of the plan
  std::vector<DraftAxis> mesh;
  bool splitsBatch = true;
  std::string wholeBatchReason;                     ///< why the batch is not split although the mesh has a data axis
  std::vector<LabelledModule> styles;               ///< module or parameter, and style clause, in program order
  std::vector<LabelledModule> undivided;            ///< module or parameter, and reason
  std::vector<std::string> modules;                 ///< modules that hold or use parameters
  std::vector<std::string> parameters;              ///< paths
  const ModelOutline *model = nullptr;              ///< inputs, outputs and parameters
  bool readsTokens = false;                         ///< inputs are looked up: dims are samples and positions
  llvm::StringMap<int64_t> exampleExtents;          ///< extents of symbols, where known
  std::vector<std::vector<std::string>> inputNames; ///< names of dims, if positions come first; else empty
  std::vector<std::string> notes;                   ///< comments at the top
  std::string loss;                                 ///< the output that is the loss; empty if none is
  AdoptedText lossUnit;                             ///< "token"
  std::vector<DraftStatement> training;             ///< statements of training
  std::vector<std::string> leftOut;                 ///< settings of a foreign plan that were not adopted, and why
};

/// A text, and what its lines (counted from 1) stand for.
struct DraftText {
  std::string text;
  std::vector<std::pair<int32_t, std::vector<size_t>>> entries; ///< line, indices into Draft::styles

  /// A line of Draft::training: the statement, and its option on that line.
  struct TrainingLine {
    int32_t line = 0;
    size_t statement = 0;
    std::optional<size_t> option;
  };
  std::vector<TrainingLine> training;
};

/// Writes a draft. The text is not in canonical form: each entry is on a line of its own. Pure.
DraftText writeDraft(const Draft &draft);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_DRAFT_TEXT_H
