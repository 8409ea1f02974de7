//===- distribution_test.cpp - distributions of initial values ------------===//

#include "test/unit/frontend/bind/training/training_plan.h"

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;

namespace {

/// The meaning of one entry for all parameters.
InitialValues drawn(const std::string &distribution) {
  BoundPlan plan = bound("loss loss\noptimizer sgd\ninit { rest " + distribution + " }");
  return plan.init ? plan.init->entries.at(0).values : InitialValues();
}

std::vector<std::string> faultsOf(const std::string &distribution) {
  return faults("loss loss\noptimizer sgd\ninit { rest " + distribution + " }");
}

TEST(Distributions, Constants) {
  EXPECT_EQ(drawn("zeros").value, 0);
  EXPECT_EQ(drawn("ones").value, 1);
  EXPECT_EQ(drawn("constant -0.5").value, -0.5);
  EXPECT_EQ(drawn("constant n").value, 4) << "a let";
  EXPECT_EQ(drawn("ones").distribution, Distribution::Constant);
}

TEST(Distributions, Normal) {
  InitialValues values = drawn("normal 0.02");
  EXPECT_EQ(values.distribution, Distribution::Normal);
  EXPECT_EQ(values.std, 0.02);
  EXPECT_EQ(values.mean, 0);
  EXPECT_EQ(drawn("normal 0.02 mean 1").mean, 1);
}

TEST(Distributions, Uniform) {
  InitialValues values = drawn("uniform -1 3");
  EXPECT_EQ(values.distribution, Distribution::Uniform);
  EXPECT_EQ(values.low, -1);
  EXPECT_EQ(values.high, 3);
  EXPECT_EQ(drawn("uniform 0.5").low, -0.5);
  EXPECT_EQ(drawn("uniform 0.5").high, 0.5);
}

TEST(Distributions, TruncatedNormal) {
  InitialValues values = drawn("truncated normal 0.02 from -0.04 to 0.06 mean 0.01");
  EXPECT_EQ(values.distribution, Distribution::TruncatedNormal);
  EXPECT_EQ(values.std, 0.02);
  EXPECT_EQ(values.low, -0.04);
  EXPECT_EQ(values.high, 0.06);
  EXPECT_EQ(values.mean, 0.01);
}

TEST(Distributions, OfFans) {
  InitialValues values = drawn("kaiming uniform");
  EXPECT_EQ(values.distribution, Distribution::KaimingUniform);
  EXPECT_DOUBLE_EQ(values.gain, std::sqrt(2.0)) << "as torch.nn.init.kaiming_uniform_ with a = 0";
  EXPECT_FALSE(values.isFanOut);
  values = drawn("kaiming normal fan out slope 2");
  EXPECT_EQ(values.distribution, Distribution::KaimingNormal);
  EXPECT_DOUBLE_EQ(values.gain, std::sqrt(2.0 / 5));
  EXPECT_TRUE(values.isFanOut);
  EXPECT_FALSE(drawn("kaiming normal fan in").isFanOut);
  EXPECT_EQ(drawn("xavier uniform").distribution, Distribution::XavierUniform);
  EXPECT_EQ(drawn("xavier uniform").gain, 1);
  EXPECT_EQ(drawn("xavier normal gain 1.5").distribution, Distribution::XavierNormal);
  EXPECT_EQ(drawn("xavier normal gain 1.5").gain, 1.5);
}

TEST(Distributions, OthersAreNotRead) {
  EXPECT_THAT(faultsOf("gauss 1"),
              ElementsAre("unknown distribution 'gauss'",
                          "distributions: 'zeros', 'ones', 'constant', 'normal', 'uniform', 'truncated', 'kaiming', "
                          "'xavier'"));
  for (std::string text : {"normal", "normal 0.02 0.1", "normal 0.02 mean", "normal 1 KiB", "normal m"})
    EXPECT_THAT(faultsOf(text),
                ElementsAre("cannot read 'rest " + text + "'", "the form is 'rest normal STD [mean M]'"))
        << text;
  for (std::string text : {"kaiming", "kaiming uniform fan", "kaiming uniform slope"})
    EXPECT_THAT(faultsOf(text), ElementsAre("cannot read 'rest " + text + "'",
                                            "the form is 'rest kaiming uniform | normal [fan in | out] [slope A]'"))
        << text;
  EXPECT_THAT(faultsOf("truncated normal 1"),
              ElementsAre("cannot read 'rest truncated normal 1'",
                          "the form is 'rest truncated normal STD from LOW to HIGH [mean M]'"));
}

TEST(Distributions, NumbersThatNoneHas) {
  EXPECT_THAT(faultsOf("normal 0"), ElementsAre("the standard deviation has to be above 0, and is 0"));
  EXPECT_THAT(faultsOf("normal -1"), ElementsAre("the standard deviation has to be above 0, and is -1"));
  EXPECT_THAT(faultsOf("uniform 2 1"), ElementsAre("the upper bound has to be above the lower one, 2, is 1"));
  EXPECT_THAT(faultsOf("uniform -1"), ElementsAre("the upper bound has to be above the lower one, 1, is -1"));
  EXPECT_THAT(faultsOf("constant 1e39"), ElementsAre("a number has to fit into f32"));
  EXPECT_THAT(faultsOf("xavier normal gain 0"), ElementsAre("the gain has to be above 0, and is 0"));
  EXPECT_THAT(faultsOf("truncated normal 1 from 9 to 10"),
              ElementsAre("the bounds exclude everything within 8 standard deviations of the mean"));
}

} // namespace
