//===- commands.h - the subcommands of meshplan -----------------*- C++ -*-===//
//
// Each function adds the flags of a command and returns the function that runs it: status 0 on success, 1 if the plan
// is wrong. Usage errors are handled before (tools/command_line).
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
Command addSimulate(CLI::App &app);
Command addFormat(CLI::App &app);
Command addInit(CLI::App &app);

/// Adds the options that the commands that compile a plan share: the plan file, -D, --strict, --device.
void addCompileOptions(CLI::App &app, CompileOptions &options, std::vector<std::string> &definitions);

/// The same without the plan file.
void addPlanOptions(CLI::App &app, CompileOptions &options, std::vector<std::string> &definitions);

/// Adds --cluster, for the commands that print times or let them decide.
void addCluster(CLI::App &app, CompileOptions &options);

/// Adds --schedule, for the commands that schedule a plan.
void addSchedule(CLI::App &app, CompileOptions &options);

/// Splits `name=value` texts, whose form has been checked with the command line.
void splitDefinitions(const std::vector<std::string> &texts, CompileOptions &options);

/// The report of a compilation that has run all phases, with the machine and the estimated times. Fails as buildReport
/// does.
mlir::FailureOr<Report> reportOf(Compilation &compilation);

/// Warns of each axis of the mesh that splits no work, so that its ranks all compute the same.
void warnOfIdleAxes(Compilation &compilation, const Report &report);

} // namespace meshplan

#endif // MESHPLAN_TOOLS_MESHPLAN_COMMANDS_H
