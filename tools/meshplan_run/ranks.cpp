//===- ranks.cpp - the ranks of a run as threads --------------------------===//

#include "tools/meshplan_run/ranks.h"

#include "runtime/base/names.h"
#include "runtime/comm/threads/run_threads.h"
#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/memory.h"

#include <cmath>
#include <cstdio>
#include <iostream>

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

static Status runExecutor(const Job &job, const RankFeeds &feeds, const ExecutorBody &body, World &world,
                          RankMemory &memory) {
  auto pool = std::make_shared<MemoryPool>();
  PoolScope pooled(pool);
  ComputeScope compute(threadsPerRank(static_cast<int>(world.size())));
  MESHPLAN_ASSIGN_OR_RETURN(auto executor, Executor::create(job.artifact, *job.program, world));
  MESHPLAN_RETURN_IF_ERROR(executor->loadParameters(*feeds.parameters));
  MESHPLAN_RETURN_IF_ERROR(executor->loadInputs(*feeds.inputs));
  MESHPLAN_RETURN_IF_ERROR(body(world, *executor, world.rank()));
  memory = {executor->residentBytes(), pool->peak()};
  return Status();
}

Expected<std::vector<RankMemory>> meshplan::runRanks(const RunOptions &options, const Job &job, const RankFeeds &feeds,
                                                     const ExecutorBody &body, const std::function<void()> &onStuck) {
  installPoolAllocator();
  RankOptions threads;
  threads.timeout = std::chrono::milliseconds(std::llround(std::ceil(options.timeoutSeconds * 1000)));
  threads.onStuck = [&](const Status &cause, std::span<const int64_t> ranks) {
    onStuck();
    reportError(Status::error(cause.code(), cause.message(), "; ", rankList(ranks), " did not return"));
    std::fflush(nullptr);
    std::_Exit(1);
  };
  std::vector<RankMemory> memory(job.worldSize());
  std::vector<Status> statuses = runThreads(job.worldSize(), threads, [&](World &world) {
    return runExecutor(job, feeds, body, world, memory[world.rank()]);
  });
  MESHPLAN_RETURN_IF_ERROR(rootCause(statuses));
  return memory;
}

int meshplan::reportError(const Status &status) {
  std::cerr << "meshplan-run: error: " << status.message() << std::endl;
  return 1;
}

nlohmann::json meshplan::memoryJson(const Job &job, std::span<const RankMemory> ranks) {
  nlohmann::json list = nlohmann::json::array();
  for (const RankMemory &rank : ranks)
    list.push_back({{"parameters", rank.resident.parameters},
                    {"constants", rank.resident.constants},
                    {"inputs", rank.resident.inputs},
                    {"peak", rank.peak}});
  nlohmann::json result = {{"ranks", std::move(list)}};
  if (const artifact::Memory *planned = job.program->memory())
    result["planned"] = {{"parameters", planned->parameters()},
                         {"constants", planned->constants()},
                         {"inputs", planned->inputs()},
                         {"peak", planned->peak()}};
  return result;
}

static double mebibytes(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

void meshplan::printMemory(const Job &job, std::span<const RankMemory> ranks) {
  int64_t parameters = 0, peak = 0;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    std::printf("rank %zu: parameters %.2f MiB, peak %.2f MiB\n", rank, mebibytes(ranks[rank].resident.parameters),
                mebibytes(ranks[rank].peak));
    parameters = std::max(parameters, ranks[rank].resident.parameters);
    peak = std::max(peak, ranks[rank].peak);
  }
  const artifact::Memory *planned = job.program->memory();
  if (!planned)
    return;
  std::printf("largest: parameters %.2f MiB (planned %.2f), peak %.2f MiB (planned %.2f", mebibytes(parameters),
              mebibytes(planned->parameters()), mebibytes(peak), mebibytes(planned->peak()));
  if (planned->peak() > 0)
    std::printf(", %+.1f %%", 100.0 * (peak - planned->peak()) / planned->peak());
  std::printf(")\n");
}
