//===- rank_run.cpp - one rank with its settings and its report -----------===//

#include "tools/meshplan_run/rank_run.h"

#include "runtime/comm/gather.h"
#include "runtime/launch/placement.h"
#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/memory.h"
#include "tools/meshplan_run/ranks/gpu_rank.h"

#include <iostream>

using namespace meshplan;

static void warn(const std::string &text) {
  if (!text.empty())
    std::cerr << "meshplan-run: warning: " + text + "\n" << std::flush;
}

void RankRun::warnOfWeights(const std::string &ofFile) const {
  if (world.rank() == 0)
    warn(ofFile);
  warn(program.warning());
}

Status RankRun::load(const RankFeeds &feeds) {
  MESHPLAN_RETURN_IF_ERROR(program.loadParameters(*feeds.parameters));
  warnOfWeights(feeds.warning);
  return program.loadInputs(*feeds.inputs);
}

Status RankRun::gather(Reports &reports) {
  RankReport own{{residentBytes(program.walk().view()), peak()}, std::move(ownTrace)};
  // All ranks leave the barrier at the same time, which shows the offset between the clocks of machines.
  MESHPLAN_ASSIGN_OR_RETURN(auto group, world.host().createWorldGroup("world"));
  MESHPLAN_RETURN_IF_ERROR(waitFor(group->startBarrier({.sequence = -1, .origin = "the end of the run"})));
  own.clock = readClock();
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<std::string> texts, gatherAtFirst(world, textOf(own)));
  for (const std::string &text : texts) {
    MESHPLAN_ASSIGN_OR_RETURN(RankReport report, reportOf(text));
    reports.add(std::move(report));
  }
  return Status();
}

/// A plan may be run by a backend that has no use for an option.
static void noteRegistration(const Job &job, World &world) {
  if (world.rank() == 0 && job.registersBuffers() && !world.registersBuffers())
    std::cerr << "meshplan-run: note: 'register buffers' has no effect here: only nccl registers buffers\n"
              << std::flush;
}

int meshplan::runJob(const RunOptions &options, const std::function<Status(const Job &, Ranks &)> &command) {
  // An error of loading is reported inside runCommand, where the other ranks are told as well.
  auto job = Job::load(options);
  Workload workload;
  if (job)
    workload = {job->isForCuda() ? "cuda" : "cpu", job->worldSize()};
  return runCommand(options, workload, [&](Ranks &ranks) { return job ? command(*job, ranks) : job.status(); });
}

/// The device of a rank. Errors that all ranks have are reported before those of one rank.
static Expected<Device> chooseDevice(const Job &job, const Ranks &ranks, World &hosts) {
  if (!job.isForCuda())
    return Device();
  MESHPLAN_RETURN_IF_ERROR(hosts.agree(job.artifact.hash()));
  MESHPLAN_ASSIGN_OR_RETURN(int gpus, countCudaDevices());
  MESHPLAN_ASSIGN_OR_RETURN(int gpu, gpuOfRank(hosts.rank(), ranks.localRank(hosts.rank()), gpus));
  return Device{DeviceKind::cuda, gpu};
}

Status meshplan::runRanks(const RunOptions &options, const Job &job, Ranks &ranks,
                          const std::function<Status(RankRun &)> &body) {
  installPoolAllocator();
  int64_t worldSize = job.worldSize();
  if (job.needsNccl())
    MESHPLAN_RETURN_IF_ERROR(prepareGpuRanks());
  return ranks.run(worldSize, [&](World &hosts) -> Status {
    // The traces are written at the end; a path that cannot be written fails now.
    if (hosts.rank() == 0 && !options.trace.empty())
      MESHPLAN_RETURN_IF_ERROR(AtomicFile::create(options.trace).status());
    MESHPLAN_ASSIGN_OR_RETURN(Device device, chooseDevice(job, ranks, hosts));
    auto pool = std::make_shared<MemoryPool>(), hostPool = std::make_shared<MemoryPool>();
    PoolScope pooled(pool, hostPool);
    ComputeScope compute(ranks.computeThreads(worldSize), device);
    auto peak = [&] {
      return device.isHost() ? PeakBytes{pool->peak(), hostPool->peak()} : PeakBytes{peakDeviceBytes(device), 0};
    };
    auto onWorld = [&](World &world) -> Status {
      noteRegistration(job, world);
      MESHPLAN_ASSIGN_OR_RETURN(ProgramRunner program, ProgramRunner::create(job.artifact, *job.program, world));
      for (const auto &[name, number] : job.settings)
        MESHPLAN_RETURN_IF_ERROR(program.setNumber(name, number));
      RankRun run(world, program, peak, !options.trace.empty());
      return body(run);
    };
    return job.needsNccl() ? runOverNccl(hosts, device, onWorld) : onWorld(hosts);
  });
}
