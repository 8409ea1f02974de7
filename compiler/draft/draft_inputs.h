//===- draft_inputs.h - the inputs of a drafted plan ------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_DRAFT_INPUTS_H
#define MESHPLAN_COMPILER_DRAFT_DRAFT_INPUTS_H

#include "compiler/frontend/model_outline.h"
#include "llvm/ADT/StringMap.h"

namespace meshplan {

struct DraftInputs {
  std::vector<std::string> lets;       ///< "let batch_size = 4  // ..."
  std::vector<std::string> statements; ///< "input ids, labels: [batch over dp, seq]"
};

/// The axes that split the batch, as text ("dp"), or empty.
struct BatchAxes {
  std::string names;
  int64_t shards = 1;
};

/// Names the dims of the inputs. `batch` is the first dim of the first input that has dims, and of inputs that share
/// its extent; `seq` is the second dim of such inputs with two dims, if the model reads tokens; all others are `_`. A
/// symbolic dim gets its extent from `examples`, that of the batch rounded up to a multiple of the shards; without an
/// example a `let` tells the user what to set. If `names` is not empty, it has the names of all dims (positionsFirst).
/// Pure.
DraftInputs draftInputs(const std::vector<OutlineValue> &inputs, const llvm::StringMap<int64_t> &examples,
                        const BatchAxes &batch, bool readsTokens,
                        const std::vector<std::vector<std::string>> &names = {});

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_DRAFT_INPUTS_H
