//===- calibrate.cpp - meshplan-run calibrate -----------------------------===//

#include "runtime/calibrate/calibrate.h"

#include "runtime/base/file.h"
#include "runtime/launch/placement.h"
#include "runtime/tensor/compute_scope.h"
#include "tools/meshplan_run/rank_run.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <span>

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
  Status measure(World &world) const;
  Status write(const std::string &text) const;
};

} // namespace

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
  measured.seconds = calibration.seconds;
  MESHPLAN_ASSIGN_OR_RETURN(std::string text, calibrate(world, measured));
  return text.empty() ? Status() : write(text);
}

Status CalibrationRun::run(Ranks &here) const {
  RunOnDevices devices{.ranks = ranks,
                       .isCuda = isCuda,
                       .needsNccl = isCuda && ranks > 1,
                       .output = calibration.output,
                       .beforeGpus = nullptr};
  return devices.run(here, [&](World &world, const std::function<PeakBytes()> &) { return measure(world); });
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
