//===- diff_command.cpp - meshplan diff -----------------------------------===//

#include "compiler/report/diff/report_diff.h"
#include "compiler/report/diff/stack_report.h"
#include "compiler/report/settings/describe_settings.h"
#include "tools/meshplan/commands.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace meshplan;

namespace {

struct DiffCommand {
  CompileOptions options;
  std::vector<std::string> definitions;
  std::string before, after;
  bool json = false;

  int run();

private:
  struct Side {
    mlir::FailureOr<Report> report = mlir::failure();
    std::string modelDigest;
    std::vector<StackedParameter> stacked;
  };

  Side compile(const std::string &planFile);
  void print(const Diagnostics &diagnostics);
  bool isOneModel(const Side &first, const Side &second) const;

  std::set<std::string> printed; ///< diagnostics of the plans
};

} // namespace

/// Both plans may report the same of what they share, such as the cluster file.
void DiffCommand::print(const Diagnostics &diagnostics) {
  for (Severity severity : {Severity::Error, Severity::Warning})
    for (const Diagnostic *each : diagnostics.distinct(severity)) {
      Diagnostics single(diagnostics.sources());
      single.error({}, "") = *each;
      if (std::string text = single.text(); printed.insert(text).second)
        llvm::errs() << text;
    }
}

DiffCommand::Side DiffCommand::compile(const std::string &planFile) {
  CompileOptions own = options;
  own.planFile = planFile;
  Compilation compilation(own);
  Side side;
  if (compilation.run(Phase::schedule)) {
    side.report = reportOf(compilation);
    if (mlir::succeeded(side.report))
      side.report->settings =
          describeSettings(compilation.plan(), compilation.model(), compilation.diagnostics().sources());
    side.modelDigest = compilation.digestOfModel();
    for (const OutlineParameter &parameter : compilation.model().parameters)
      if (parameter.isStacked)
        side.stacked.push_back({compilation.model().modules[parameter.names.front().module].path,
                                parameter.names.front().leaf, parameter.shape.front()});
  }
  print(compilation.diagnostics());
  return side;
}

bool DiffCommand::isOneModel(const Side &first, const Side &second) const {
  constexpr size_t mostListed = 5;
  Sources sources;
  Diagnostics diagnostics(sources);
  std::vector<std::string> differences = modelDifferences(*first.report, *second.report, before, after);
  if (!differences.empty()) {
    Diagnostic &error = diagnostics.error({}, "'" + before + "' and '" + after + "' are plans of different models");
    for (size_t index = 0; index < std::min(differences.size(), mostListed); ++index)
      error.note({}, differences[index]);
    if (differences.size() > mostListed)
      error.note({}, std::to_string(differences.size() - mostListed) + " more parameters differ");
    error.help("compare two plans that name the same archive in 'model'");
  } else if (first.modelDigest != second.modelDigest) {
    diagnostics.warning({}, "'" + before + "' and '" + after +
                                "' name different archives with the same parameters; differences may be due to them");
  }
  diagnostics.print(llvm::errs());
  return differences.empty();
}

int DiffCommand::run() {
  splitDefinitions(definitions, options);
  // Both are compiled, so that one run shows the errors of either.
  Side first = compile(before), second = compile(after);
  if (failed(first.report) || failed(second.report))
    return 1;
  for (const StackedParameter &stacked : first.stacked)
    stackReport(*second.report, stacked);
  for (const StackedParameter &stacked : second.stacked)
    stackReport(*first.report, stacked);
  if (!isOneModel(first, second))
    return 1;
  ReportDiff diff = compareReports(*first.report, *second.report);
  if (json)
    llvm::outs() << llvm::formatv("{0:2}", diffToJson(diff)) << '\n';
  else
    printDiff(diff, llvm::outs());
  return 0;
}

Command meshplan::addDiff(CLI::App &app) {
  auto command = std::make_shared<DiffCommand>();
  app.add_option("a.plan", command->before, "plan file")->required();
  app.add_option("b.plan", command->after, "plan file of the same model")->required();
  addPlanOptions(app, command->options, command->definitions);
  addCluster(app, command->options);
  addSchedule(app, command->options);
  app.add_flag("--json", command->json, "print the differences as JSON");
  app.footer(
      "-D, --strict, --device, --cluster and --schedule apply to both plans. The exit status is 0 even if the plans "
      "differ, and 1 only on an error.");
  return [command] { return command->run(); };
}
