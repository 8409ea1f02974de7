//===- commands.h - the subcommands of meshplan -----------------*- C++ -*-===//
//
// Each adds its flags to the command line and returns what runs it: 0 done, 1
// the plan is wrong. Wrong usage is answered before that (tools/command_line).
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TOOLS_MESHPLAN_COMMANDS_H
#define MESHPLAN_TOOLS_MESHPLAN_COMMANDS_H

#include "compiler/pipeline/compile.h"
#include "compiler/report/report.h"
#include <CLI/CLI.hpp>
#include <functional>

namespace meshplan {

using Command = std::function<int()>;

Command addCompile(CLI::App &app);
Command addCheck(CLI::App &app);
Command addExplain(CLI::App &app);
Command addDiff(CLI::App &app);
Command addFormat(CLI::App &app);
Command addInit(CLI::App &app);

/// Adds what the commands that compile a plan share: the plan file, -D, --strict, --device.
void addCompileOptions(CLI::App &app, CompileOptions &options, std::vector<std::string> &definitions);

/// The same without the plan file.
void addPlanOptions(CLI::App &app, CompileOptions &options, std::vector<std::string> &definitions);

/// Splits `name=value` texts, whose form the command line has checked.
void splitDefinitions(const std::vector<std::string> &texts, CompileOptions &options);

/// Warns of each axis of the mesh that divides no work, so that its ranks compute the same.
void warnOfIdleAxes(Compilation &compilation, const Report &report);

} // namespace meshplan

#endif // MESHPLAN_TOOLS_MESHPLAN_COMMANDS_H
