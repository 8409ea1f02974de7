//===- main.cpp - meshplan, the compiler's command line -------------------===//

#include "tools/meshplan/commands.h"
#include "llvm/Support/raw_ostream.h"
#include <cctype>

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
  app.failure_message([](const CLI::App *command, const CLI::Error &error) {
    std::string text = error.what();
    if (!text.empty())
      text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    return "meshplan: error: " + text + "\nhelp: " + command->get_display_name() + " --help\n";
  });
  bool isKnown = argc < 2 || argv[1][0] == '-';
  for (auto &[command, run] : commands)
    isKnown = isKnown || command->check_name(argv[1]);
  if (!isKnown) {
    llvm::errs() << "meshplan: error: unknown command '" << argv[1] << "'\nhelp: commands are compile, check and fmt\n";
    return 2;
  }
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
