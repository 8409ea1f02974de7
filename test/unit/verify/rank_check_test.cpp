//===- rank_check_test.cpp - ranks against their reference ----------------===//

#include "runtime/verify/rank_check.h"

#include "runtime/comm/threads/run_threads.h"
#include "runtime/tensor/compute_scope.h"
#include "runtime/verify/verdicts.h"
#include "test/unit/verify/verified_step.h"

#include <cmath>
#include <gmock/gmock.h>

using namespace meshplan;

namespace {

/// The findings of both ranks, after a change of the step.
std::vector<std::vector<Finding>> findingsAfter(const std::function<void(VerifiedStep &)> &change,
                                                Held held = Held::parameter) {
  Artifact artifact = artifactAfter(change, held);
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

/// By subject (loss, gradient, norm, parameter; a master before its parameter), the larger error of both ranks. For a
/// parameter with a master, only errors beyond rounding.
std::vector<double> errorsAfter(const std::function<void(VerifiedStep &)> &change, Held held = Held::parameter) {
  std::vector<double> errors(held == Held::master ? 5 : 4);
  for (const std::vector<Finding> &ofRank : findingsAfter(change, held))
    for (size_t i = 0; i < ofRank.size(); ++i)
      errors[i] = std::max(errors[i], i == 4 ? ofRank[i].errors.ofOthers : ofRank[i].errors.largest);
  return errors;
}

/// Gathers the gradients instead of the new parameters.
void gatherGradients(VerifiedStep &step) {
  for (auto &instruction : step.step().instructions)
    if (auto *start = instruction->action.AsStart(); start && start->kind == Kind::all_gather)
      start->input = step.gradient;
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

/// The gradient is wrong, and so is the norm; the optimizer uses them correctly.
TEST(RankCheckTest, AWrongGradient) {
  std::vector<double> errors =
      errorsAfter([](VerifiedStep &step) { step.call("aten.relu.default").target = "aten.neg.default"; });
  EXPECT_LT(errors[0], 1e-6);
  EXPECT_DOUBLE_EQ(errors[1], 6) << "-3 in place of 3";
  EXPECT_LT(errors[2], 1e-6) << "which has no sign";
  EXPECT_LT(errors[3], 1e-6);
}

/// Non-finite gradients are wrong, but the unchanged parameter is right.
TEST(RankCheckTest, AStepThatIsSkipped) {
  auto spoiled = [](VerifiedStep &step) {
    step.guard();
    step.call("aten.relu.default").target = "aten.atanh.default";
  };
  std::vector<double> errors = errorsAfter(spoiled);
  EXPECT_TRUE(std::isinf(errors[1])) << "of 1.5 and 3";
  EXPECT_EQ(errors[3], 0);
  errors = errorsAfter([&](VerifiedStep &step) {
    spoiled(step);
    step.call("meshplan.sgd").args.pop_back();
  });
  EXPECT_GT(errors[3], 0.1) << "a step that does not look";
}

TEST(RankCheckTest, AWrongOptimizer) {
  std::vector<double> errors = errorsAfter([](VerifiedStep &step) {
    std::erase_if(step.call("meshplan.sgd").args, [](const auto &arg) { return arg->name == "factor"; });
  });
  EXPECT_LT(errors[1], 1e-6);
  EXPECT_GT(errors[3], 0.1) << "not clipped";
}

/// The optimizer updates a shard, and the parameter is gathered from all shards.
TEST(RankCheckTest, AStepOfParts) {
  for (double error : errorsAfter([](VerifiedStep &) {}, Held::part))
    EXPECT_LT(error, 1e-6);
  auto findings = findingsAfter([](VerifiedStep &) {}, Held::part);
  EXPECT_GT(findings[1][3].magnitude, 1.5) << "of the rank's own part";
  EXPECT_LT(findings[0][3].own, 1e-6);
}

TEST(RankCheckTest, PartsThatAreGatheredWrong) {
  std::vector<double> errors = errorsAfter(gatherGradients, Held::part);
  EXPECT_LT(errors[1], 1e-6);
  EXPECT_GT(errors[3], 0.1);
}

/// The optimizer does not clip.
TEST(RankCheckTest, AWrongOptimizerOfParts) {
  auto unclipped = [](VerifiedStep &step) {
    std::erase_if(step.call("meshplan.sgd").args, [](const auto &arg) { return arg->name == "factor"; });
  };
  EXPECT_GT(errorsAfter(unclipped, Held::part)[3], 0.1);
  std::vector<double> errors = errorsAfter(unclipped, Held::master);
  EXPECT_GT(errors[3], 0.1);
  EXPECT_EQ(errors[4], 0) << "the parameter follows its master";
}

TEST(RankCheckTest, AStepOfAMaster) {
  std::vector<double> errors = errorsAfter([](VerifiedStep &) {}, Held::master);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_LT(errors[i], 1e-6) << i;
  EXPECT_EQ(errors[4], 0);
  auto findings = findingsAfter([](VerifiedStep &) {}, Held::master);
  EXPECT_GT(findings[0][4].errors.largest, 1e-5) << "it is rounded";
  EXPECT_LT(findings[0][3].own, 1e-6);
  EXPECT_GT(findings[1][3].magnitude, 1.5);
}

TEST(RankCheckTest, AParameterThatIsNotItsMaster) {
  std::vector<double> errors = errorsAfter(
      [](VerifiedStep &step) { step.call("aten._to_copy.default").args[0]->values = {step.gradient}; }, Held::master);
  EXPECT_LT(errors[3], 1e-6);
  EXPECT_GT(errors[4], 0.1);
}

/// A parameter that follows a master may differ by one rounding, and by nothing else.
TEST(RankCheckTest, ACopyHasNoBoundButRounding) {
  Artifact artifact = artifactAfter([](VerifiedStep &) {}, Held::master);
  TensorFeed weights(VerifiedStep::weights()), inputs(VerifiedStep::inputs());
  ComputeScope compute(1);
  Reference reference = *Reference::load(artifact, weights, inputs);
  std::vector<Subject> subjects = *subjectsOf(**verifiedProgram(artifact.schedule()), reference.program());
  auto isRight = [&](double largest, double ofOthers) {
    std::vector<Finding> findings(subjects.size());
    findings[3].magnitude = 1;
    findings[4].errors = {largest, ofOthers};
    OwnNumbers own{std::vector<double>(subjects.size()), std::vector<double>(subjects.size())};
    return judge(subjects, std::span(&findings, 1), own)[4].isRight();
  };
  EXPECT_TRUE(isRight(0, 0));
  EXPECT_TRUE(isRight(1e-3, 0));
  EXPECT_FALSE(isRight(1e-3, 1e-9));
}

TEST(RankCheckTest, AWrongNorm) {
  std::vector<double> errors =
      errorsAfter([](VerifiedStep &step) { step.call("meshplan.square_sum").target = "aten.sum.default"; });
  EXPECT_LT(errors[1], 1e-6);
  EXPECT_GT(errors[2], 0.1);
  EXPECT_LT(errors[3], 1e-6) << "clipped by the norm that the ranks have found";
}

/// If a subject is wrong in every draw, all draws are used.
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
  EXPECT_EQ(drawsFor(1, 0, false), mostDraws);
  EXPECT_EQ(drawsFor(0, 1, false), mostDraws);
  EXPECT_EQ(drawsFor(0, 1, true), mostDraws);
}
