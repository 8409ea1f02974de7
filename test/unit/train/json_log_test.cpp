//===- json_log_test.cpp - a line of JSON for each step -------------------===//

#include "runtime/train/json_log.h"

#include "test/unit/temporary_directory.h"
#include "test/unit/train/step_reports.h"

#include <fstream>
#include <gmock/gmock.h>
#include <limits>
#include <nlohmann/json.hpp>

namespace meshplan {
namespace {

using nlohmann::json;
using testing::ElementsAre;

class JsonLog : public testing::Test {
protected:
  std::unique_ptr<ReportSink> open(int64_t steps = 0) {
    auto log = openJsonLog(path, steps);
    EXPECT_TRUE(log.ok()) << log.status().message();
    return *std::move(log);
  }

  std::vector<json> lines() const {
    std::vector<json> found;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
      found.push_back(json::parse(line));
    return found;
  }

  std::vector<int64_t> steps() const {
    std::vector<int64_t> found;
    for (const json &line : lines())
      found.push_back(line["step"]);
    return found;
  }

  TemporaryDirectory folder;
  std::string path = folder / "metrics.jsonl";
};

TEST_F(JsonLog, TokensOfExperts) {
  StepReport report = wholeReport(1, 3);
  report.experts = {{"layers.0.mlp", {10, 30}, 4}};
  EXPECT_TRUE(open()->step(report).ok());
  EXPECT_EQ(lines()[0]["experts"], (json::array({{{"module", "layers.0.mlp"}, {"tokens", {10, 30}}, {"dropped", 4}}})));
}

TEST_F(JsonLog, KeysOfAStep) {
  EXPECT_TRUE(open()->step(wholeReport(1, 3)).ok());
  ASSERT_EQ(lines().size(), 1u);
  json line = lines()[0];
  EXPECT_GT(line["time"], 1.7e9);
  line.erase("time");
  EXPECT_EQ(line, (json{{"kind", "step"},
                        {"step", 1},
                        {"loss", 2.5},
                        {"gradient_norm", 1.25},
                        {"learning_rates", {{"optimizer.lr", 3e-4}}},
                        {"loss_scale", 1024.0},
                        {"nonfinite", 0},
                        {"samples", 8},
                        {"tokens", 8192},
                        {"seconds", 0.5},
                        {"data_seconds", 0.125},
                        {"exposed_seconds", 0.0625},
                        {"checkpoint_seconds", 0.0},
                        {"peak_bytes", 3 << 20}}));
}

TEST_F(JsonLog, WhatIsNoNumberIsNull) {
  StepReport report;
  report.step = 1;
  report.loss = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(open()->step(report).ok());
  json line = lines()[0];
  for (const char *key : {"loss", "gradient_norm", "loss_scale", "exposed_seconds"})
    EXPECT_TRUE(line[key].is_null()) << key;
}

TEST_F(JsonLog, OtherKinds) {
  auto log = open();
  EXPECT_TRUE(log->step(wholeReport(4, 9)).ok());
  EXPECT_TRUE(log->evaluation({4, 0.0, 3, 24, 24, 1.5, 1.0}).ok());
  EXPECT_TRUE(log->evaluation({4, 0.5, 3, 24, 24, 1.5}).ok());
  EXPECT_TRUE(log->checkpoint({4, "run/step-000004"}).ok());
  EXPECT_TRUE(log->note("stopped").ok());
  std::vector<json> all = lines();
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[1]["perplexity"], 1.0);
  EXPECT_EQ(all[1]["batches"], 3);
  EXPECT_TRUE(all[2]["perplexity"].is_null());
  EXPECT_EQ(all[3]["path"], "run/step-000004");
  EXPECT_EQ(all[4]["text"], "stopped");
  EXPECT_THAT(steps(), ElementsAre(4, 4, 4, 4, 4));
}

TEST_F(JsonLog, ARunThatGoesOnDropsLaterSteps) {
  {
    auto log = open();
    for (int64_t step = 1; step <= 4; ++step)
      EXPECT_TRUE(log->step(wholeReport(step, 9)).ok());
    std::ofstream(path, std::ios::app) << R"({"kind":"st)"; // a run that was killed
  }
  EXPECT_TRUE(open(2)->step(wholeReport(3, 9)).ok());
  EXPECT_THAT(steps(), ElementsAre(1, 2, 3));
}

TEST_F(JsonLog, WhatIsSaidBeforeAStepBelongsToTheOneBefore) {
  EXPECT_TRUE(open(7)->note("continues").ok());
  EXPECT_THAT(steps(), ElementsAre(7));
}

TEST_F(JsonLog, ANewRunWritesOverNoOther) {
  EXPECT_TRUE(open()->step(wholeReport(1, 3)).ok());
  auto again = openJsonLog(path, 0);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.status().message(),
            "--log: '" + path + "' has lines of another run; help: name another file, or remove it");
  EXPECT_THAT(steps(), ElementsAre(1));
}

TEST_F(JsonLog, AFolderThatIsNotThere) {
  auto log = openJsonLog(folder / "no/metrics.jsonl", 0);
  ASSERT_FALSE(log.ok());
  EXPECT_EQ(log.status().code(), StatusCode::notFound);
  EXPECT_THAT(log.status().message(), testing::HasSubstr("no/metrics.jsonl"));
}

} // namespace
} // namespace meshplan
