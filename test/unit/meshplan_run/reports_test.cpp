#include "tools/meshplan_run/reports.h"

#include "test/unit/temporary_directory.h"

#include <fstream>
#include <gmock/gmock.h>

using namespace meshplan;

namespace {

using Clock = Trace::Clock;

Clock::time_point moment(int64_t milliseconds) { return Clock::time_point(std::chrono::milliseconds(milliseconds)); }

/// A report with one event at `begin`, from a machine whose clock shows `now` when all ranks meet.
RankReport reportWith(const std::string &machine, int64_t now, int64_t begin, int64_t peak = 0) {
  RankReport report;
  report.memory = {{10, 20, 30}, {peak, 0}};
  report.trace.add({.what = "aten.mm.default"}, 0, moment(begin), moment(begin + 5));
  report.clock = {machine, moment(now)};
  return report;
}

/// Milliseconds from the first event of all ranks to the first event of each.
std::vector<double> beginnings(const Reports &reports) {
  TemporaryDirectory folder;
  EXPECT_TRUE(writeTraces(folder / "t.json", reports.traces).ok());
  nlohmann::json file = nlohmann::json::parse(std::ifstream(folder / "t.json"));
  std::vector<double> times;
  for (const nlohmann::json &event : file["traceEvents"])
    if (event["ph"] == "X")
      times.push_back(event["ts"].get<double>() / 1000);
  return times;
}

} // namespace

TEST(ReportsTest, AReportSurvivesItsText) {
  RankReport report = reportWith("boot-7", 123'456, 100);
  report.memory = {{1, int64_t(1) << 40, 0, 2, 3}, {INT64_MAX, 7}};
  auto taken = reportOf(textOf(report));
  ASSERT_TRUE(taken.ok()) << taken.status().message();
  EXPECT_EQ(taken->memory.resident.parameters, 1);
  EXPECT_EQ(taken->memory.resident.constants, int64_t(1) << 40);
  EXPECT_EQ(taken->memory.resident.inputs, 0);
  EXPECT_EQ(taken->memory.resident.states, 2);
  EXPECT_EQ(taken->memory.resident.accumulators, 3);
  EXPECT_EQ(taken->memory.peak.device, INT64_MAX);
  EXPECT_EQ(taken->memory.peak.host, 7);
  EXPECT_EQ(taken->trace.text(), report.trace.text());
  EXPECT_EQ(taken->clock.machine, "boot-7");
  EXPECT_EQ(taken->clock.now, report.clock.now);
}

TEST(ReportsTest, TextsThatAreNoReport) {
  for (const char *text : {"", "[]", "3", "{", "null"}) {
    auto report = reportOf(text);
    EXPECT_EQ(report.status().code(), StatusCode::internal);
    EXPECT_EQ(report.status().message(), "a rank's report is not readable") << text;
  }
}

TEST(ReportsTest, RanksOfOneMachineShareItsClock) {
  Reports reports;
  EXPECT_FALSE(reports.here());
  // Ranks of one machine read its clock at slightly different moments; their traces need no correction.
  reports.add(reportWith("a", 1000, 100));
  reports.add(reportWith("a", 1003, 130));
  EXPECT_TRUE(reports.here());
  EXPECT_THAT(beginnings(reports), testing::ElementsAre(0, 30));
}

TEST(ReportsTest, TimesOfOtherMachinesAreMovedToTheFirstClock) {
  Reports reports;
  reports.add(reportWith("a", 1000, 900));  // 100 ms before they met
  reports.add(reportWith("b", 500, 420));   // 80 ms before
  reports.add(reportWith("c", 9000, 8850)); // 150 ms before
  reports.add(reportWith("a", 1000, 910));  // 90 ms before
  EXPECT_THAT(beginnings(reports), testing::ElementsAre(50, 70, 0, 60));
}

TEST(ReportsTest, MemoryIsInTheOrderOfTheRanks) {
  Reports reports;
  for (int64_t peak : {7, 5, 6})
    reports.add(reportWith("a", 0, 0, peak));
  std::vector<int64_t> peaks;
  for (const RankMemory &memory : reports.memory)
    peaks.push_back(memory.peak.device);
  EXPECT_THAT(peaks, testing::ElementsAre(7, 5, 6));
}

TEST(ReportsTest, TheClockOfThisMachine) {
  ClockReading first = readClock(), second = readClock();
  EXPECT_FALSE(first.machine.empty());
  EXPECT_EQ(first.machine, second.machine);
  EXPECT_LE(first.now, second.now);
}
