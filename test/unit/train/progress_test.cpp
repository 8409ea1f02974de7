//===- progress_test.cpp - progress lines of a run ------------------------===//

#include "runtime/train/progress.h"

#include "test/unit/train/step_reports.h"

#include <gtest/gtest.h>
#include <sstream>

namespace meshplan {
namespace {

TEST(Progress, Durations) {
  EXPECT_EQ(durationText(0.0075), "7.5 ms");
  EXPECT_EQ(durationText(0.8249), "0.82 s");
  EXPECT_EQ(durationText(9.994), "9.99 s");
  EXPECT_EQ(durationText(45.2), "45 s");
  EXPECT_EQ(durationText(59.7), "1 min 00 s");
  EXPECT_EQ(durationText(200), "3 min 20 s");
  EXPECT_EQ(durationText(3725), "1 h 02 min");
}

TEST(Progress, Rates) {
  EXPECT_EQ(rateText(0.5), "0.50");
  EXPECT_EQ(rateText(12.34), "12.3");
  EXPECT_EQ(rateText(812.2), "812");
  EXPECT_EQ(rateText(12345), "12,345");
  EXPECT_EQ(rateText(1234567), "1,234,567");
}

TEST(Progress, Bytes) {
  EXPECT_EQ(bytesText(14 << 10), "14 KiB");
  EXPECT_EQ(bytesText(812 << 20), "812 MiB");
  EXPECT_EQ(bytesText(int64_t(5) << 28), "1.25 GiB");
}

TEST(Progress, APlainLineHasAllNumbers) {
  std::ostringstream out;
  auto progress = makeProgress(out, /*isTerminal=*/false);
  EXPECT_TRUE(progress->step(wholeReport(1, 3)).ok());
  EXPECT_EQ(out.str(), "step 1/3  loss 2.5000  lr 3.00e-04  norm 1.25  16,384 tokens/s  step 0.50 s  waiting 62.5 ms  "
                       "peak 3 MiB\n");
}

TEST(Progress, ExpertsAreComparedWithTheMeanOfTheirLayer) {
  std::ostringstream out;
  StepReport report = wholeReport(1, 3);
  report.experts = {{"layers.0.mlp", {10, 30, 20, 20}, 0}, {"layers.1.mlp", {0, 0, 0, 0}, 0}};
  auto progress = makeProgress(out, /*isTerminal=*/false);
  EXPECT_TRUE(progress->step(report).ok());
  EXPECT_NE(out.str().find("norm 1.25  experts 0.50 to 1.50  16,384 tokens/s"), std::string::npos) << out.str();
  report.step = 3;
  report.experts[0].dropped = 20;
  EXPECT_TRUE(progress->step(report).ok());
  EXPECT_NE(out.str().find("experts 0.50 to 1.50  dropped 10 %"), std::string::npos) << out.str();
}

TEST(Progress, WithoutTokensSamplesCount) {
  std::ostringstream out;
  StepReport report;
  report.step = report.lastStep = 1;
  report.samples = 4;
  report.seconds = 2;
  report.nonfinite = 12;
  EXPECT_TRUE(makeProgress(out, false)->step(report).ok());
  EXPECT_EQ(out.str(), "step 1/1  loss 0.0000  skipped: 12 elements of the gradients are not finite  2.00 samples/s  "
                       "step 2.00 s  peak 0 KiB\n");
}

TEST(Progress, StepsWithinASecondAreLeftOutButForTheLast) {
  std::ostringstream out;
  auto progress = makeProgress(out, false);
  for (int64_t step = 1; step <= 5; ++step)
    EXPECT_TRUE(progress->step(wholeReport(step, 5)).ok());
  std::string text = out.str();
  EXPECT_TRUE(text.starts_with("step 1/5")) << text;
  EXPECT_EQ(text.find("step 2/5"), std::string::npos);
  EXPECT_NE(text.find("step 5/5"), std::string::npos);
}

TEST(Progress, OnATerminalALineIsWrittenOver) {
  std::ostringstream out;
  auto progress = makeProgress(out, /*isTerminal=*/true);
  EXPECT_TRUE(progress->step(wholeReport(1, 3)).ok());
  EXPECT_TRUE(progress->step(wholeReport(2, 3)).ok());
  EXPECT_TRUE(progress->evaluation({2, 1.0, 3, 24, 24, 0.25, 2.718}).ok());
  EXPECT_TRUE(progress->checkpoint({2, "run/step-000002"}).ok());
  EXPECT_TRUE(progress->step(wholeReport(3, 3)).ok());
  EXPECT_TRUE(progress->finish().ok());
  std::string text = out.str();
  EXPECT_TRUE(text.starts_with("\rstep 1/3")) << text;
  EXPECT_NE(text.find("\rstep 2/3"), std::string::npos) << text;
  EXPECT_NE(text.find("  left 0.50 s\nevaluation after step 2: loss 1.0000  perplexity 2.72  (24 samples, 0.25 s)\n"
                      "saved run/step-000002\n\rstep 3/3"),
            std::string::npos)
      << text;
  EXPECT_TRUE(text.ends_with("peak 3 MiB\n")) << text;
}

TEST(Progress, AnEvaluationSaysHowManySamplesItLeavesOut) {
  std::ostringstream out;
  EvaluationReport report{.step = 2, .loss = 0, .batches = 3, .samples = 24, .samplesThere = 30, .seconds = 0.25};
  EXPECT_TRUE(makeProgress(out, false)->evaluation(report).ok());
  EXPECT_EQ(out.str(), "evaluation after step 2: loss 0.0000  (24 of 30 samples, 0.25 s)\n");
}

TEST(Progress, AnOpenLineIsEnded) {
  std::ostringstream out;
  auto progress = makeProgress(out, true);
  EXPECT_TRUE(progress->step(wholeReport(1, 3)).ok());
  EXPECT_TRUE(progress->finish().ok());
  EXPECT_TRUE(progress->finish().ok());
  EXPECT_TRUE(out.str().ends_with("MiB\n"));
}

} // namespace
} // namespace meshplan
