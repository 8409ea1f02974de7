//===- verify_report_test.cpp - findings of verify ------------------------===//

#include "tools/meshplan_run/verify_report.h"

#include "test/unit/verify/verified_step.h"

#include <gmock/gmock.h>
#include <limits>

using namespace meshplan;

namespace {

class VerifyReportTest : public testing::Test {
protected:
  VerifyReportTest() {
    step.write(folder / "a.sched");
    RunOptions options;
    options.schedule = folder / "a.sched";
    options.program.clear();
    job.emplace(*Job::load(options));
    verification.subjects = *subjectsOf(*job->program, **findReference(job->artifact));
    verification.verdicts.resize(verification.subjects.size(), {{1e-8, 1e-7, 4e-7}, 1, {}});
    verification.draws = 1;
  }

  VerifiedStep step;
  TemporaryDirectory folder;
  std::optional<Job> job;
  Verification verification;
};

TEST_F(VerifyReportTest, WhatIsRight) {
  EXPECT_TRUE(verification.isRight());
  EXPECT_EQ(verificationText(*job, verification),
            "program 'step' on 2 ranks, against LibTorch on one\n"
            "what           tensors  wrong  worst error  bound     ratio     rank  of\n"
            "output               1      0  1.00e-08     4.00e-07  0.025        1  loss\n"
            "gradient             1      0  1.00e-08     4.00e-07  0.025        1  w\n"
            "gradient norm        1      0  1.00e-08     4.00e-07  0.025        1  of all\n"
            "parameter            1      0  1.00e-08     4.00e-07  0.025        1  w\n"
            "ok\n");
}

TEST_F(VerifyReportTest, WhatIsWrongSaysWhere) {
  verification.verdicts[0] = {{0.5, 1e-7, 4e-7}, 0, {0, 1}};
  verification.verdicts[1] = {{3, 1e-7, 4e-7}, 1, {1}};
  EXPECT_FALSE(verification.isRight());
  EXPECT_EQ(verificationText(*job, verification),
            "program 'step' on 2 ranks, against LibTorch on one\n"
            "what           tensors  wrong  worst error  bound     ratio     rank  of\n"
            "output               1      1  5.00e-01     4.00e-07  1.2e+06      0  loss\n"
            "gradient             1      1  3.00e+00     4.00e-07  7.5e+06      1  w\n"
            "gradient norm        1      0  1.00e-08     4.00e-07  0.025        1  of all\n"
            "parameter            1      0  1.00e-08     4.00e-07  0.025        1  w\n"
            "WRONG: gradient 'w', [4 over dp] f32\n"
            "  error 3.000e+00 on rank 1, PyTorch's own 1.000e-07, bound 4.000e-07; wrong on rank 1\n"
            "  made by aten.relu.default, at test.plan:3:3 loss, module head\n"
            "  parameter placed at test.plan:3:3 loss, module head\n"
            "WRONG: output 'loss', [] f32\n"
            "  error 5.000e-01 on rank 0, PyTorch's own 1.000e-07, bound 4.000e-07; wrong on ranks 0, 1\n"
            "  made by all_reduce 0 over dp, at test.plan:3:3 loss, module head\n"
            "WRONG\n");
}

TEST_F(VerifyReportTest, TheWorstOfMany) {
  Subject gradient = verification.subjects[1];
  verification.subjects.assign(10, gradient);
  verification.verdicts.assign(10, {{3, 1e-7, 4e-7}, 1, {1}});
  EXPECT_THAT(verificationText(*job, verification), testing::HasSubstr("and 2 more, which --json lists\nWRONG\n"));
}

TEST_F(VerifyReportTest, Json) {
  verification.verdicts[1] = {{std::numeric_limits<double>::infinity(), 1e-7, 4e-7}, 1, {1}};
  nlohmann::json report = nlohmann::json::parse(verificationJson(*job, verification).dump());
  EXPECT_EQ(report["right"], false);
  EXPECT_EQ(report["world_size"], 2);
  EXPECT_EQ(report["batches"], 1);
  EXPECT_EQ(report["tensors"].size(), 4);
  const nlohmann::json &gradient = report["tensors"][1];
  EXPECT_EQ(gradient["what"], "gradient");
  EXPECT_EQ(gradient["name"], "w");
  EXPECT_TRUE(gradient["error"].is_null()) << "no finite number";
  EXPECT_EQ(gradient["bound"], 4e-7);
  EXPECT_EQ(gradient["wrong_ranks"], nlohmann::json({1}));
  EXPECT_EQ(gradient["layout"], "[4 over dp] f32");
  EXPECT_EQ(gradient["made_by"], "aten.relu.default, at test.plan:3:3 loss, module head");
  EXPECT_EQ(gradient["placed_at"], "test.plan:3:3 loss, module head");
}

} // namespace
