//===- main.cpp - meshplan, the compiler's command line -------------------===//

#include "compiler/adopt/megatron/megatron_flags.h"
#include "compiler/support/nearest.h"
#include "tools/command_line/command_line.h"
#include "tools/meshplan/commands.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshplan;

/// Index of the flags of `--from megatron`, or 0. For another kind, only an argument with blanks counts as flags.
static size_t foreignFlags(llvm::ArrayRef<std::string> arguments, const CLI::App &init) {
  for (size_t index = 2; index < arguments.size(); ++index) {
    llvm::StringRef kind = arguments[index - 1], flags = arguments[index];
    bool isKind = kind.consume_front("--from=") || arguments[index - 2] == "--from";
    if (isKind && flags.starts_with("-") && !init.get_option_no_throw(flags.str()) &&
        (kind == "megatron" || flags.contains(' ')))
      return index;
  }
  return 0;
}

/// True, after reporting an error, if flags of Megatron follow those at `position`.
static bool saysLooseFlags(llvm::ArrayRef<std::string> arguments, size_t position, const CLI::App &init) {
  for (const std::string &argument : arguments.drop_front(position + 1)) {
    llvm::StringRef name = llvm::StringRef(argument).split('=').first;
    if (init.get_option_no_throw(name.str()) || !name.consume_front("--") || !ruleOf(name))
      continue;
    llvm::errs() << "meshplan init: error: '" << argument
                 << "' is a flag of Megatron, and --from megatron takes all of them as one argument\n"
                    "help: put the flags in quotes: --from megatron \"--tensor-model-parallel-size 2 --bf16\"\n";
    return true;
  }
  return false;
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
  add("explain", "explain why a tensor has its layout and which collectives it causes", addExplain);
  add("diff", "show what differs between two plans of a model", addDiff);
  add("simulate", "write the estimated timeline of a step as a trace", addSimulate);
  add("fmt", "bring plan files to their canonical form", addFormat);
  add("init", "draft a plan for a model", addInit);
  auto nearest = [](const std::string &name, const std::vector<std::string> &candidates) {
    return nearestNames(name, candidates);
  };
  std::vector<std::string> arguments(argv, argv + argc);
  const CLI::App &init = *app.get_subcommand("init");
  if (size_t position = foreignFlags(arguments, init)) {
    if (saysLooseFlags(arguments, position, init))
      return 2;
    // The flags are one argument that looks like an option, and CLI11 checks the first character.
    arguments[position].insert(0, " ");
  }
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

/// A write error in LLVM's stream would abort the process in its destructor; it is returned here instead.
static std::error_code flushOutput() {
  llvm::outs().flush();
  std::error_code failure = llvm::outs().error();
  llvm::outs().clear_error();
  return failure;
}

int main(int argc, char **argv) {
  return runProgram("meshplan", [&] { return runCommandLine(argc, argv); }, flushOutput);
}
