//===- optimizer_test.cpp - optimizers and their groups -------------------===//

#include "test/unit/frontend/bind/training/training_plan.h"

using namespace meshplan;
using namespace meshplan::test;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

BoundOptimizer oneOptimizer(const std::string &optimizer, const ModelOutline &model = llama(2)) {
  BoundPlan plan = bound("loss loss\noptimizer " + optimizer, model);
  EXPECT_TRUE(plan.optimizer) << optimizer;
  return plan.optimizer.value_or(BoundOptimizer());
}

OptimizerNumbers numbersOf(const std::string &optimizer) {
  BoundOptimizer bound = oneOptimizer(optimizer);
  EXPECT_EQ(bound.groups.size(), 1u);
  return bound.groups.empty() ? OptimizerNumbers() : bound.groups[0].numbers;
}

TEST(BindOptimizer, EachKindHasItsWord) {
  for (auto [word, kind] : {std::pair("sgd", OptimizerKind::Sgd), std::pair("adam", OptimizerKind::Adam),
                            std::pair("adamw", OptimizerKind::Adamw)}) {
    EXPECT_EQ(oneOptimizer(word).kind, kind);
    EXPECT_EQ(optimizerName(kind), word);
  }
}

TEST(BindOptimizer, WhatIsNotStatedIsAsInPyTorch) {
  for (const char *kind : {"sgd", "adam", "adamw { }"}) {
    OptimizerNumbers numbers = numbersOf(kind);
    EXPECT_EQ(numbers.lr, 1e-3) << kind;
    EXPECT_EQ(numbers.beta1, 0.9) << kind;
    EXPECT_EQ(numbers.beta2, 0.999) << kind;
    EXPECT_EQ(numbers.eps, 1e-8) << kind;
    EXPECT_EQ(numbers.momentum, 0) << kind;
    EXPECT_EQ(numbers.dampening, 0) << kind;
    EXPECT_FALSE(numbers.nesterov) << kind;
  }
  EXPECT_EQ(numbersOf("sgd").weightDecay, 0);
  EXPECT_EQ(numbersOf("adam").weightDecay, 0);
  EXPECT_EQ(numbersOf("adamw").weightDecay, 0.01);
}

TEST(BindOptimizer, EveryNumberIsRead) {
  OptimizerNumbers adam = numbersOf("adam { lr 3e-4; betas (0.8, 0.95); eps 1e-6; weight_decay 0.2 }");
  EXPECT_EQ(adam.lr, 3e-4);
  EXPECT_EQ(adam.beta1, 0.8);
  EXPECT_EQ(adam.beta2, 0.95);
  EXPECT_EQ(adam.eps, 1e-6);
  EXPECT_EQ(adam.weightDecay, 0.2);
  OptimizerNumbers sgd = numbersOf("sgd { lr 0.1; momentum 0.9; dampening -0.5; weight_decay 1e-2 }");
  EXPECT_EQ(sgd.lr, 0.1);
  EXPECT_EQ(sgd.momentum, 0.9);
  EXPECT_EQ(sgd.dampening, -0.5) << "PyTorch takes any";
  EXPECT_EQ(sgd.weightDecay, 0.01);
}

TEST(BindOptimizer, NesterovIsOnOrOff) {
  EXPECT_TRUE(numbersOf("sgd { momentum 0.9; nesterov }").nesterov);
  EXPECT_TRUE(numbersOf("sgd { nesterov true; momentum 0.9 }").nesterov) << "in any order";
  EXPECT_FALSE(numbersOf("sgd { nesterov false }").nesterov);
  EXPECT_TRUE(numbersOf("sgd { momentum 0.9; dampening 0; nesterov }").nesterov);
}

TEST(BindOptimizer, TheEndsOfTheRangesAreInside) {
  OptimizerNumbers adam = numbersOf("adamw { lr 0; betas (0, 0.999999); eps 0; weight_decay 0 }");
  EXPECT_EQ(adam.lr, 0);
  EXPECT_EQ(adam.beta1, 0);
  EXPECT_EQ(adam.eps, 0);
  EXPECT_EQ(adam.weightDecay, 0);
  EXPECT_EQ(numbersOf("sgd { lr 2; momentum 3; weight_decay 4 }").momentum, 3);
}

TEST(BindOptimizer, WithoutGroupsAllAreInTheFirst) {
  BoundOptimizer optimizer = oneOptimizer("adamw");
  EXPECT_THAT(optimizer.groups.at(0).paths, IsEmpty());
  EXPECT_EQ(optimizer.groupOf.size(), 21u);
  EXPECT_THAT(optimizer.groupOf, Each(0u));
  EXPECT_FALSE(optimizer.schedule);
}

