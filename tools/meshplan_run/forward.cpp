//===- forward.cpp - meshplan-run forward ---------------------------------===//

#include "runtime/base/names.h"
#include "runtime/exec/shared_output.h"
#include "runtime/schema/program_names.h"
#include "tools/meshplan_run/rank_run.h"

#include <iostream>

using namespace meshplan;

static Status report(const RunOptions &options, const Job &job, const Reports &reports,
                     std::span<const TensorSpec> outputs) {
  if (!options.trace.empty())
    MESHPLAN_RETURN_IF_ERROR(writeTraces(options.trace, reports.traces));
  if (options.json) {
    nlohmann::json result = {{"program", options.program}, {"outputs", options.outputs}};
    result["memory"] = memoryJson(job, reports);
    // A file name need not be UTF-8, on which dump would throw.
    std::cout << result.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    return Status();
  }
  printMemory(job, reports);
  for (const TensorSpec &spec : outputs)
    std::cout << "wrote " << spec.name << " " << dtypeName(spec.dtype) << " " << shapeText(spec.shape) << "\n";
  return Status();
}

/// Notes that a model that was exported for training has active dropout here, which the user may not expect.
static void noteDraws(const Job &job) {
  bool draws = Settings(*job.program).find(program_names::seed, 0).has_value();
  bool isForward = job.program->role() == artifact::ProgramRole::forward;
  if (draws && isForward && findProgram(job.artifact.schedule(), artifact::ProgramRole::eval))
    std::cerr << "meshplan-run: note: the model was exported for training, and draws random numbers as it does there; "
                 "--program eval computes it without dropout\n"
              << std::flush;
}

static Status forward(const RunOptions &options, const Job &job, Ranks &ranks) {
  MESHPLAN_ASSIGN_OR_RETURN(RankFeeds feeds, RankFeeds::open(options, job));
  noteDraws(job);
  std::vector<TensorSpec> specs = outputSpecs(*job.program);
  Reports reports;
  auto body = [&](RankRun &run) -> Status {
    // Opened before the work, so that a path that cannot be written fails early. It is removed unless it is committed.
    MESHPLAN_ASSIGN_OR_RETURN(SharedOutput output, SharedOutput::open(run.world, options.outputs, specs));
    MESHPLAN_RETURN_IF_ERROR(run.load(feeds));
    MESHPLAN_RETURN_IF_ERROR(run.program.run(run.trace()));
    MESHPLAN_RETURN_IF_ERROR(run.program.walk().writeOutputs(output.writer()));
    MESHPLAN_RETURN_IF_ERROR(run.gather(reports));
    return output.commit();
  };
  MESHPLAN_RETURN_IF_ERROR(runRanks(options, job, ranks, body));
  return reports.here() ? report(options, job, reports, specs) : Status();
}

int meshplan::runForward(const RunOptions &options) {
  return runJob(options, [&](const Job &job, Ranks &ranks) { return forward(options, job, ranks); });
}
