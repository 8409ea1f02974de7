//===- rank_check_test.cpp - ranks against their reference ----------------===//

#include "runtime/verify/rank_check.h"

#include "runtime/comm/threads/run_threads.h"
#include "runtime/tensor/compute_scope.h"
#include "runtime/verify/verdicts.h"
#include "test/unit/verify/verified_step.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

/// The findings of both ranks, after a change of the step.
std::vector<std::vector<Finding>> findingsAfter(const std::function<void(VerifiedStep &)> &change) {
  Artifact artifact = artifactAfter(change);
  const artifact::Program &program = **verifiedProgram(artifact.schedule());
  TensorFeed weights(VerifiedStep::weights()), inputs(VerifiedStep::inputs());
  Reference reference = *Reference::load(artifact, weights, inputs);
  std::vector<Subject> subjects = *subjectsOf(program, reference.program());
  Exact exact = *Exact::make(reference, subjects, 1);
  std::vector<std::vector<Finding>> findings(2);
  auto body = [&](World &world) -> Status {
    ComputeScope compute(1);
    MESHPLAN_ASSIGN_OR_RETURN(ProgramRunner runner, ProgramRunner::create(artifact, program, world));
    MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(weights));
    MESHPLAN_RETURN_IF_ERROR(runner.loadInputs(inputs));
    RankCheck check(runner, world, subjects);
    MESHPLAN_RETURN_IF_ERROR(check.run());
    MESHPLAN_ASSIGN_OR_RETURN(findings[world.rank()], check.find(world.rank() == 0 ? &exact : nullptr));
    return Status();
  };
  for (const Status &status : runThreads(2, {}, body))
    EXPECT_TRUE(status.ok()) << status.message();
  return findings;
}

/// By subject (loss, gradient, norm, parameter), of the worse rank.
std::vector<double> errorsAfter(const std::function<void(VerifiedStep &)> &change) {
  std::vector<double> errors(4);
  for (const std::vector<Finding> &ofRank : findingsAfter(change))
    for (size_t i = 0; i < ofRank.size(); ++i)
      errors[i] = std::max(errors[i], ofRank[i].errors.largest);
  return errors;
}

} // namespace

TEST(RankCheckTest, AStepThatIsRight) {
  for (double error : errorsAfter([](VerifiedStep &) {}))
    EXPECT_LT(error, 1e-6);
}

TEST(RankCheckTest, ParametersHaveNumbersOfTheirOwn) {
  auto findings = findingsAfter([](VerifiedStep &) {});
  EXPECT_GT(findings[0][3].magnitude, 0.5);
  EXPECT_GT(findings[1][3].magnitude, 1.5) << "the other half of the parameter";
  EXPECT_LT(findings[0][3].own, 1e-6);
}

/// The gradient is wrong, and with it the norm; the optimizer does right with it.
TEST(RankCheckTest, AWrongGradient) {
  std::vector<double> errors =
      errorsAfter([](VerifiedStep &step) { step.call("aten.relu.default").target = "aten.neg.default"; });
  EXPECT_LT(errors[0], 1e-6);
  EXPECT_DOUBLE_EQ(errors[1], 6) << "-3 in place of 3";
  EXPECT_LT(errors[2], 1e-6) << "which has no sign";
  EXPECT_LT(errors[3], 1e-6);
}

TEST(RankCheckTest, AWrongOptimizer) {
  std::vector<double> errors = errorsAfter([](VerifiedStep &step) {
    std::erase_if(step.call("meshplan.sgd").args, [](const auto &arg) { return arg->name == "factor"; });
  });
  EXPECT_LT(errors[1], 1e-6);
  EXPECT_GT(errors[3], 0.1) << "not clipped";
}

TEST(RankCheckTest, AWrongNorm) {
  std::vector<double> errors =
      errorsAfter([](VerifiedStep &step) { step.call("meshplan.square_sum").target = "aten.sum.default"; });
  EXPECT_LT(errors[1], 1e-6);
  EXPECT_GT(errors[2], 0.1);
  EXPECT_LT(errors[3], 1e-6) << "clipped by the norm that the ranks have found";
}

/// One number that is wrong in no draw takes all of them.
TEST(RankCheckTest, DrawsUntilItIsRightOrNoMoreCount) {
  Artifact artifact = artifactAfter();
  TensorFeed weights(VerifiedStep::weights()), inputs(VerifiedStep::inputs());
  ComputeScope compute(1);
  Reference reference = *Reference::load(artifact, weights, inputs);
  std::vector<Subject> subjects = *subjectsOf(**verifiedProgram(artifact.schedule()), reference.program());
  auto drawsFor = [&](double lossError, double gradientError, bool isHalf) {
    for (Subject &subject : subjects)
      subject.isHalf = isHalf;
    Exact exact = *Exact::make(reference, subjects, 1);
    std::vector<Finding> findings(subjects.size());
    findings[0].errors = {lossError, lossError};
    findings[1].errors = {gradientError, gradientError};
    EXPECT_TRUE(judgeWithDraws(subjects, std::span(&findings, 1), exact).ok());
    return exact.draws();
  };
  EXPECT_EQ(drawsFor(0, 0, false), 1);
  EXPECT_EQ(drawsFor(1, 0, false), mostDraws) << "one number";
  EXPECT_EQ(drawsFor(0, 1, false), 1) << "a tensor of 32 bits is no draw";
  EXPECT_EQ(drawsFor(0, 1, true), mostDraws);
}
