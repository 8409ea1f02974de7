//===- models.h - small models and plans for front end tests ----*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_FRONTEND_MODELS_H
#define MESHPLAN_TEST_UNIT_FRONTEND_MODELS_H

#include "compiler/frontend/bind.h"

#include <optional>
#include <string>
#include <vector>

namespace meshplan::test {

/// A Llama with this many layers: embedding, attention with q, k, v, o, MLP with gate, up, down, norms, lm_head. Inputs
/// `input_ids` and `labels` [batch, sequence], outputs `loss` and `logits`. With `tied`, embedding and lm_head share
/// one weight.
ModelOutline llama(size_t layers, bool tied = false);

/// The outcome for a plan: the result, if any, and all diagnostics as text.
struct Outcome {
  std::optional<Syntax> syntax;
  std::optional<BoundPlan> plan;
  std::string text;
};

/// Messages, each followed by its helps, without locations and notes.
std::vector<std::string> messagesAndHelps(llvm::ArrayRef<Diagnostic> diagnostics);

/// Parses only.
Outcome parse(const std::string &plan);
/// Parses and binds. The file is called `p.plan`.
Outcome bindTo(const ModelOutline &model, const std::string &plan, std::vector<Definition> definitions = {});

} // namespace meshplan::test

#endif // MESHPLAN_TEST_UNIT_FRONTEND_MODELS_H
