//===- main.cpp - meshplan, the compiler's command line -------------------===//

#include "compiler/support/nearest.h"
#include "tools/command_line/command_line.h"
#include "tools/meshplan/commands.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshplan;

/// The arguments. The flags behind `--from megatron` are one argument that looks like an option, and CLI11 goes by the
/// first sign: they get a blank in front.
static std::vector<std::string> argumentsOf(int argc, char **argv) {
  std::vector<std::string> arguments(argv, argv + argc);
  for (size_t index = 2; index < arguments.size(); ++index)
    if (arguments[index - 2] == "--from" && arguments[index - 1] == "megatron")
      arguments[index].insert(0, " ");
  return arguments;
}

static int runCommandLine(int argc, char **argv) {
  CLI::App app{"meshplan checks and compiles sharding plans", "meshplan"};
  app.set_version_flag("--version", "meshplan " MESHPLAN_VERSION);
  app.require_subcommand(1);
  std::vector<std::pair<CLI::App *, Command>> commands;
  auto add = [&](const char *name, const char *text, Command (*addCommand)(CLI::App &)) {
    CLI::App *command = app.add_subcommand(name, text);
    commands.emplace_back(command, addCommand(*command));
  };
  add("compile", "compile model and plan to a schedule (.sched)", addCompile);
  add("check", "check a plan: coverage, layouts, memory and traffic of a rank", addCheck);
  add("explain", "say why a tensor has its layout and which collectives that causes", addExplain);
  add("diff", "show what differs between two plans of a model", addDiff);
  add("fmt", "bring plan files to their canonical form", addFormat);
  add("init", "draft a plan for a model", addInit);
  auto nearest = [](const std::string &name, const std::vector<std::string> &candidates) {
    return nearestNames(name, candidates);
  };
  std::vector<std::string> arguments = argumentsOf(argc, argv);
  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  if (std::optional<int> status = parseCommandLine(app, argc, pointers.data(), nearest))
    return *status;
  for (auto &[command, run] : commands)
    if (command->parsed())
      return run();
  return 2;
}

/// What LLVM's stream could not write would end the process when it goes away; here it is said instead.
static std::error_code flushOutput() {
  llvm::outs().flush();
  std::error_code failure = llvm::outs().error();
  llvm::outs().clear_error();
  return failure;
}

int main(int argc, char **argv) {
  return runProgram("meshplan", [&] { return runCommandLine(argc, argv); }, flushOutput);
}
