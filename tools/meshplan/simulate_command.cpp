//===- simulate_command.cpp - meshplan simulate ---------------------------===//

#include "compiler/cluster/read_cluster.h"
#include "compiler/report/report.h"
#include "compiler/support/time_text.h"
#include "compiler/support/write_file.h"
#include "compiler/timing/estimated_trace.h"
#include "tools/command_line/command_line.h"
#include "tools/meshplan/commands.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshplan;

namespace {

struct SimulateCommand {
  CompileOptions options;
  std::vector<std::string> definitions;
  std::string output;

  int run();

private:
  std::string path() const;
};

} // namespace

std::string SimulateCommand::path() const {
  if (!output.empty())
    return output;
  llvm::SmallString<128> beside(options.planFile);
  llvm::sys::path::replace_extension(beside, "trace.json");
  return beside.str().str();
}

int SimulateCommand::run() {
  splitDefinitions(definitions, options);
  Compilation compilation(options);
  bool done = compilation.run(Phase::schedule);
  compilation.diagnostics().print(llvm::errs());
  if (!done)
    return 1;
  if (compilation.reads(path())) {
    llvm::errs() << "meshplan: error: '" << path() << "' is read by this compilation and would be overwritten\n"
                 << "help: name another file with -o\n";
    return 1;
  }
  llvm::StringRef program = mainProgram(compilation.module());
  StepTimes times = *stepTimes(compilation.times(), program);
  if (llvm::Error error = writeFileAtomically(path(), estimatedTrace(times, compilation.cluster().name))) {
    llvm::errs() << "meshplan: error: " << llvm::toString(std::move(error)) << '\n';
    return 1;
  }
  llvm::outs() << "'" << program << "' takes " << timeText(times.total) << " on " << clusterText(compilation.cluster())
               << ", of which " << timeText(times.exposed) << " are exposed communication; the timeline is in "
               << path() << '\n';
  if (mlir::FailureOr<Report> report = buildReport(compilation.module(), program); mlir::succeeded(report))
    printWithoutCost(*report, llvm::outs());
  return 0;
}

Command meshplan::addSimulate(CLI::App &app) {
  auto command = std::make_shared<SimulateCommand>();
  addCompileOptions(app, command->options, command->definitions);
  addCluster(app, command->options);
  addSchedule(app, command->options);
  app.add_option("-o,--output", command->output,
                 "file to write, in Chrome's trace format; default: the plan's name with .trace.json")
      ->check(fileName());
  return [command] { return command->run(); };
}
