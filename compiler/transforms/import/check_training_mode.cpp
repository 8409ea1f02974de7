//===- check_training_mode.cpp - exports in evaluation mode ---------------===//

#include "compiler/transforms/import/check_training_mode.h"
#include "compiler/support/layer_names.h"
#include "compiler/support/number_text.h"

using namespace meshplan;
using archive::InactiveDropout;

static constexpr size_t maxNotes = 3;

/// The first dropout of each module name with indices removed, so that layers are reported once.
static std::vector<InactiveDropout> firstOfEachKind(llvm::ArrayRef<InactiveDropout> dropouts) {
  std::vector<InactiveDropout> kinds;
  for (const InactiveDropout &dropout : dropouts) {
    std::string path = withoutIndices(dropout.module);
    if (llvm::none_of(kinds, [&](const InactiveDropout &kind) { return kind.module == path; }))
      kinds.push_back({path, dropout.probability});
  }
  return kinds;
}

void meshplan::checkTrainingMode(const archive::ExportedProgram &program, const BoundPlan &plan, bool strict,
                                 Diagnostics &diagnostics) {
  size_t count = program.inactiveDropouts.size();
  if (!plan.optimizer || count == 0)
    return;
  std::string message = "the plan trains a model that was exported in evaluation mode: " + std::to_string(count) +
                        (count == 1 ? " dropout drops" : " dropouts drop") + " nothing";
  SourceRange location = plan.optimizer->range;
  Diagnostic &diagnostic = strict ? diagnostics.error(location, message) : diagnostics.warning(location, message);
  std::vector<InactiveDropout> kinds = firstOfEachKind(program.inactiveDropouts);
  for (const InactiveDropout &kind : llvm::ArrayRef(kinds).take_front(maxNotes))
    diagnostic.note({}, "in " + moduleText(kind.module) + ", with a probability of " + numberText(kind.probability));
  if (kinds.size() > maxNotes)
    diagnostic.note({}, "and " + std::to_string(kinds.size() - maxNotes) + " more");
  diagnostic.help("export the model in training mode, after 'model.train()'; to train without dropout, "
                  "set its probability to 0");
}

void meshplan::checkCustomFunctions(const archive::ExportedProgram &program, const BoundPlan &plan,
                                    Diagnostics &diagnostics) {
  llvm::ArrayRef<archive::CustomFunction> functions = program.customFunctions;
  if (!plan.optimizer || functions.empty())
    return;
  Diagnostic &diagnostic = diagnostics.warning(
      plan.optimizer->range,
      "the model applies a torch.autograd.Function, whose 'backward' an archive does not contain: its "
      "gradient is the derivative of its 'forward'");
  for (const archive::CustomFunction &function : functions.take_front(maxNotes))
    diagnostic.note({}, "in " + moduleText(function.module) + ", " + function.source);
  if (functions.size() > maxNotes)
    diagnostic.note({}, "and " + std::to_string(functions.size() - maxNotes) + " more");
  diagnostic.help("if 'backward' differs, write it with detach(): 'x + (f(x) - x).detach()' has the value of f(x) "
                  "and the gradient of x, '2 * x.detach() - x' the value of x and a gradient of -1");
}
