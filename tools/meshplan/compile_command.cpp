//===- compile_command.cpp - meshplan compile -----------------------------===//

#include "compiler/support/write_file.h"
#include "compiler/target/artifact/artifact.h"
#include "tools/command_line/command_line.h"
#include "tools/meshplan/commands.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshplan;

namespace {

struct CompileCommand {
  CompileOptions options;
  std::vector<std::string> definitions;
  std::string output;
  std::string emit;

  int run() {
    splitDefinitions(definitions, options);
    std::optional<Phase> last = emit.empty() || emit == "artifact" ? Phase::schedule : parsePhase(emit);
    Compilation compilation(options);
    bool done = compilation.run(*last);
    if (done && *last == Phase::schedule)
      if (auto report = buildReport(compilation.module(), mainProgram(compilation.module())); mlir::succeeded(report))
        warnOfIdleAxes(compilation, *report);
    mlir::FailureOr<std::vector<uint8_t>> bytes = mlir::failure();
    bool isArtifact = emit.empty() || emit == "artifact";
    if (done && isArtifact)
      bytes = compilation.artifact(MESHPLAN_VERSION);
    compilation.diagnostics().print(llvm::errs());
    if (!done || (isArtifact && mlir::failed(bytes)))
      return 1;
    if (isWritten() && compilation.reads(path())) {
      llvm::errs() << "meshplan: error: '" << path() << "' is read by this compilation and would be overwritten\n"
                   << "help: name another file with -o\n";
      return 1;
    }
    if (isArtifact)
      return writeSchedule(*bytes);
    std::string text;
    llvm::raw_string_ostream stream(text);
    compilation.module().print(stream);
    return finish(writeText(text + "\n"));
  }

  /// Writes the schedule, or its description.
  int writeSchedule(const std::vector<uint8_t> &bytes) {
    if (emit.empty())
      return finish(writeArtifact(path(), bytes));
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (llvm::Error error = describeArtifact(bytes, stream))
      return finish(std::move(error));
    return finish(writeText(text));
  }

  /// Writes text to the file of -o, else to stdout.
  llvm::Error writeText(const std::string &text) const {
    if (isWritten())
      return writeFileAtomically(path(), text);
    llvm::outs() << text;
    return llvm::Error::success();
  }

  static int finish(llvm::Error error) {
    if (!error)
      return 0;
    llvm::errs() << "meshplan: error: " << llvm::toString(std::move(error)) << '\n';
    return 1;
  }

  bool isWritten() const { return emit.empty() || !output.empty(); }

  std::string path() const {
    if (!output.empty())
      return output;
    llvm::SmallString<128> beside(options.planFile);
    llvm::sys::path::replace_extension(beside, "sched");
    return beside.str().str();
  }
};

} // namespace

Command meshplan::addCompile(CLI::App &app) {
  auto command = std::make_shared<CompileCommand>();
  addCompileOptions(app, command->options, command->definitions);
  addCluster(app, command->options);
  addSchedule(app, command->options);
  app.add_option("-o,--output", command->output,
                 "file to write; default: the plan's name with .sched, with --emit: stdout")
      ->check(fileName());
  app.add_flag("--gradients", command->options.gradients,
               "the program 'step' returns the gradients instead of updating the parameters");
  app.add_flag("--reference", command->options.reference,
               "the schedule includes the exported model, which 'meshplan-run verify' compares with");
  app.add_option("--emit", command->emit, "print the IR after a phase (or 'artifact': the schedule as text) and stop")
      ->check(oneOf({"import", "place", "differentiate", "propagate", "partition", "group", "schedule", "artifact"}));
  return [command] { return command->run(); };
}
