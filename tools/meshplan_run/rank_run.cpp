//===- rank_run.cpp - one rank with its settings and its report -----------===//
//
// What a rank does around its program: threads and device before it, and afterwards its memory and its trace for the
// report of rank 0.
//
//===----------------------------------------------------------------------===//

#include "tools/meshplan_run/rank_run.h"

#include "runtime/base/file.h"
#include "runtime/comm/gather.h"
#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/device.h"
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

/// The device of a rank.
static Expected<Device> chooseDevice(bool isCuda, const Ranks &here, World &hosts) {
  if (!isCuda)
    return Device();
  MESHPLAN_ASSIGN_OR_RETURN(int gpus, countCudaDevices());
  MESHPLAN_ASSIGN_OR_RETURN(int gpu, gpuOfRank(hosts.rank(), here.localRank(hosts.rank()), gpus));
  return Device{DeviceKind::cuda, gpu};
}

Status
RunOnDevices::run(Ranks &here,
                  const std::function<Status(World &world, const std::function<PeakBytes()> &peak)> &body) const {
  installPoolAllocator();
  if (needsNccl)
    MESHPLAN_RETURN_IF_ERROR(prepareGpuRanks());
  return here.run(ranks, [&](World &hosts) -> Status {
    if (hosts.rank() == 0 && !output.empty())
      MESHPLAN_RETURN_IF_ERROR(AtomicFile::create(output).status());
    if (isCuda && beforeGpus)
      MESHPLAN_RETURN_IF_ERROR(beforeGpus(hosts));
    MESHPLAN_ASSIGN_OR_RETURN(Device device, chooseDevice(isCuda, here, hosts));
    auto pool = std::make_shared<MemoryPool>(), hostPool = std::make_shared<MemoryPool>();
    PoolScope pooled(pool, hostPool);
    ComputeScope compute(here.computeThreads(ranks), device);
    auto peak = [&] {
      return device.isHost() ? PeakBytes{pool->peak(), hostPool->peak()} : PeakBytes{peakDeviceBytes(device), 0};
    };
    auto onWorld = [&](World &world) { return body(world, peak); };
    return needsNccl ? runOverNccl(hosts, device, onWorld) : onWorld(hosts);
  });
}

Status meshplan::runRanks(const RunOptions &options, const Job &job, Ranks &ranks,
                          const std::function<Status(RankRun &)> &body) {
  RunOnDevices devices{.ranks = job.worldSize(),
                       .isCuda = job.isForCuda(),
                       .needsNccl = job.needsNccl(),
                       .output = options.trace,
                       .beforeGpus = [&](World &hosts) { return hosts.agree(job.artifact.hash()); }};
  return devices.run(ranks, [&](World &world, const std::function<PeakBytes()> &peak) -> Status {
    noteRegistration(job, world);
    MESHPLAN_ASSIGN_OR_RETURN(ProgramRunner program, ProgramRunner::create(job.artifact, *job.program, world));
    for (const auto &[name, number] : job.settings)
      MESHPLAN_RETURN_IF_ERROR(program.setNumber(name, number));
    RankRun run(world, program, peak, !options.trace.empty());
    return body(run);
  });
}