TEST(BindOptimizer, AGroupHasTheOtherNumbersOfTheOptimizer) {
  ModelOutline model = llama(2);
  BoundOptimizer optimizer =
      oneOptimizer("adamw { group **.*norm, lm_head { weight_decay 0; betas (0, 0.5) }\n lr 1e-2; eps 1\n"
                   "group [model.embed_tokens, model.layers.*.mlp.up_proj.weight] { lr 0 } }",
                   model);
  ASSERT_EQ(optimizer.groups.size(), 3u);
  EXPECT_EQ(optimizer.groups[0].numbers.weightDecay, 0.01);
  const OptimizerNumbers &first = optimizer.groups[1].numbers, &second = optimizer.groups[2].numbers;
  EXPECT_EQ(first.weightDecay, 0);
  EXPECT_EQ(first.beta2, 0.5);
  EXPECT_EQ(first.lr, 1e-2) << "stated after the group";
  EXPECT_EQ(first.eps, 1);
  EXPECT_EQ(second.lr, 0);
  EXPECT_EQ(second.weightDecay, 0.01);
  EXPECT_EQ(second.beta2, 0.999) << "a group takes nothing of another one";
  EXPECT_EQ(optimizer.groups[1].paths.size(), 2u);
  EXPECT_EQ(optimizer.groups[2].paths.size(), 2u);
  EXPECT_EQ(std::count(optimizer.groupOf.begin(), optimizer.groupOf.end(), 1u), 5 + 1);
  EXPECT_EQ(std::count(optimizer.groupOf.begin(), optimizer.groupOf.end(), 2u), 1 + 2);
  EXPECT_EQ(optimizer.groupOf[parameterAt(model, "model.layers.1.mlp.up_proj.weight")], 2u);
  EXPECT_EQ(optimizer.groupOf[parameterAt(model, "model.layers.1.mlp.down_proj.weight")], 0u);
}

TEST(BindOptimizer, AGroupMayNameParametersOfModules) {
  ModelOutline model = llama(1);
  size_t head = model.modules.size() - 1;
  model.parameters.push_back({{{head, "bias"}}, {head}, {8}, true});
  BoundOptimizer optimizer =
      oneOptimizer("sgd { group **.bias { weight_decay 1 }; group lm_head.weight { lr 1 } }", model);
  EXPECT_EQ(optimizer.groupOf[parameterAt(model, "lm_head.bias")], 1u);
  EXPECT_EQ(optimizer.groupOf[parameterAt(model, "lm_head.weight")], 2u);
}

TEST(BindOptimizer, ATiedParameterIsInTheGroupOfEachOfItsNames) {
  for (const char *path : {"lm_head", "model.embed_tokens", "lm_head.weight, model.embed_tokens"}) {
    BoundOptimizer optimizer =
        oneOptimizer(std::string("sgd { group ") + path + " { lr 0 } }", llama(1, /*tied=*/true));
    EXPECT_EQ(std::count(optimizer.groupOf.begin(), optimizer.groupOf.end(), 1u), 1) << path;
    EXPECT_EQ(optimizer.groupOf.at(0), 1u) << path;
  }
}

TEST(BindOptimizer, PathsOfOneGroupMayOverlap) {
  BoundOptimizer optimizer = oneOptimizer("sgd { group **.*norm, model.norm { lr 0 } }");
  EXPECT_EQ(std::count(optimizer.groupOf.begin(), optimizer.groupOf.end(), 1u), 5);
}

TEST(BindOptimizer, AGroupMayTakeNesterovBack) {
  BoundOptimizer optimizer =
      oneOptimizer("sgd { momentum 0.9; nesterov; group lm_head { momentum 0; nesterov false } }");
  EXPECT_TRUE(optimizer.groups.at(0).numbers.nesterov);
  EXPECT_FALSE(optimizer.groups.at(1).numbers.nesterov);
  optimizer = oneOptimizer("sgd { momentum 0.9; group lm_head { nesterov } }");
  EXPECT_FALSE(optimizer.groups.at(0).numbers.nesterov);
  EXPECT_TRUE(optimizer.groups.at(1).numbers.nesterov) << "with the momentum of the optimizer";
}

