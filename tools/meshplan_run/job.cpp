//===- job.cpp - a schedule and its program -------------------------------===//
//
// What can be wrong with the files of a command line is found before ranks start: a name of an input that the program
// does not have, an output file that the run reads.
//
//===----------------------------------------------------------------------===//

#include "tools/meshplan_run/job.h"

#include "runtime/base/names.h"
#include "runtime/checkpoint/adapters.h"
#include "runtime/checkpoint/source.h"
#include "runtime/train/evaluation.h"
#include "runtime/verify/subjects.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

using namespace meshplan;

/// The canonical path, without links; empty if it cannot be resolved.
static std::filesystem::path canonicalPath(const std::string &file) {
  std::error_code error;
  std::filesystem::path whole = std::filesystem::absolute(file, error);
  return error ? whole : std::filesystem::weakly_canonical(whole, error);
}

/// True if both names are of one file, even if the file does not exist yet.
static bool isSameFile(const std::string &first, const std::string &second) {
  std::error_code missing;
  if (first == second || std::filesystem::equivalent(first, second, missing))
    return true;
  std::filesystem::path canonical = canonicalPath(first);
  return !canonical.empty() && canonical == canonicalPath(second);
}

Status meshplan::checkWritten(const RunOptions &options, const std::vector<std::string> &read) {
  for (const auto &[option, path] : {std::pair("--outputs", options.outputs), std::pair("--trace", options.trace),
                                     std::pair("--log", options.train.log)})
    for (const std::string &file : read)
      if (!path.empty() && isSameFile(path, file))
        return Status::error(StatusCode::invalid, option, " names '", path,
                             "', which this run reads and would overwrite; help: name another file");
  for (const auto &[option, path] : {std::pair("--outputs", options.outputs), std::pair("--log", options.train.log)})
    if (!options.trace.empty() && !path.empty() && isSameFile(options.trace, path))
      return Status::error(StatusCode::invalid, option, " and --trace name one file, '", options.trace,
                           "'; help: name another file");
  return Status();
}

static Status checkInputs(const TensorSource &source, const artifact::Program &program) {
  std::vector<std::string> known;
  if (program.inputs())
    for (const artifact::Port *input : *program.inputs())
      known.push_back(input->name()->str());
  for (const std::string &name : source.names()) {
    if (std::ranges::find(known, name) != known.end())
      continue;
    std::vector<std::string> nearest = nearestNames(name, known, 1);
    std::string hint =
        nearest.empty() ? "; its inputs are " + nameList(known) : "; help: did you mean '" + nearest.front() + "'?";
    return Status::error(StatusCode::invalid, source.path(), ": the program has no input '", name, "'", hint);
  }
  return Status();
}

/// Parses settings `name=number`; an error if the program has no such setting or cannot take the number.
static Expected<std::vector<std::pair<std::string, double>>> readSettings(const std::vector<std::string> &texts,
                                                                          const artifact::Program &program) {
  std::vector<std::pair<std::string, double>> settings;
  Settings known(program);
  for (const std::string &text : texts) {
    size_t equals = text.find('=');
    const char *begin = equals == std::string::npos ? text.c_str() : text.c_str() + equals + 1;
    char *end = nullptr;
    double number = std::strtod(begin, &end);
    if (equals == std::string::npos || end == begin || *end != 0)
      return Status::error(StatusCode::invalid, "--set ", text, ": expected NAME=NUMBER");
    if (Status status = known.set(text.substr(0, equals), number); !status.ok())
      return status.withContext("--set " + text);
    auto isSame = [&](const auto &earlier) { return earlier.first == text.substr(0, equals); };
    if (std::ranges::any_of(settings, isSame))
      return Status::error(StatusCode::invalid, "--set ", text, ": '", text.substr(0, equals), "' is set twice");
    settings.emplace_back(text.substr(0, equals), number);
  }
  return settings;
}

Expected<Job> Job::load(const RunOptions &options) {
  MESHPLAN_ASSIGN_OR_RETURN(Artifact artifact, loadSchedule(options.schedule));
  if (std::string_view device = artifact.schedule().device() ? artifact.schedule().device()->string_view() : "";
      device != "cpu" && device != "cuda")
    return Status::error(StatusCode::unsupported, options.schedule, " is compiled for device '", device,
                         "'; this version runs cpu and cuda");
  auto program = options.role              ? findProgram(artifact.schedule(), *options.role)
                 : options.program.empty() ? verifiedProgram(artifact.schedule())
                                           : findProgram(artifact.schedule(), options.program);
  if (!program) {
    auto has = [&](artifact::ProgramRole role) { return findProgram(artifact.schedule(), role).ok(); };
    bool trains = has(artifact::ProgramRole::step) && has(artifact::ProgramRole::eval);
    return Status::error(program.status().code(), options.schedule, ": ", program.status().message(),
                         trains ? "" : "; help: a plan with 'loss' and 'optimizer' has the programs 'step' and 'eval'");
  }
  MESHPLAN_ASSIGN_OR_RETURN(auto settings, readSettings(options.settings, **program));
  Job job{std::move(artifact), *program, std::move(settings)};
  if (!options.train.evaluationData.empty()) {
    MESHPLAN_ASSIGN_OR_RETURN(job.evaluation, evaluationProgram(job.artifact.schedule()));
  }
  return job;
}

int64_t Job::plannedPeak() const {
  const artifact::Memory *own = program->memory();
  if (!own)
    return 0;
  // Between training steps, an evaluation runs while the training states stay in memory.
  int64_t between =
      evaluation && evaluation->memory() ? evaluation->memory()->peak() + own->states() + own->accumulators() : 0;
  return std::max(own->peak(), between);
}

bool Job::registersBuffers() const {
  const auto *buffers = program->buffers();
  return buffers && std::ranges::any_of(*buffers, [](const artifact::Buffer *each) { return each->registered(); });
}

bool Job::needsNccl() const {
  auto *communicators = artifact.schedule().communicators();
  return isForCuda() && (worldSize() > 1 || (communicators && communicators->size() > 0));
}

Expected<RankFeeds> RankFeeds::open(const RunOptions &options, const Job &job) {
  std::vector<std::string> read{options.schedule};
  RankFeeds feeds{std::make_unique<RandomFeed>(), std::make_unique<RandomFeed>(), ""};
  if (!options.weights.empty()) {
    MESHPLAN_ASSIGN_OR_RETURN(TensorSource weights, openModelWeights(options.weights, *job.program));
    MESHPLAN_ASSIGN_OR_RETURN(auto feed, AdapterFeed::open(std::move(weights), options.adapters, *job.program));
    std::ranges::move(feed->filePaths(), std::back_inserter(read));
    feeds.warning = feed->warning();
    feeds.parameters = std::move(feed);
  }
  if (!options.inputs.empty()) {
    MESHPLAN_ASSIGN_OR_RETURN(TensorSource inputs, TensorSource::open(options.inputs));
    MESHPLAN_RETURN_IF_ERROR(checkInputs(inputs, *job.program));
    std::ranges::move(inputs.filePaths(), std::back_inserter(read));
    feeds.inputs = std::make_unique<FileFeed>(std::move(inputs));
  }
  MESHPLAN_RETURN_IF_ERROR(checkWritten(options, read));
  return feeds;
}
