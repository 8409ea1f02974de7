//===- compile_options.cpp - flags of the commands that compile a plan ----===//

#include "compiler/support/nearest.h"
#include "tools/command_line/command_line.h"
#include "tools/meshplan/commands.h"
#include "llvm/ADT/StringExtras.h"

using namespace meshplan;

void meshplan::addCompileOptions(CLI::App &app, CompileOptions &options, std::vector<std::string> &definitions) {
  app.add_option("plan", options.planFile, "plan file")->required();
  addPlanOptions(app, options, definitions);
}

void meshplan::addPlanOptions(CLI::App &app, CompileOptions &options, std::vector<std::string> &definitions) {
  auto isDefinition = [](const std::string &text) {
    size_t equals = text.find('=');
    bool right = equals != std::string::npos && equals > 0;
    return right ? std::string() : "'" + text + "' does not have the form NAME=VALUE";
  };
  app.add_option("-D", definitions, "the value of an axis, a let or 'world'")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->check(isDefinition);
  app.add_flag("--strict", options.strict, "reshards that no statement asks for are errors");
  app.add_option("--device", options.device, "device that the program runs on")
      ->check(oneOf({"cpu", "cuda"}))
      ->capture_default_str();
}

void meshplan::addCluster(CLI::App &app, CompileOptions &options) {
  app.add_option(
         "--cluster", options.cluster,
         "machines that times are estimated for: a cluster file, or a preset (cpu, h100, h200); without it, the "
         "preset cpu or, for cuda, h100")
      ->type_name("FILE|PRESET")
      ->check(fileName());
}

void meshplan::addSchedule(CLI::App &app, CompileOptions &options) {
  std::vector<std::string> names;
  for (const scheduling::NamedSolver &solver : scheduling::solvers())
    names.push_back(solver.name.str());
  auto isKnown = [names](const std::string &text) {
    if (scheduling::findSolver(text))
      return std::string();
    std::string message = "'" + text + "' is none of " + scheduling::namesOfSolvers();
    std::string help = nearestNames(text, names).empty() ? "" : suggest(text, names, "");
    return help.empty() ? message : message + "; " + help;
  };
  app.add_option("--schedule", options.solver,
                 "how the order of the schedule is found: as in the program, by list scheduling, or by a search from "
                 "there; all keep to the memory of the first")
      ->type_name("{" + llvm::join(names, ", ") + "}")
      ->check(isKnown)
      ->capture_default_str();
}

mlir::FailureOr<Report> meshplan::reportOf(Compilation &compilation) {
  llvm::StringRef program = mainProgram(compilation.module());
  mlir::FailureOr<Report> report = buildReport(compilation.module(), program);
  if (mlir::failed(report))
    return report;
  report->machine = describeMachine(compilation.cluster());
  if (std::optional<StepTimes> times = stepTimes(compilation.times(), program))
    addTimes(*report, *times, compilation.cluster());
  if (compilation.plan().halves)
    report->time.halves = compilation.usesHalves();
  return report;
}

void meshplan::warnOfIdleAxes(Compilation &compilation, const Report &report) {
  for (auto [axis, bound] : llvm::zip(report.axes, compilation.plan().environment.mesh.axes))
    if (!axis.dividesWork)
      compilation.diagnostics()
          .warning(bound.range, "mesh axis '" + axis.name + "' splits nothing: its " + std::to_string(axis.size) +
                                    " ranks compute the same")
          .help("split samples over it ('input NAME: [batch over " + axis.name + "]') or modules ('PATH: colwise " +
                axis.name + "'), or remove it from the mesh");
}

void meshplan::splitDefinitions(const std::vector<std::string> &texts, CompileOptions &options) {
  for (llvm::StringRef text : texts) {
    auto [name, value] = text.split('=');
    options.definitions.push_back({name.str(), value.str()});
  }
}
