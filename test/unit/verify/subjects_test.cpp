//===- subjects_test.cpp - subjects of a comparison -----------------------===//

#include "runtime/verify/subjects.h"

#include "runtime/verify/reference.h"
#include "test/unit/verify/verified_step.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

/// The subjects of the verified program.
Expected<std::vector<Subject>> subjectsIn(const Artifact &artifact) {
  return subjectsOf(**verifiedProgram(artifact.schedule()), **findReference(artifact));
}

std::vector<std::string> namesOf(std::span<const Subject> subjects) {
  std::vector<std::string> names;
  for (const Subject &subject : subjects)
    names.push_back(std::string(kindName(subject.kind)) + " " + subject.name);
  return names;
}

/// Which subjects have 16-bit bounds, for a parameter in `dtype` that the model has in `exported`.
std::vector<bool> halvesOf(DType dtype, DType exported) {
  Artifact artifact = artifactAfter([&](VerifiedStep &step) {
    auto setDtype = [](artifact::ProgramT &program, int value, DType own) {
      program.values[value]->dtype = static_cast<artifact::DType>(own);
    };
    setDtype(step.step(), step.w, dtype);
    setDtype(step.step(), step.changed, dtype);
    setDtype(step.reference(), step.reference().parameters[0]->value, exported);
  });
  std::vector<Subject> subjects = *subjectsIn(artifact);
  std::vector<bool> halves;
  for (const Subject &subject : subjects)
    halves.push_back(subject.isHalf);
  return halves;
}

} // namespace

TEST(SubjectsTest, OfAStep) {
  VerifiedStep step;
  Artifact artifact = artifactAfter();
  EXPECT_EQ((*verifiedProgram(artifact.schedule()))->name()->string_view(), "step");
  auto subjects = subjectsIn(artifact);
  ASSERT_TRUE(subjects.ok()) << subjects.status().message();
  EXPECT_THAT(namesOf(*subjects),
              testing::ElementsAre("output loss", "gradient w", "gradient norm of all", "parameter w"));
  const Subject &parameter = subjects->back();
  EXPECT_EQ(parameter.value, step.w);
  EXPECT_EQ(parameter.gradient, step.gradient);
  EXPECT_EQ(parameter.made, step.changed);
  EXPECT_EQ(parameter.placed, 0);
  EXPECT_EQ(parameter.optimizer.rate, 0.1);
}

TEST(SubjectsTest, OfAPartOfAParameter) {
  VerifiedStep step(/*hasReference=*/true, Held::part);
  Artifact artifact = artifactAfter([](VerifiedStep &) {}, Held::part);
  Subject parameter = subjectsIn(artifact)->back();
  EXPECT_EQ(parameter.value, step.w);
  EXPECT_EQ(parameter.held, step.held);
  EXPECT_EQ(parameter.made, step.stored) << "the gathered one";
  EXPECT_EQ(parameter.gradient, step.gradient);
}

TEST(SubjectsTest, OfAMaster) {
  VerifiedStep step(/*hasReference=*/true, Held::master);
  Artifact artifact = artifactAfter([](VerifiedStep &) {}, Held::master);
  auto subjects = subjectsIn(artifact);
  ASSERT_TRUE(subjects.ok()) << subjects.status().message();
  EXPECT_THAT(namesOf(*subjects), testing::ElementsAre("output loss", "gradient w", "gradient norm of all",
                                                       "master w.master", "parameter w"));
  const Subject &master = (*subjects)[3], &parameter = (*subjects)[4];
  EXPECT_EQ(master.value, step.held);
  EXPECT_EQ(master.held, step.held);
  EXPECT_EQ(master.made, step.changed);
  EXPECT_EQ(master.gradient, step.gradient);
  EXPECT_EQ(master.optimizer.rate, 0.1);
  EXPECT_FALSE(master.isHalf) << "it is in f32";
  EXPECT_EQ(master.master, "");
  EXPECT_EQ(parameter.value, step.w);
  EXPECT_EQ(parameter.held, step.held);
  EXPECT_EQ(parameter.made, step.stored);
  EXPECT_EQ(parameter.master, "w.master");
  EXPECT_TRUE(parameter.isHalf);
}

TEST(SubjectsTest, OfAStepThatKeepsItsGradients) {
  Artifact artifact = artifactAfter([](VerifiedStep &step) {
    step.step().updates.clear();
    step.call("meshplan.sgd").target = "meshplan.keep";
    step.call("meshplan.keep").overwrites.clear();
    auto &port = *step.step().outputs.emplace_back(std::make_unique<artifact::PortT>());
    port.name = "gradients.w";
    port.value = step.gradient;
  });
  EXPECT_THAT(namesOf(*subjectsIn(artifact)),
              testing::ElementsAre("output loss", "gradient w", "gradient norm of all"));
}

TEST(SubjectsTest, OfAForwardProgram) {
  Artifact artifact = artifactAfter([](VerifiedStep &step) {
    step.step().name = "forward";
    step.step().role = artifact::ProgramRole::forward;
    step.step().gradients.clear();
  });
  EXPECT_EQ(namesOf(*subjectsIn(artifact)).front(), "output loss");
}

TEST(SubjectsTest, Refusals) {
  EXPECT_EQ(subjectsIn(artifactAfter([](VerifiedStep &step) { step.step().gradients.clear(); })).status().message(),
            "program 'step' does not say which values are gradients; help: compile the plan again, with this version");
  Artifact artifact = artifactAfter([](VerifiedStep &step) {
    step.step().name = "eval";
    step.step().role = artifact::ProgramRole::eval;
  });
  EXPECT_EQ(verifiedProgram(artifact.schedule()).status().message(),
            "the schedule has no program 'forward'; it has eval, reference");
}

/// Loss, gradient and norm have the precision of the model's parameters, the parameter that of the program.
TEST(SubjectsTest, SixteenBitsOfTheModelAndOfTheProgram) {
  using testing::ElementsAre;
  EXPECT_THAT(halvesOf(DType::f32, DType::f32), ElementsAre(false, false, false, false));
  EXPECT_THAT(halvesOf(DType::bf16, DType::bf16), ElementsAre(true, true, true, true));
  EXPECT_THAT(halvesOf(DType::f16, DType::f16), ElementsAre(true, true, true, true));
  EXPECT_THAT(halvesOf(DType::f32, DType::bf16), ElementsAre(true, true, true, false)) << "storage f32";
  EXPECT_THAT(halvesOf(DType::bf16, DType::f32), ElementsAre(false, false, false, true)) << "storage bf16";
}
