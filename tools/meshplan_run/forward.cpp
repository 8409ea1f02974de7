//===- forward.cpp - meshplan-run forward ---------------------------------===//

#include "runtime/base/names.h"
#include "tools/meshplan_run/options.h"
#include "tools/meshplan_run/ranks.h"

#include <iostream>

using namespace meshplan;

static Status forward(const RunOptions &options) {
  MESHPLAN_ASSIGN_OR_RETURN(Job job, Job::load(options));
  MESHPLAN_ASSIGN_OR_RETURN(RankFeeds feeds, RankFeeds::open(options));
  std::vector<TensorSpec> specs = outputSpecs(*job.program);
  // Made before the work, so that a path that cannot be written fails at once. It goes away unless it is committed.
  MESHPLAN_ASSIGN_OR_RETURN(SafetensorsWriter created, SafetensorsWriter::create(options.outputs, specs));
  std::optional<SafetensorsWriter> writer(std::move(created));
  std::vector<Trace> traces(job.worldSize());
  auto body = [&](World &, Executor &executor, int64_t rank) -> Status {
    MESHPLAN_RETURN_IF_ERROR(executor.run(options.trace.empty() ? nullptr : &traces[rank]));
    return executor.writeOutputs(*writer);
  };
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<RankMemory> memory,
                            runRanks(options, job, feeds, body, [&] { writer.reset(); }));
  MESHPLAN_RETURN_IF_ERROR(writer->commit());
  if (!options.trace.empty())
    MESHPLAN_RETURN_IF_ERROR(writeTraces(options.trace, traces));
  if (options.json) {
    nlohmann::json result = {{"program", options.program}, {"outputs", options.outputs}};
    result["memory"] = memoryJson(job, memory);
    std::cout << result.dump(2) << std::endl;
    return Status();
  }
  printMemory(job, memory);
  for (const TensorSpec &spec : specs)
    std::cout << "wrote " << spec.name << " " << dtypeName(spec.dtype) << " " << shapeText(spec.shape) << "\n";
  return Status();
}

int meshplan::runForward(const RunOptions &options) {
  Status status = forward(options);
  return status.ok() ? 0 : reportError(status);
}
