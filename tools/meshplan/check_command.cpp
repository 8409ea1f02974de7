//===- check_command.cpp - meshplan check ---------------------------------===//

#include "compiler/report/report.h"
#include "compiler/support/diagnostics.h"
#include "compiler/support/layer_names.h"
#include "tools/meshplan/commands.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshplan;

namespace {

struct CheckCommand {
  CompileOptions options;
  std::vector<std::string> definitions;
  bool json = false;

  int run();
  void warnOfRecompute(Compilation &compilation, const Report &report) const;
  static std::string layersText(const ModelOutline &model, const BoundRecompute &recompute);
  static void printJson(const mlir::FailureOr<Report> &report, const Diagnostics &diagnostics);
  static std::string lineText(Compilation &compilation, SourceRange range);
  static std::optional<LossLine> loss(Compilation &compilation);
  static void addOptimizer(Compilation &compilation, Report &report);
  static std::vector<CoverageLine> coverage(Compilation &compilation);
};

} // namespace

int CheckCommand::run() {
  splitDefinitions(definitions, options);
  Compilation compilation(options);
  bool done = compilation.run(Phase::schedule);
  mlir::FailureOr<Report> report = mlir::failure();
  if (done)
    report = reportOf(compilation);
  if (mlir::succeeded(report)) {
    report->coverage = coverage(compilation);
    report->loss = loss(compilation);
    addOptimizer(compilation, *report);
    warnOfIdleAxes(compilation, *report);
    warnOfRecompute(compilation, *report);
  }
  compilation.diagnostics().print(llvm::errs());
  if (json)
    printJson(report, compilation.diagnostics());
  else if (mlir::succeeded(report))
    printReport(*report, llvm::outs());
  return mlir::succeeded(report) ? 0 : 1;
}

/// A module that holds most of the model is recomputed as a whole, and all its activations then exist at once. Whether
/// this costs more than it saves is found by compiling the plan without the statement.
void CheckCommand::warnOfRecompute(Compilation &compilation, const Report &report) const {
  const std::vector<BoundRecompute> &recomputes = compilation.plan().recomputes;
  if (recomputes.empty())
    return;
  CompileOptions without = options;
  without.recompute = false;
  Compilation other(without);
  if (!other.run(Phase::schedule))
    return;
  mlir::FailureOr<Report> otherReport = buildReport(other.module(), mainProgram(other.module()));
  if (mlir::failed(otherReport) || report.memory.peak.largest <= otherReport->memory.peak.largest)
    return;
  compilation.diagnostics()
      .warning(recomputes.front().range, "'recompute' raises the peak of a rank: it is " +
                                             formatBytes(report.memory.peak.largest) + " with it and " +
                                             formatBytes(otherReport->memory.peak.largest) + " without")
      .help("the named modules are recomputed as a whole before their first gradient: name the layers inside" +
            layersText(compilation.model(), recomputes.front()));
}

/// ", 'blk.*'": the first list of modules inside the modules that the statement names; empty if there is none.
std::string CheckCommand::layersText(const ModelOutline &model, const BoundRecompute &recompute) {
  llvm::StringMap<size_t> counts;
  for (const OutlineModule &module : model.modules)
    for (size_t outer : recompute.paths.front().modules)
      if (std::string layers = withoutIndices(module.path); isInside(module.path, model.modules[outer].path) &&
                                                            llvm::StringRef(layers).ends_with(".*") &&
                                                            ++counts[layers] > 1)
        return ", '" + layers + "'";
  return "";
}

/// The object always has errors and warnings; it has the report's keys if there is a report.
void CheckCommand::printJson(const mlir::FailureOr<Report> &report, const Diagnostics &diagnostics) {
  llvm::json::Value value = mlir::succeeded(report) ? reportToJson(*report) : llvm::json::Object();
  llvm::json::Object &object = *value.getAsObject();
  object["errors"] = diagnosticsToJson(diagnostics, Severity::Error);
  object["warnings"] = diagnosticsToJson(diagnostics, Severity::Warning);
  llvm::outs() << llvm::formatv("{0:2}", value) << '\n';
}

/// "smollm2.plan:6"
std::string CheckCommand::lineText(Compilation &compilation, SourceRange range) {
  return compilation.diagnostics().sources().buffer(range.file).name().str() + ":" + std::to_string(range.line);
}

std::optional<LossLine> CheckCommand::loss(Compilation &compilation) {
  const std::optional<BoundLoss> &loss = compilation.plan().loss;
  if (!loss || loss->unit == LossUnit::Model)
    return std::nullopt;
  return LossLine{lineText(compilation, loss->range), lossText(*loss, compilation.model()),
                  lossUnitMeaning(loss->unit).str()};
}

/// "adamw" for the parameters of the statement itself, "adamw, group **.*norm" for those of a group.
void CheckCommand::addOptimizer(Compilation &compilation, Report &report) {
  const BoundPlan &plan = compilation.plan();
  if (!plan.optimizer)
    return;
  llvm::StringMap<std::string> texts;
  for (auto [index, parameter] : llvm::enumerate(compilation.model().parameters)) {
    if (plan.parameterUse[index] != ParameterUse::Trained)
      continue;
    std::string text = optimizerName(plan.optimizer->kind).str();
    const char *before = ", group ";
    for (const BoundPaths &path : plan.optimizer->groups[plan.optimizer->groupOf[index]].paths)
      text += std::exchange(before, ", ") + path.text;
    texts[parameterPath(compilation.model(), parameter)] = std::move(text);
  }
  for (ParameterReport &parameter : report.parameters)
    for (const std::string &name : parameter.names)
      if (auto text = texts.find(name); text != texts.end())
        parameter.optimizer = text->second;
}

/// One line for each entry of the plan: how many of the model's modules with parameters it matches, or, if it matches
/// only other modules or parameters, how many of these.
std::vector<CoverageLine> CheckCommand::coverage(Compilation &compilation) {
  std::vector<CoverageLine> lines;
  const BoundPlan &plan = compilation.plan();
  for (const EntryMatch &entry : plan.entries) {
    CoverageLine line;
    line.location = lineText(compilation, entry.range);
    line.statement = entry.path;
    bool isOfOthers = entry.parameterModules == 0 && !entry.modules.empty();
    line.matched = static_cast<int64_t>(isOfOthers ? entry.modules.size() : entry.parameterModules);
    line.total = static_cast<int64_t>(isOfOthers ? plan.coverage.otherModules : plan.coverage.parameterModules);
    line.what = isOfOthers ? "modules without parameters" : "modules";
    if (!entry.parameters.empty() && entry.modules.empty()) {
      line.matched = static_cast<int64_t>(entry.parameters.size());
      line.total = static_cast<int64_t>(compilation.model().parameters.size());
      line.what = "parameters";
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

Command meshplan::addCheck(CLI::App &app) {
  auto command = std::make_shared<CheckCommand>();
  addCompileOptions(app, command->options, command->definitions);
  addCluster(app, command->options);
  addSchedule(app, command->options);
  app.add_flag("--json", command->json, "print the report as JSON");
  return [command] { return command->run(); };
}
