//===- calibrate.cpp - meshplan-run calibrate -----------------------------===//

#include "runtime/calibrate/calibrate.h"

#include "runtime/base/file.h"
#include "runtime/launch/placement.h"
#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/memory.h"
#include "tools/meshplan_run/ranks/gpu_rank.h"
#include "tools/meshplan_run/ranks/ranks.h"
#include "tools/meshplan_run/reports.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <span>
#include <thread>

using namespace meshplan;

/// The value of the first line "KEY: VALUE" of a file of the system; empty without one.
static std::string valueOf(const std::filesystem::path &path, std::string_view key) {
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with(key)) {
      std::string value = line.substr(std::min(line.find(':') + 1, line.size()));
      return value.substr(std::min(value.find_first_not_of(" \t"), value.size()));
    }
  return "";
}

/// "AMD EPYC 7763 64-Core Processor", "NVIDIA H100 80GB HBM3": as the kernel and NVIDIA's driver list them.
static std::string deviceName(bool isCuda) {
  std::string name = isCuda ? "" : valueOf("/proc/cpuinfo", "model name");
  std::error_code missing;
  if (isCuda)
    for (const auto &gpu : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", missing))
      if (name.empty())
        name = valueOf(gpu.path() / "information", "Model");
  return name.empty() ? "unknown" : name;
}

namespace {

/// How this process measures.
struct CalibrationRun {
  const RunOptions &options;
  const CalibrateOptions &calibration;
  int64_t ranks = 1;
  bool isCuda = false;
  std::string backend;

  Status run(Ranks &here) const;

private:
  Expected<Device> chooseDevice(const Ranks &here, World &hosts) const;
  Status measure(World &world) const;
  Status write(const std::string &text) const;
};

} // namespace

Expected<Device> CalibrationRun::chooseDevice(const Ranks &here, World &hosts) const {
  if (!isCuda)
    return Device();
  MESHPLAN_ASSIGN_OR_RETURN(int gpus, countCudaDevices());
  MESHPLAN_ASSIGN_OR_RETURN(int gpu, gpuOfRank(hosts.rank(), here.localRank(hosts.rank()), gpus));
  return Device{DeviceKind::cuda, gpu};
}

Status CalibrationRun::write(const std::string &text) const {
  MESHPLAN_RETURN_IF_ERROR(writeFileAtomically(calibration.output, std::as_bytes(std::span(text))));
  std::cout << "meshplan-run: wrote " + calibration.output + ": " + std::to_string(ranks) +
                   (ranks == 1 ? " rank" : " ranks") + " over " + backend + "\n";
  return Status();
}

Status CalibrationRun::measure(World &world) const {
  CalibrationOptions measured;
  measured.backend = backend;
  measured.machine = readClock().machine;
  measured.deviceName = deviceName(isCuda);
  measured.coresPerNode = std::thread::hardware_concurrency();
  measured.seconds = calibration.seconds;
  MESHPLAN_ASSIGN_OR_RETURN(std::string text, calibrate(world, measured));
  return text.empty() ? Status() : write(text);
}

Status CalibrationRun::run(Ranks &here) const {
  installPoolAllocator();
  return here.run(ranks, [&](World &hosts) -> Status {
    // The file is written at the end; a path that cannot be written fails now.
    if (hosts.rank() == 0)
      MESHPLAN_RETURN_IF_ERROR(AtomicFile::create(calibration.output).status());
    MESHPLAN_ASSIGN_OR_RETURN(Device device, chooseDevice(here, hosts));
    auto pool = std::make_shared<MemoryPool>(), hostPool = std::make_shared<MemoryPool>();
    PoolScope pooled(pool, hostPool);
    ComputeScope compute(here.computeThreads(ranks), device);
    auto body = [&](World &world) { return measure(world); };
    return isCuda && ranks > 1 ? runOverNccl(hosts, device, body) : body(hosts);
  });
}

int meshplan::runCalibrate(const RunOptions &options, const CalibrateOptions &calibration) {
  auto placement = placementOf(environmentOfProcess());
  if (!placement)
    return reportError(placement.status());
  bool isAlone = placement->alone(), isCuda = options.backend == "nccl";
  int64_t started = isAlone ? threadsPerRank(1) : placement->size.value_or(0);
  int64_t ranks = calibration.ranks > 0 ? calibration.ranks : started;
  if (ranks == 0)
    return reportError(
        Status(StatusCode::invalid, "the launcher does not give the number of ranks; help: add -n RANKS"));
  if (options.backend == "mpi" && isAlone)
    return reportError(Status(StatusCode::invalid,
                              "--backend mpi measures the processes that a launcher starts, and this one was started "
                              "alone; help: mpirun -n RANKS meshplan-run calibrate -o FILE"));
  std::string backend = isCuda ? "nccl" : isAlone ? "threads" : "mpi";
  CalibrationRun run{options, calibration, ranks, isCuda, backend};
  return runCommand(options, {isCuda ? "cuda" : "cpu", ranks}, [&](Ranks &here) { return run.run(here); });
}
