//===- reports.cpp - memory and traces of all ranks -----------------------===//

#include "tools/meshplan_run/reports.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>

using namespace meshplan;

ClockReading meshplan::readClock() {
  ClockReading reading{"", Trace::Clock::now()};
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), reading.machine);
  return reading;
}

static nlohmann::json jsonOf(const RankMemory &memory) {
  return {{"parameters", memory.resident.parameters},
          {"constants", memory.resident.constants},
          {"inputs", memory.resident.inputs},
          {"states", memory.resident.states},
          {"accumulators", memory.resident.accumulators},
          {"peak", memory.peak.device},
          {"host_parameters", memory.resident.hostParameters},
          {"host_states", memory.resident.hostStates},
          {"host_peak", memory.peak.host}};
}

std::string meshplan::textOf(const RankReport &report) {
  nlohmann::json json = {{"memory", jsonOf(report.memory)},
                         {"trace", report.trace.text()},
                         {"machine", report.clock.machine},
                         {"now", report.clock.now.time_since_epoch().count()}};
  return json.dump();
}

Expected<RankReport> meshplan::reportOf(const std::string &text) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object())
    return Status(StatusCode::internal, "a rank's report is not readable");
  const nlohmann::json &memory = json["memory"];
  RankReport report;
  report.memory = {{memory["parameters"], memory["constants"], memory["inputs"], memory["states"],
                    memory["accumulators"], memory["host_parameters"], memory["host_states"]},
                   {memory["peak"], memory["host_peak"]}};
  MESHPLAN_ASSIGN_OR_RETURN(report.trace, Trace::fromText(json["trace"]));
  report.clock = {json["machine"], Trace::Clock::time_point(Trace::Clock::duration(json["now"]))};
  return report;
}

void Reports::add(RankReport report) {
  if (memory.empty())
    first = report.clock;
  if (report.clock.machine != first.machine)
    report.trace.shift(first.now - report.clock.now);
  memory.push_back(report.memory);
  traces.push_back(std::move(report.trace));
}

nlohmann::json meshplan::memoryJson(const Job &job, const Reports &reports) {
  nlohmann::json list = nlohmann::json::array();
  for (const RankMemory &rank : reports.memory)
    list.push_back(jsonOf(rank));
  nlohmann::json result = {{"ranks", std::move(list)}};
  if (const artifact::Memory *planned = job.program->memory())
    result["planned"] =
        jsonOf(RankMemory{{planned->parameters(), planned->constants(), planned->inputs(), planned->states(),
                           planned->accumulators(), planned->host_parameters(), planned->host_states()},
                          {job.plannedPeak(), planned->host_peak()}});
  return result;
}

static double mebibytes(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

/// The maximum over all ranks.
static int64_t largestOf(const Reports &reports, const std::function<int64_t(const RankMemory &)> &bytes) {
  int64_t largest = 0;
  for (const RankMemory &memory : reports.memory)
    largest = std::max(largest, bytes(memory));
  return largest;
}

static void printHostMemory(const artifact::Memory &planned, const Reports &reports) {
  int64_t parameters = largestOf(reports, [](const RankMemory &memory) { return memory.resident.hostParameters; });
  int64_t states = largestOf(reports, [](const RankMemory &memory) { return memory.resident.hostStates; });
  int64_t peak = largestOf(reports, [](const RankMemory &memory) { return memory.peak.host; });
  std::printf("on the host: parameters %.2f MiB (planned %.2f), states %.2f MiB (planned %.2f)", mebibytes(parameters),
              mebibytes(planned.host_parameters()), mebibytes(states), mebibytes(planned.host_states()));
  // Host memory of a rank on a device is not measured.
  if (peak > 0)
    std::printf(", peak %.2f MiB (planned %.2f)", mebibytes(peak), mebibytes(planned.host_peak()));
  std::printf("\n");
}

void meshplan::printMemory(const Job &job, const Reports &reports) {
  for (size_t rank = 0; rank < reports.memory.size(); ++rank) {
    const RankMemory &memory = reports.memory[rank];
    std::printf("rank %zu: parameters %.2f MiB, peak %.2f MiB\n", rank, mebibytes(memory.resident.parameters),
                mebibytes(memory.peak.device));
  }
  const artifact::Memory *planned = job.program->memory();
  if (!planned)
    return;
  int64_t parameters = largestOf(reports, [](const RankMemory &memory) { return memory.resident.parameters; });
  int64_t peak = largestOf(reports, [](const RankMemory &memory) { return memory.peak.device; });
  std::printf("largest: parameters %.2f MiB (planned %.2f), peak %.2f MiB (planned %.2f", mebibytes(parameters),
              mebibytes(planned->parameters()), mebibytes(peak), mebibytes(job.plannedPeak()));
  if (job.plannedPeak() > 0)
    std::printf(", %+.1f %%", 100.0 * (peak - job.plannedPeak()) / job.plannedPeak());
  std::printf(")\n");
  if (planned->host_peak() > 0)
    printHostMemory(*planned, reports);
}
