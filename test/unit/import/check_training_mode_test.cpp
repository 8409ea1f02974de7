//===- check_training_mode_test.cpp - models in evaluation mode -----------===//

#include "compiler/transforms/import/check_training_mode.h"
#include "test/unit/import/bound_program.h"

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

class CheckTrainingMode : public BoundProgram {
protected:
  CheckTrainingMode() {
    archive::ValueId weight = parameter("w", {4}), loss = value({});
    node("aten.sum.default", "", {{"self", weight}}, {loss});
    output("loss", loss);
  }

  const std::string training = "model \"m.pt2\"\nmesh dp = 1\nloss loss\noptimizer sgd { lr 0.1 }\nrest: replicate";
  const std::string forward = "model \"m.pt2\"\nmesh dp = 1\nrest: replicate";
  const std::string help = "help: export the model in training mode, after 'model.train()'; to train "
                           "without dropout, set its probability to 0";
};

TEST_F(CheckTrainingMode, DropoutsThatAreSwitchedOff) {
  program.inactiveDropouts = {{"layers.0.drop", 0.5}, {"layers.1.drop", 0.5}, {"", 0.1}, {"a", 0.25}, {"b", 0.1}};
  bind(training);
  checkTrainingMode(program, bound, /*strict=*/false, diagnostics);
  EXPECT_THAT(said(), ElementsAre("5: the plan trains a model that was exported in evaluation mode: 5 dropouts drop "
                                  "nothing",
                                  help));
  EXPECT_FALSE(diagnostics.hasErrors());
  std::vector<std::string> notes;
  for (const Note &note : diagnostics.all().front().notes)
    notes.push_back(note.message);
  EXPECT_THAT(notes, ElementsAre("in 'layers.*.drop', with a probability of 0.5",
                                 "in the root module, with a probability of 0.1", "in 'a', with a probability of 0.25",
                                 "and 1 more"));
}

TEST_F(CheckTrainingMode, StrictIsAnError) {
  program.inactiveDropouts = {{"drop", 0.5}};
  bind(training);
  checkTrainingMode(program, bound, /*strict=*/true, diagnostics);
  EXPECT_THAT(said(), ElementsAre("5: the plan trains a model that was exported in evaluation mode: 1 dropout drops "
                                  "nothing",
                                  help));
  EXPECT_TRUE(diagnostics.hasErrors());
}

TEST_F(CheckTrainingMode, NothingToSay) {
  bind(training);
  checkTrainingMode(program, bound, /*strict=*/true, diagnostics);
  EXPECT_THAT(said(), IsEmpty()) << "nothing is switched off";
}

TEST_F(CheckTrainingMode, EvaluationModeIsRightWithoutAnOptimizer) {
  program.inactiveDropouts = {{"drop", 0.5}};
  bind(forward);
  checkTrainingMode(program, bound, /*strict=*/true, diagnostics);
  EXPECT_THAT(said(), IsEmpty());
}

TEST_F(CheckTrainingMode, FunctionsWithABackwardOfTheirOwn) {
  program.customFunctions = {{"head", "net.py:9"}, {"", "net.py:12"}, {"a", "net.py:15"}, {"b", "net.py:18"}};
  bind(training);
  checkCustomFunctions(program, bound, diagnostics);
  EXPECT_THAT(
      said(),
      ElementsAre(
          "5: the model applies a torch.autograd.Function, whose 'backward' an archive does not contain: its gradient "
          "is the derivative of its 'forward'",
          "help: if 'backward' differs, write it with detach(): 'x + (f(x) - x).detach()' has the "
          "value of f(x) and the gradient of x, '2 * x.detach() - x' the value of x and a gradient of "
          "-1"));
  EXPECT_FALSE(diagnostics.hasErrors());
  std::vector<std::string> notes;
  for (const Note &note : diagnostics.all().front().notes)
    notes.push_back(note.message);
  EXPECT_THAT(notes,
              ElementsAre("in 'head', net.py:9", "in the root module, net.py:12", "in 'a', net.py:15", "and 1 more"));
}

TEST_F(CheckTrainingMode, OwnFunctionsAreRightWithoutAnOptimizer) {
  program.customFunctions = {{"head", "net.py:9"}};
  bind(forward);
  checkCustomFunctions(program, bound, diagnostics);
  EXPECT_THAT(said(), IsEmpty());
}

} // namespace
