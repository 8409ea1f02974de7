//===- trainable_test.cpp - trained, frozen and unused parameters ---------===//

#include "test/unit/frontend/bind/training/training_plan.h"

using namespace meshplan;
using namespace meshplan::test;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

/// Paths of the parameters with this use.
std::vector<std::string> used(const std::string &body, ParameterUse use, const ModelOutline &model = llama(1)) {
  BoundPlan plan = bound(body, model);
  std::vector<std::string> result;
  for (size_t i = 0; i < plan.parameterUse.size(); ++i)
    if (plan.parameterUse[i] == use)
      result.push_back(parameterPath(model, model.parameters[i]));
  EXPECT_THAT(plan.parameterUse, SizeIs(model.parameters.size()));
  EXPECT_THAT(plan.parameterUseRange, SizeIs(model.parameters.size()));
  return result;
}

/// A Llama of one layer whose lm_head the archive freezes.
ModelOutline headless() {
  ModelOutline model = llama(1);
  model.parameters.back().requiresGrad = false;
  return model;
}

constexpr ParameterUse trained = ParameterUse::Trained, frozen = ParameterUse::Frozen, unused = ParameterUse::Unused;

TEST(BindTrainable, AllAreTrainedByDefault) {
  EXPECT_THAT(bound("").parameterUse, Each(trained));
  for (SourceRange range : bound("").parameterUseRange)
    EXPECT_FALSE(range.hasLine());
}

TEST(BindTrainable, TheArchiveFreezes) {
  EXPECT_THAT(used("", frozen, headless()), ElementsAre("lm_head.weight"));
  EXPECT_FALSE(bound("", headless()).parameterUseRange.back().hasLine());
  EXPECT_THAT(used("freeze {lm_head, model.norm}", frozen, headless()),
              ElementsAre("model.norm.weight", "lm_head.weight"))
      << "again";
  EXPECT_THAT(used("unused {lm_head, model.norm}", frozen, headless()), ElementsAre("lm_head.weight"))
      << "it stays frozen";
}

TEST(BindTrainable, FreezeAndUnusedNameModulesAndParameters) {
  std::string body = "freeze model.norm, model.embed_tokens.weight\nunused lm_head.weight";
  EXPECT_THAT(used(body, frozen), ElementsAre("model.embed_tokens.weight", "model.norm.weight"));
  EXPECT_THAT(used(body, unused), ElementsAre("lm_head.weight"));
  EXPECT_THAT(used(body, trained), SizeIs(9));
  BoundPlan plan = bound(body, llama(1));
  EXPECT_EQ(plan.parameterUseRange.front().line, 5);
  EXPECT_EQ(plan.parameterUseRange.back().line, 6) << "the location of the statement";
}

TEST(BindTrainable, FreezeMayBeSaidTwice) {
  EXPECT_THAT(used("freeze model\nfreeze model.norm, model.**", trained), ElementsAre("lm_head.weight"));
  EXPECT_THAT(used("unused lm_head, **.lm_head\nunused lm_head", unused), ElementsAre("lm_head.weight"));
}

TEST(BindTrainable, TrainOnlyFreezesAllOthers) {
  EXPECT_THAT(used("train only lm_head", trained), ElementsAre("lm_head.weight"));
  EXPECT_THAT(used("train only lm_head\ntrain only model.norm", trained),
              ElementsAre("model.norm.weight", "lm_head.weight"))
      << "together";
  EXPECT_THAT(used("train only model", trained, headless()), SizeIs(11));
  BoundPlan plan = bound("train only lm_head", llama(1));
  EXPECT_EQ(plan.parameterUseRange.front().line, 5);
  EXPECT_FALSE(plan.parameterUseRange.back().hasLine());
}

TEST(BindTrainable, TrainOnlyMayStandBesideTheOthers) {
  std::string body = "freeze model.norm\ntrain only lm_head\nunused model.embed_tokens";
  EXPECT_THAT(used(body, trained), ElementsAre("lm_head.weight"));
  EXPECT_THAT(used(body, unused), ElementsAre("model.embed_tokens.weight"));
  EXPECT_THAT(used(body, frozen), SizeIs(10));
}

TEST(BindTrainable, ATiedParameterIsOne) {
  ModelOutline tied = llama(1, /*tied=*/true);
  EXPECT_THAT(used("freeze lm_head", frozen, tied), ElementsAre("model.embed_tokens.weight"));
  EXPECT_THAT(used("train only lm_head, model.embed_tokens", trained, tied), ElementsAre("model.embed_tokens.weight"));
}

TEST(BindTrainable, AParameterHasOneUse) {
  const char *words[] = {"freeze", "train only", "unused"};
  for (std::string first : words)
    for (std::string second : words) {
      std::vector<std::string> said = faults(first + " model.norm\n" + second + " lm_head, model", llama(1));
      if (first == second)
        EXPECT_THAT(said, IsEmpty());
      else
        EXPECT_THAT(
            said, ElementsAre("'" + second + "' names parameter 'model.norm.weight', which '" + first + "' names, too",
                              testing::StartsWith("a parameter is either trained, frozen or unused")));
    }
}

TEST(BindTrainable, TrainOnlyNeedsAGradient) {
  EXPECT_THAT(faults("train only lm_head", headless()).front(),
              "'train only' names parameter 'lm_head.weight', which the archive freezes");
  EXPECT_EQ(faults("train only **", headless()).size(), 2u) << "one error for a path";
}

TEST(BindTrainable, AnOptimizerNeedsSomethingToTrain) {
  EXPECT_THAT(used("freeze **", trained), IsEmpty()) << "without an optimizer";
  EXPECT_EQ(faults("loss loss\noptimizer sgd\nfreeze **", llama(1)).front(),
            "nothing is left to train: of 12 parameters 12 are frozen, 0 unused");
  EXPECT_EQ(faults("loss loss\noptimizer sgd\nfreeze model\nunused lm_head", llama(1)).front(),
            "nothing is left to train: of 12 parameters 11 are frozen, 1 unused");
  ModelOutline empty;
  empty.modules = {{"", "Identity"}};
  empty.outputs = {{"loss", {}}};
  EXPECT_THAT(faults("loss loss\noptimizer sgd", empty),
              testing::Contains("nothing is left to train: the model has no parameter"));
}

TEST(BindTrainable, AContradictionIsNotAlsoNothingToTrain) {
  EXPECT_EQ(faults("loss loss\noptimizer sgd\nfreeze **\nunused lm_head", llama(1)).size(), 2u);
}

TEST(BindTrainable, StatementsAreKept) {
  BoundPlan plan = bound("freeze model.embed_tokens\ntrain only lm_head, model.norm\n"
                         "unused model.layers.0.mlp.up_proj.weight");
  ASSERT_EQ(plan.trainable.size(), 3u);
  EXPECT_EQ(plan.trainable[0].kind, TrainableStatement::Kind::Freeze);
  EXPECT_EQ(plan.trainable[1].kind, TrainableStatement::Kind::TrainOnly);
  EXPECT_EQ(plan.trainable[1].paths.size(), 2u);
  EXPECT_EQ(plan.trainable[2].kind, TrainableStatement::Kind::Unused);
  EXPECT_EQ(plan.trainable[2].paths.at(0).parameters.size(), 1u) << "a parameter by its own name";
}

} // namespace
