//===- job.cpp - what is run ----------------------------------------------===//

#include "tools/meshplan_run/job.h"

using namespace meshplan;

Expected<Job> Job::load(const RunOptions &options) {
  MESHPLAN_ASSIGN_OR_RETURN(Artifact artifact, loadSchedule(options.schedule));
  if (std::string_view device = artifact.schedule().device() ? artifact.schedule().device()->string_view() : "";
      device != "cpu")
    return Status::error(StatusCode::unsupported, options.schedule, " is compiled for device '", device,
                         "'; this build runs cpu");
  auto program = findProgram(artifact.schedule(), options.program);
  if (!program)
    return program.status().withContext(options.schedule);
  return Job{std::move(artifact), *program};
}

Expected<RankFeeds> RankFeeds::open(const RunOptions &options) {
  auto feed = [](const std::string &path) -> Expected<std::unique_ptr<Feed>> {
    if (path.empty())
      return std::unique_ptr<Feed>(std::make_unique<RandomFeed>());
    MESHPLAN_ASSIGN_OR_RETURN(TensorSource source, TensorSource::open(path));
    return std::unique_ptr<Feed>(std::make_unique<FileFeed>(std::move(source)));
  };
  RankFeeds feeds;
  MESHPLAN_ASSIGN_OR_RETURN(feeds.parameters, feed(options.weights));
  MESHPLAN_ASSIGN_OR_RETURN(feeds.inputs, feed(options.inputs));
  return feeds;
}
