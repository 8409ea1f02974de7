//===- explain_command.cpp - meshplan explain -----------------------------===//

#include "compiler/report/explain/explain.h"
#include "tools/meshplan/commands.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshplan;

namespace {

struct ExplainCommand {
  CompileOptions options;
  std::vector<std::string> definitions;
  std::string target;
  bool json = false;

  int run();
};

/// Adds the plan's definition of the loss, if the explanation is of that output.
void addLoss(Explanation &explanation, Compilation &compilation) {
  const std::optional<BoundLoss> &loss = compilation.plan().loss;
  if (explanation.kind != "output" || !loss || loss->unit == LossUnit::Model ||
      compilation.model().outputs[loss->output].name != explanation.path)
    return;
  explanation.loss = {{loss->range, lossText(*loss, compilation.model())}, lossUnitMeaning(loss->unit).str()};
}

} // namespace

int ExplainCommand::run() {
  splitDefinitions(definitions, options);
  Compilation compilation(options);
  std::optional<Explanation> explanation;
  if (compilation.run(Phase::partition)) {
    std::vector<std::string> modules;
    for (const OutlineModule &module : compilation.model().modules)
      modules.push_back(module.path);
    explanation = explain(compilation.module(), *parseTarget(target), modules, compilation.diagnostics());
  }
  compilation.diagnostics().print(llvm::errs());
  if (!explanation)
    return 1;
  addLoss(*explanation, compilation);
  const Sources &sources = compilation.diagnostics().sources();
  if (json)
    llvm::outs() << llvm::formatv("{0:2}", explanationToJson(*explanation, sources)) << '\n';
  else
    printExplanation(*explanation, sources, llvm::outs());
  return 0;
}

Command meshplan::addExplain(CLI::App &app) {
  auto command = std::make_shared<ExplainCommand>();
  addCompileOptions(app, command->options, command->definitions);
  auto isTarget = [](const std::string &text) {
    return parseTarget(text) ? std::string()
                             : "'" + text + "' does not have the form PATH, PATH:input[N] or PATH:output[N]";
  };
  app.add_option("path", command->target, "a parameter, module, input or output; PATH:input[0] is a module's border")
      ->required()
      ->check(isTarget);
  app.add_flag("--json", command->json, "print the explanation as JSON");
  return [command] { return command->run(); };
}
