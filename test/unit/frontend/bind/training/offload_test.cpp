//===- offload_test.cpp - tensors in host memory --------------------------===//

#include "test/unit/frontend/bind/training/training_plan.h"

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

const std::string adam = "loss loss\noptimizer adamw\n", sgd = "loss loss\noptimizer sgd\n";
const std::string divided = "shard parameters, gradients, optimizer; ";

std::string data(const std::string &options) { return "data dp { " + options + " }\n"; }

BoundData offloaded(const std::string &statements) {
  BoundPlan plan = bound(statements);
  EXPECT_EQ(plan.data.size(), 1u) << statements;
  return plan.data.empty() ? BoundData() : plan.data[0];
}

TEST(BindOffload, NothingIsOnTheHostUnlessThePlanSays) {
  EXPECT_FALSE(offloaded(adam + data(divided)).offloadParameters);
  EXPECT_FALSE(offloaded(adam + data(divided)).offloadOptimizer);
}

TEST(BindOffload, ParametersAndWhatTheOptimizerKeepsGoApart) {
  EXPECT_TRUE(offloaded(adam + data(divided + "offload parameters")).offloadParameters);
  EXPECT_FALSE(offloaded(adam + data(divided + "offload parameters")).offloadOptimizer);
  EXPECT_TRUE(offloaded(adam + data("offload optimizer")).offloadOptimizer) << "also where nothing is divided";
  for (const char *option : {"offload parameters, optimizer", "offload optimizer, parameters"}) {
    BoundData both = offloaded(adam + data(divided + option));
    EXPECT_TRUE(both.offloadParameters && both.offloadOptimizer) << option;
    EXPECT_EQ(both.offloadRange.line, 7);
  }
}

TEST(BindOffload, GradientsFollowTheOptimizer) {
  for (const char *option : {"offload gradients", "offload optimizer, gradients"})
    EXPECT_THAT(faults(adam + data(option)),
                ElementsAre("'offload gradients' has no effect: gradients are moved to the optimizer's device",
                            "write 'offload optimizer', or remove 'gradients'"));
}

TEST(BindOffload, OnlyDividedParametersLeaveTheDevice) {
  const std::string said = "'offload parameters' without 'shard parameters': a replicated parameter is read where it "
                           "is, and has to be on the device",
                    divide = "write 'shard parameters, gradients, optimizer', or ";
  EXPECT_THAT(faults(adam + data("offload parameters")), ElementsAre(said, divide + "remove 'offload parameters'"));
  EXPECT_THAT(faults(adam + data("shard gradients, optimizer; offload parameters, optimizer")),
              ElementsAre(said, divide + "'offload optimizer'"));
}

TEST(BindOffload, AnOptimizerKeepsSomething) {
  const std::string said = "'offload optimizer' has no effect: 'sgd' has no state for the parameters of this "
                           "block",
                    keep = "add 'momentum NUMBER' to the optimizer or 'master DTYPE' to the precision, or ";
  EXPECT_THAT(faults(sgd + data("offload optimizer")), ElementsAre(said, keep + "remove 'offload optimizer'"));
  EXPECT_THAT(faults(sgd + data(divided + "offload optimizer, parameters")),
              ElementsAre(said, keep + "write 'offload parameters'"));
  EXPECT_THAT(faults(sgd + data(divided + "offload parameters")), IsEmpty());
  EXPECT_THAT(faults("loss loss\noptimizer sgd { momentum 0.9 }\n" + data("offload optimizer")), IsEmpty());
  EXPECT_THAT(faults("loss loss\noptimizer sgd { group lm_head { momentum 0.9 } }\n" + data("offload optimizer")),
              IsEmpty());
  EXPECT_THAT(faults(sgd + "precision { master f64 }\n" + data("offload optimizer")), IsEmpty());
}

TEST(BindOffload, FrozenParametersHaveNoState) {
  EXPECT_EQ(faults(adam + "freeze model.layers.*\ndata dp on model.layers.* { offload optimizer }\n").front(),
            "'offload optimizer' has no effect: 'adamw' has no state for the parameters of this block");
}

TEST(BindOffload, BuffersOfCollectivesAreOnTheDevice) {
  for (const char *options : {"contiguous parameters; offload parameters", "contiguous gradients; offload optimizer"})
    EXPECT_THAT(faults(adam + data(divided + options)),
                ElementsAre("'offload' and 'contiguous' contradict each other: contiguous buffers are "
                            "on the device",
                            "remove one of them"));
}

TEST(BindOffload, OtherFormsAreRefused) {
  EXPECT_THAT(faults(adam + data("offload optimizer, optimizer")),
              ElementsAre("'optimizer' is repeated", "keep one of them"));
  for (const char *option : {"offload", "offload 2", "offload none", "offload states", "offload optimizer to host"})
    EXPECT_EQ(faults(adam + data(option)).back(), "the form is 'offload parameters, optimizer'") << option;
}

} // namespace