TEST(BindOptimizer, AContradictionThatAGroupTakesOverIsSaidOnce) {
  EXPECT_EQ(faults("loss loss\noptimizer sgd { nesterov; group lm_head { lr 1 } }").size(), 2u);
  EXPECT_EQ(faults("loss loss\noptimizer sgd { group lm_head { nesterov } }").size(), 2u);
}

TEST(BindOptimizer, AGroupMayNameFrozenParametersWithOthers) {
  Outcome outcome =
      bindTo(llama(2), trainingPlan("loss loss\nfreeze model.norm\nunused model.layers.0.input_layernorm\n"
                                    "optimizer adamw { group **.*norm { weight_decay 0 } }"));
  EXPECT_THAT(outcome.text, testing::HasSubstr("warning: of the 5 parameters of group '**.*norm' 2 are not trained"));
  ASSERT_TRUE(outcome.plan);
  const std::vector<size_t> &groupOf = outcome.plan->optimizer->groupOf;
  EXPECT_EQ(std::count(groupOf.begin(), groupOf.end(), 1u), 5);
}

TEST(BindOptimizer, AWrongOptionOfAGroupIsReportedOnce) {
  EXPECT_THAT(faults("loss loss\noptimizer adamw { group lm_head, model.norm { lrate 0 } }"),
              ElementsAre("'group' has no option 'lrate'", "options of 'group': 'lr', 'eps', 'weight_decay', 'betas'"));
}

TEST(BindOptimizer, OptionsHaveForms) {
  struct {
    const char *option, *form;
  } cases[] = {
      {"lr", "lr NUMBER"},
      {"lr fast", "lr NUMBER"},
      {"lr 1, 2", "lr NUMBER"},
      {"lr 1 2", "lr NUMBER"},
      {"lr 1 MiB", "lr NUMBER"},
      {"betas 0.9", "betas (NUMBER, NUMBER)"},
      {"betas 0.9, 0.95", "betas (NUMBER, NUMBER)"},
      {"betas (0.9)", "betas (NUMBER, NUMBER)"},
      {"betas (0.9, 0.95, 0.99)", "betas (NUMBER, NUMBER)"},
      {"betas (0.9, x)", "betas (NUMBER, NUMBER)"},
      {"betas (0.9, 90 %)", "betas (NUMBER, NUMBER)"},
      {"group lm_head", "group PATH { OPTIONS }"},
      {"group { lr 1 }", "group PATH { OPTIONS }"},
      {"schedule constant", "schedule KIND { OPTIONS }"},
      {"schedule { warmup 1 }", "schedule KIND { OPTIONS }"},
      {"schedule 3 { warmup 1 }", "schedule KIND { OPTIONS }"},
  };
  for (auto [option, form] : cases) {
    std::vector<std::string> said = faults("loss loss\noptimizer adamw { " + std::string(option) + " }");
    ASSERT_EQ(said.size(), 2u) << option;
    EXPECT_EQ(said[0], "cannot read '" + std::string(option).substr(0, std::string(option).find(" {")) + "'");
    EXPECT_EQ(said[1], "the form is '" + std::string(form) + "'");
  }
  for (const char *wrong : {"nesterov 1", "nesterov on", "nesterov true, false", "nesterov (true)"})
    EXPECT_EQ(faults("loss loss\noptimizer sgd { " + std::string(wrong) + " }").back(),
              "the form is 'nesterov [true | false]'")
        << wrong;
}

TEST(BindOptimizer, NumbersAreInTheRangesOfPyTorch) {
  struct {
    const char *optimizer, *message;
  } cases[] = {
      {"adamw { lr -1 }", "lr is a finite number, at least 0, and this is -1"},
      {"adam { eps -1 }", "eps is a finite number, at least 0, and this is -1"},
      {"adam { lr 1e400 }", "lr is a finite number, at least 0, and this is inf"},
      {"sgd { momentum -0.5 }", "momentum is a finite number, at least 0, and this is -0.5"},
      {"sgd { weight_decay -2 }", "weight_decay is a finite number, at least 0, and this is -2"},
      {"sgd { dampening 1e400 }", "dampening is a finite number, and this is inf"},
      {"adam { betas (1, 0.5) }", "a beta is at least 0 and below 1, and this is 1"},
      {"adam { betas (0.5, -0.1) }", "a beta is at least 0 and below 1, and this is -0.1"},
      {"adam { group lm_head { lr -1 } }", "lr is a finite number, at least 0, and this is -1"},
  };
  for (auto [optimizer, message] : cases)
    EXPECT_THAT(faults("loss loss\noptimizer " + std::string(optimizer)), ElementsAre(message)) << optimizer;
}

} // namespace
