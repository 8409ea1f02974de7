//===- run_records.cpp - sharded calls against calls on one rank ----------===//
//
// run-records FILE.sched
//
// For each pair of programs `p` and `p.whole` (see record_programs.cpp): runs p on simulated ranks and p.whole on one,
// with the same random inputs, and compares every output. A sum of a few dozen terms in float32 may differ by its
// order: 1e-5 relative to the largest element of the output; 16-bit types round to 8 bits, so 2e-2. The rank with the
// largest memory must have held what was planned. A schedule for cuda runs on one GPU (../one_gpu), where memory is not
// metered.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/sharding.h"
#include "runtime/comm/threads/run_threads.h"
#include "runtime/exec/program_runner.h"
#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/memory.h"
#include "test/lib/one_gpu/one_gpu.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <unistd.h>

using namespace meshplan;

namespace {

/// Depends on the narrowest dtype of the program: 16-bit addends are rounded before they are widened.
double toleranceOf(const artifact::Program &program) {
  for (const artifact::Value *value : *program.values())
    if (isFloat(dtypeOf(value->dtype())) && dtypeSize(dtypeOf(value->dtype())) == 2)
      return 2e-2;
  return 1e-5;
}

/// Elements depend only on the name and the global position. Names are `number`, `number:low:high` or, for consecutive
/// numbers, `number:counted`. Without bounds, floats are in [-1, 1) and integers in [0, 8).
class SampleFeed final : public Feed {
public:
  Status read(const FeedRequest &request, std::span<std::byte> out) const override {
    const std::string &name = request.names.front();
    Bounds bounds = parse(name);
    int64_t size = dtypeSize(request.dtype);
    return forEachRun(request.ranges, request.shape, contiguousStrides(request.shape),
                      [&](int64_t global, int64_t local, int64_t count) {
                        for (int64_t i = 0; i < count; ++i)
                          write(bounds.counted ? static_cast<double>(global + i)
                                               : noise(std::atoi(name.c_str()), global + i),
                                bounds, request.dtype, &out[(local + i) * size]);
                        return Status();
                      });
  }

private:
  struct Bounds {
    bool given = false, counted = false;
    double low = 0, high = 8;
  };

  static Bounds parse(const std::string &name) {
    Bounds bounds;
    size_t first = name.find(':');
    if (name.ends_with(":counted"))
      return {.given = true, .counted = true, .low = 0, .high = 1};
    if (first != std::string::npos) {
      bounds.given = true;
      bounds.low = std::atof(name.c_str() + first + 1);
      bounds.high = std::atof(name.c_str() + name.find(':', first + 1) + 1);
    }
    return bounds;
  }

  /// Uniform in [0, 1), from SplitMix64.
  static double noise(uint64_t seed, uint64_t place) {
    uint64_t bits = seed * 0x632be59bd9b4e019 + (place + 1) * 0x9e3779b97f4a7c15;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((bits ^ (bits >> 31)) >> 11) / static_cast<double>(1ull << 53);
  }

  static void write(double value, Bounds bounds, DType dtype, std::byte *out) {
    if (isFloat(dtype)) {
      double low = bounds.given ? bounds.low : -1, high = bounds.given ? bounds.high : 1;
      auto number = static_cast<float>(low + value * (high - low));
      convertFloats(reinterpret_cast<const std::byte *>(&number), DType::f32, out, dtype, 1);
      return;
    }
    auto number = static_cast<int64_t>(std::floor(bounds.low + value * (bounds.high - bounds.low)));
    if (dtype == DType::boolean)
      number = value < 0.5 ? 0 : 1;
    std::memcpy(out, &number, dtypeSize(dtype));
  }
};

/// True on the kind of processor for which the costs describe the memory of kernels.
bool isPlannedProcessor() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16") && !__builtin_cpu_supports("amx-tile");
#else
  return false;
#endif
}

/// The rank with the largest memory must have held what was planned. Samples are tiny, and kernels have buffers of a
/// page or two that are not planned exactly.
Status checkMemory(const artifact::Program &program, int64_t held) {
  constexpr int64_t buffers = 2 * 4096;
  constexpr double tolerance = 0.05;
  auto planned = static_cast<double>(program.memory()->peak());
  bool isPlanned = std::abs(static_cast<double>(held) - planned) <= tolerance * planned + buffers;
  return isPlanned || !isPlannedProcessor()
             ? Status()
             : Status::error(StatusCode::invalid, "held ", held, " bytes, planned ", program.memory()->peak());
}

