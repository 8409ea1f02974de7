//===- run_cases.cpp - many programs in one process -----------------------===//
//
// See README.md.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/artifact.h"
#include "runtime/artifact/sharding.h"
#include "runtime/comm/threads/run_threads.h"
#include "runtime/exec/program_runner.h"
#include "runtime/exec/shared_output.h"
#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/memory.h"
#include "test/lib/one_gpu/one_gpu.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>

using namespace meshplan;

namespace {

/// A line of the input.
struct Case {
  std::string program, schedule, weights, inputs, result;
};

Expected<std::unique_ptr<Feed>> openFeed(const std::string &path) {
  MESHPLAN_ASSIGN_OR_RETURN(TensorSource source, TensorSource::open(path));
  return std::unique_ptr<Feed>(std::make_unique<FileFeed>(std::move(source)));
}

Status runRank(const Artifact &artifact, const artifact::Program &program, const Case &each, World &world) {
  MESHPLAN_ASSIGN_OR_RETURN(auto weights, openFeed(each.weights));
  MESHPLAN_ASSIGN_OR_RETURN(auto inputs, openFeed(each.inputs));
  MESHPLAN_ASSIGN_OR_RETURN(ProgramRunner runner, ProgramRunner::create(artifact, program, world));
  MESHPLAN_ASSIGN_OR_RETURN(SharedOutput output, SharedOutput::open(world, each.result, outputSpecs(program)));
  MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(*weights));
  MESHPLAN_RETURN_IF_ERROR(runner.loadInputs(*inputs));
  MESHPLAN_RETURN_IF_ERROR(runner.run());
  MESHPLAN_RETURN_IF_ERROR(runner.walk().writeOutputs(output.writer()));
  return output.commit();
}

Status runOnDevice(const Artifact &artifact, const artifact::Program &program, const Case &each, World &hosts) {
  MESHPLAN_ASSIGN_OR_RETURN(Device device, sharedDevice(artifact.schedule(), hosts.rank()));
  auto pool = std::make_shared<MemoryPool>(), host = std::make_shared<MemoryPool>();
  PoolScope pooled(pool, host);
  ComputeScope compute(1, device);
  return runOnSharedDevice("run-cases", hosts, device,
                           [&](World &world) { return runRank(artifact, program, each, world); });
}

Status run(const Case &each) {
  MESHPLAN_ASSIGN_OR_RETURN(Artifact artifact, loadSchedule(each.schedule));
  MESHPLAN_ASSIGN_OR_RETURN(const artifact::Program *program, findProgram(artifact.schedule(), each.program));
  int64_t ranks = worldSizeOf(meshSizesOf(artifact.schedule(), *program));
  RankOptions options;
  options.timeout = std::chrono::seconds(60);
  // A thread cannot be ended from outside, so the remaining cases need another process.
  options.onStuck = [](const Status &cause, std::span<const int64_t>) {
    std::printf("stuck: %s\n", cause.message().c_str());
    std::fflush(stdout);
    std::_Exit(3);
  };
  return rootCause(
      runThreads(ranks, options, [&](World &hosts) { return runOnDevice(artifact, *program, each, hosts); }));
}

/// Words are separated by tabs, because paths may contain spaces.
Case parse(const std::string &line) {
  Case each;
  std::istringstream words(line);
  for (std::string *word : {&each.program, &each.schedule, &each.weights, &each.inputs, &each.result})
    std::getline(words, *word, '\t');
  return each;
}

} // namespace

int main() {
  installPoolAllocator();
  for (std::string line; std::getline(std::cin, line);) {
    Status status = run(parse(line));
    std::string message = status.ok() ? "ok" : "error: " + status.message();
    for (char &each : message)
      each = each == '\n' ? ' ' : each;
    std::printf("%s\n", message.c_str());
    std::fflush(stdout);
  }
  return 0;
}
