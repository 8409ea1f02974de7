//===- subjects_test.cpp - what is compared -------------------------------===//

#include "runtime/verify/subjects.h"

#include "test/unit/verify/verified_step.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

Artifact written(VerifiedStep &step, const TemporaryDirectory &folder) {
  step.write(folder / "a.sched");
  auto artifact = loadSchedule(folder / "a.sched");
  EXPECT_TRUE(artifact.ok()) << artifact.status().message();
  return *std::move(artifact);
}

std::vector<std::string> namesOf(std::span<const Subject> subjects) {
  std::vector<std::string> names;
  for (const Subject &subject : subjects)
    names.push_back(std::string(kindName(subject.kind)) + " " + subject.name + (subject.isOne ? " (one)" : ""));
  return names;
}

} // namespace

TEST(SubjectsTest, OfAStep) {
  VerifiedStep step;
  TemporaryDirectory folder;
  Artifact artifact = written(step, folder);
  const artifact::Program &program = **verifiedProgram(artifact.schedule());
  EXPECT_EQ(program.name()->string_view(), "step");
  auto subjects = subjectsOf(program);
  ASSERT_TRUE(subjects.ok()) << subjects.status().message();
  EXPECT_THAT(namesOf(*subjects),
              testing::ElementsAre("output loss (one)", "gradient w", "gradient norm of all (one)", "parameter w"));
  const Subject &parameter = subjects->back();
  EXPECT_EQ(parameter.value, step.w);
  EXPECT_EQ(parameter.gradient, step.gradient);
  EXPECT_EQ(parameter.made, step.changed);
  EXPECT_EQ(parameter.placed, 0);
  EXPECT_EQ(parameter.optimizer.rate, 0.1);
  EXPECT_FALSE(hasHalfParameters(program));
}

TEST(SubjectsTest, OfAStepThatKeepsItsGradients) {
  VerifiedStep step;
  step.step().updates.clear();
  step.call("meshplan.sgd").target = "meshplan.keep";
  step.call("meshplan.keep").overwrites.clear();
  auto &port = *step.step().outputs.emplace_back(std::make_unique<artifact::PortT>());
  port.name = "gradients.w";
  port.value = step.gradient;
  TemporaryDirectory folder;
  Artifact artifact = written(step, folder);
  auto subjects = subjectsOf(**verifiedProgram(artifact.schedule()));
  EXPECT_THAT(namesOf(*subjects),
              testing::ElementsAre("output loss (one)", "gradient w", "gradient norm of all (one)"));
}

TEST(SubjectsTest, OfAForwardProgram) {
  VerifiedStep step;
  step.step().name = "forward";
  step.step().gradients.clear();
  TemporaryDirectory folder;
  Artifact artifact = written(step, folder);
  auto subjects = subjectsOf(**verifiedProgram(artifact.schedule()));
  EXPECT_EQ(namesOf(*subjects).front(), "output loss (one)");
}

TEST(SubjectsTest, Refusals) {
  VerifiedStep step;
  step.step().gradients.clear();
  TemporaryDirectory folder;
  Artifact artifact = written(step, folder);
  EXPECT_EQ(subjectsOf(**verifiedProgram(artifact.schedule())).status().message(),
            "program 'step' does not say which values are gradients; help: compile the plan again, with this version");
  step.step().name = "eval";
  Artifact other = written(step, folder);
  EXPECT_EQ(verifiedProgram(other.schedule()).status().message(),
            "the schedule has no program 'forward'; it has eval, reference");
}

TEST(SubjectsTest, HalfParameters) {
  VerifiedStep step;
  step.step().values[step.w]->dtype = artifact::DType::bf16;
  step.step().updates.clear();
  TemporaryDirectory folder;
  Artifact artifact = written(step, folder);
  EXPECT_TRUE(hasHalfParameters(*artifact.schedule().programs()->Get(0)));
}