/// The whole outputs of a program, as the bytes of a file.
Expected<TensorSource> runProgram(const Artifact &artifact, const artifact::Program &program, const std::string &path) {
  MESHPLAN_ASSIGN_OR_RETURN(SafetensorsWriter writer, SafetensorsWriter::create(path, outputSpecs(program)));
  int64_t ranks = worldSizeOf(meshSizesOf(artifact.schedule(), program));
  SampleFeed feed;
  RankOptions options;
  options.timeout = std::chrono::seconds(60);
  std::vector<int64_t> peaks(ranks);
  auto runRank = [&](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(ProgramRunner runner, ProgramRunner::create(artifact, program, world));
    MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(feed));
    MESHPLAN_RETURN_IF_ERROR(runner.loadInputs(feed));
    MESHPLAN_RETURN_IF_ERROR(runner.run());
    return runner.walk().writeOutputs(writer);
  };
  std::vector<Status> statuses = runThreads(ranks, options, [&](World &hosts) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(Device device, sharedDevice(artifact.schedule(), hosts.rank()));
    auto pool = std::make_shared<MemoryPool>();
    PoolScope pooled(pool, pool);
    ComputeScope compute(1, device);
    Status status = runOnSharedDevice("run-records", hosts, device, runRank);
    peaks[hosts.rank()] = pool->peak();
    return status;
  });
  MESHPLAN_RETURN_IF_ERROR(rootCause(statuses));
  if (isForHost(artifact.schedule()))
    MESHPLAN_RETURN_IF_ERROR(checkMemory(program, *std::ranges::max_element(peaks)));
  MESHPLAN_RETURN_IF_ERROR(writer.commit());
  return TensorSource::open(path);
}

/// Elements as doubles.
Expected<std::vector<double>> readOutput(const TensorSource &source, const TensorSpec &spec) {
  MESHPLAN_ASSIGN_OR_RETURN(const StoredTensor *tensor,
                            source.require(std::vector<std::string>{spec.name}, spec.shape));
  int64_t count = 1;
  SliceRanges ranges;
  for (int64_t extent : spec.shape) {
    count *= extent;
    ranges.push_back({{0, extent}});
  }
  std::vector<double> values(count);
  std::vector<std::byte> bytes(count * dtypeSize(spec.dtype));
  MESHPLAN_RETURN_IF_ERROR(source.read(*tensor, ranges, spec.dtype, bytes));
  for (int64_t i = 0; i < count; ++i) {
    const std::byte *element = &bytes[i * dtypeSize(spec.dtype)];
    if (isFloat(spec.dtype)) {
      convertFloats(element, spec.dtype, reinterpret_cast<std::byte *>(&values[i]), DType::f64, 1);
      continue;
    }
    int64_t number = 0;
    std::memcpy(&number, element, dtypeSize(spec.dtype));
    values[i] = static_cast<double>(number);
  }
  return values;
}

/// True if equal up to the order of sums. NaN equals NaN.
bool agree(const std::vector<double> &ours, const std::vector<double> &whole, double tolerance) {
  double largest = 0;
  for (double value : whole)
    if (std::isfinite(value))
      largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < whole.size(); ++i) {
    bool same = ours[i] == whole[i] || (std::isnan(ours[i]) && std::isnan(whole[i])) ||
                std::abs(ours[i] - whole[i]) <= tolerance * largest;
    if (!same)
      return false;
  }
  return true;
}

Expected<bool> comparePair(const Artifact &artifact, const artifact::Program &program, const std::string &folder) {
  std::string name = program.name()->str();
  MESHPLAN_ASSIGN_OR_RETURN(const artifact::Program *whole, findProgram(artifact.schedule(), name + ".whole"));
  MESHPLAN_ASSIGN_OR_RETURN(TensorSource ours, runProgram(artifact, program, folder + "/ours.safetensors"));
  MESHPLAN_ASSIGN_OR_RETURN(TensorSource reference, runProgram(artifact, *whole, folder + "/whole.safetensors"));
  bool right = true;
  for (const TensorSpec &spec : outputSpecs(program)) {
    if (spec.name.ends_with(":unspecified"))
      continue;
    MESHPLAN_ASSIGN_OR_RETURN(std::vector<double> left, readOutput(ours, spec));
    MESHPLAN_ASSIGN_OR_RETURN(std::vector<double> expected, readOutput(reference, spec));
    right &= agree(left, expected, toleranceOf(program));
  }
  return right;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "run-records: needs FILE.sched\n");
    return 2;
  }
  Expected<Artifact> artifact = loadSchedule(argv[1]);
  if (!artifact.ok()) {
    std::fprintf(stderr, "run-records: %s\n", artifact.status().message().c_str());
    return 1;
  }
  installPoolAllocator();
  std::string folder = std::filesystem::temp_directory_path() / ("run-records-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  int passed = 0, failed = 0;
  for (const artifact::Program *program : *(*artifact).schedule().programs()) {
    if (program->name()->str().ends_with(".whole"))
      continue;
    Expected<bool> right = comparePair(*artifact, *program, folder);
    if (right.ok() && *right) {
      ++passed;
      continue;
    }
    ++failed;
    std::printf("%s: %s\n", program->name()->c_str(),
                right.ok() ? "differs from the whole" : right.status().message().c_str());
  }
  std::filesystem::remove_all(folder);
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed || !passed ? 1 : 0;
}
