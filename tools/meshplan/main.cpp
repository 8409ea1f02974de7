//===- main.cpp - meshplan, the compiler's command line -------------------===//

#include "tools/meshplan/commands.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshplan;

int main(int argc, char **argv) {
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
  add("fmt", "bring plan files to their canonical form", addFormat);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // Wrong usage is 2 whatever CLI11 calls it; --help and --version are success.
    return app.exit(error) == 0 ? 0 : 2;
  }
  for (auto &[command, run] : commands)
    if (command->parsed())
      return run();
  return 2;
}
