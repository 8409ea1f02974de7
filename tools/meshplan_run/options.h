//===- options.h - the command line of meshplan-run --------------*- C++ -*-===//

#ifndef MESHPLAN_TOOLS_MESHPLAN_RUN_OPTIONS_H
#define MESHPLAN_TOOLS_MESHPLAN_RUN_OPTIONS_H

#include <cstdint>
#include <string>
#include <vector>

namespace meshplan {

/// Empty texts were not given. An empty program is the one that is verified.
struct RunOptions {
  std::string schedule, program = "forward", backend, weights, inputs, outputs, trace;
  std::vector<std::string> settings; ///< `name=number`
  double timeoutSeconds = 600;
  int64_t steps = 10;
  bool json = false;
};

/// Of `export`, which runs nothing.
struct ExportCommandOptions {
  std::string checkpoint, output, config, weights, dtype;
  bool adapters = false, json = false;
};

/// Each runs a subcommand, prints its result or its error, and returns the exit status.
int runForward(const RunOptions &options);
int runBench(const RunOptions &options);
int runVerify(const RunOptions &options);
int runExport(const ExportCommandOptions &options);

} // namespace meshplan

#endif // MESHPLAN_TOOLS_MESHPLAN_RUN_OPTIONS_H
