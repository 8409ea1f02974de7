//===- overlap_test.cpp - contracts about the timeline ---------------------===//

#include "test/unit/frontend/bind/training/training_plan.h"

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

const std::string withSgd = "loss loss\noptimizer sgd { lr 0.1 }\n";

std::vector<BoundOverlapClause> boundClauses(const std::string &clauses) {
  return bound(withSgd + "overlap { " + clauses + " }", llama(1)).overlap;
}

/// The errors about a statement, and their helps.
std::vector<std::string> clauseFaults(const std::string &statement, const std::string &training = withSgd) {
  return faults(training + statement, llama(1));
}

} // namespace

TEST(BindOverlap, Clauses) {
  std::vector<BoundOverlapClause> clauses = boundClauses(
      "require gradients hidden >= 90 %\nrequire parameters over dp hidden >= 12.5 %\n"
      "forbid exposed > 5 ms; forbid activations over (dp, tp) exposed > 2.5 us; forbid gradients exposed > 0 s");
  ASSERT_EQ(clauses.size(), 5u);
  EXPECT_FALSE(clauses[0].forbids);
  EXPECT_EQ(clauses[0].purpose, "gradients");
  EXPECT_THAT(clauses[0].axes, IsEmpty());
  EXPECT_EQ(clauses[0].hiddenPercent, 90);
  EXPECT_EQ(clauses[0].text, "require gradients hidden >= 90 %");
  EXPECT_EQ(clauses[0].range.line, 7);
  EXPECT_THAT(clauses[1].axes, ElementsAre(0));
  EXPECT_EQ(clauses[1].hiddenPercent, 12.5);
  EXPECT_TRUE(clauses[2].forbids);
  EXPECT_EQ(clauses[2].purpose, "");
  EXPECT_DOUBLE_EQ(clauses[2].exposedSeconds, 5e-3);
  EXPECT_THAT(clauses[3].axes, ElementsAre(0, 1));
  EXPECT_DOUBLE_EQ(clauses[3].exposedSeconds, 2.5e-6);
  EXPECT_EQ(clauses[4].exposedSeconds, 0);
}

TEST(BindOverlap, NothingIsStated) {
  EXPECT_THAT(clauseFaults("overlap { }"),
              ElementsAre("'overlap' states nothing, and so has no effect",
                          "write a clause, as in 'overlap { require gradients hidden >= 90 % }', or remove the "
                          "statement"));
}

TEST(BindOverlap, FormsThatAreNone) {
  const std::string require = "the form is 'require GROUP [over AXES] hidden >= N %'",
                    forbid = "the form is 'forbid [GROUP [over AXES]] exposed > TIME'";
  for (const char *clause :
       {"require", "require gradients", "require gradients hidden", "require gradients hidden > 90 %",
        "require gradients hidden <= 90 %", "require gradients hidden >= 90 % more", "require gradients, hidden >= 9 %",
        "require gradients exposed > 5 ms", "require gradients over hidden >= 90 %", "require 5 hidden >= 90 %"})
    EXPECT_THAT(clauseFaults(std::string("overlap { ") + clause + " }").back(), require) << clause;
  for (const char *clause : {"forbid", "forbid exposed", "forbid exposed >= 5 ms", "forbid gradients hidden >= 90 %"})
    EXPECT_THAT(clauseFaults(std::string("overlap { ") + clause + " }").back(), forbid) << clause;
  for (const char *clause :
       {"require gradients hidden >= 90", "require gradients hidden >= 0.9", "require gradients hidden >= 90 ms"})
    EXPECT_THAT(clauseFaults(std::string("overlap { ") + clause + " }").back(), "write it as 90 %") << clause;
  for (const char *clause : {"forbid exposed > 5", "forbid exposed > 5 %", "forbid exposed > 5 MiB"})
    EXPECT_THAT(clauseFaults(std::string("overlap { ") + clause + " }").back(),
                "write it as 5 ms; the units are us, ms and s")
        << clause;
  EXPECT_THAT(clauseFaults("overlap { requires gradients hidden >= 90 % }"),
              ElementsAre("'overlap' has no option 'requires'", "did you mean 'require'?"));
}

TEST(BindOverlap, ProductsThatMayBeSplit) {
  EXPECT_THAT(clauseFaults("overlap { split products 4 }", "loss loss\n"), IsEmpty());
  for (const char *clause : {"split", "split 4", "split products", "split products 4 %", "split products 4 more",
                             "split sums 4", "split products four"})
    EXPECT_THAT(clauseFaults(std::string("overlap { ") + clause + " }").back(), "the form is 'split products N'")
        << clause;
  for (const char *count : {"1", "0", "-2", "2.5", "65"})
    EXPECT_EQ(clauseFaults(std::string("overlap { split products ") + count + " }").front(),
              std::string("products are split into 2 to 64 parts, not ") + count);
}

TEST(BindOverlap, GroupsAndAxesThatAreNone) {
  EXPECT_THAT(clauseFaults("overlap { require gradient hidden >= 90 % }"),
              ElementsAre("there is no group of collectives 'gradient'", "did you mean 'gradients'?"));
  EXPECT_THAT(
      clauseFaults("overlap { forbid weights exposed > 5 ms }"),
      ElementsAre("there is no group of collectives 'weights'", "groups: 'gradients', 'parameters', 'activations'"));
  EXPECT_EQ(clauseFaults("overlap { require gradients over pp hidden >= 90 % }").front(), "unknown axis 'pp'");
}

TEST(BindOverlap, GradientsNeedTraining) {
  EXPECT_THAT(clauseFaults("overlap { require gradients hidden >= 90 % }", "loss loss\n"),
              ElementsAre("the plan does not train, so there are no gradients to reduce",
                          "add 'optimizer KIND { ... }', or remove 'require gradients hidden >= 90 %'"));
  EXPECT_THAT(clauseFaults("overlap { require parameters hidden >= 90 % }", "loss loss\n"), IsEmpty());
}

TEST(BindOverlap, NumbersThatCannotBe) {
  EXPECT_THAT(clauseFaults("overlap { require gradients hidden >= 101 % }"),
              ElementsAre("the hidden part is at most 100 % of the time of a collective, not 101 %",
                          "write 'hidden >= 100 %' if no part of it may be exposed"));
  EXPECT_THAT(clauseFaults("overlap { require gradients hidden >= 100 % }"), IsEmpty());
  for (const char *part : {"0 %", "-5 %"})
    EXPECT_EQ(clauseFaults(std::string("overlap { require gradients hidden >= ") + part + " }").front(),
              std::string("'require gradients hidden >= ") + part + "' always holds: the hidden part is above 0 %");
  EXPECT_EQ(clauseFaults("overlap { forbid exposed > -1 ms }").front(),
            "'forbid exposed > -1 ms' never holds: a time is not negative");
  EXPECT_THAT(clauseFaults("overlap { forbid exposed > 1e30 s }"),
              ElementsAre("'forbid exposed > 1e30 s' always holds: no step takes a million seconds",
                          "remove the clause, or allow less"));
  EXPECT_THAT(clauseFaults("overlap { forbid exposed > 999999 s }"), IsEmpty());
}

TEST(BindOverlap, ClausesAboutTheSameCollectives) {
  EXPECT_THAT(clauseFaults("overlap { require gradients hidden >= 90 %; require gradients hidden>=90% }"),
              ElementsAre("'require gradients hidden >= 90 %' is stated twice", "keep one of them"));
  EXPECT_THAT(
      clauseFaults("overlap { forbid exposed > 5 ms; forbid exposed > 6 ms }"),
      ElementsAre("'forbid exposed > 6 ms' contradicts 'forbid exposed > 5 ms': both limit the same collectives",
                  "keep one of them"));
  EXPECT_THAT(clauseFaults("overlap { require gradients hidden >= 90 %; require gradients over dp hidden >= 80 % }"),
              IsEmpty());
  EXPECT_THAT(clauseFaults("overlap { forbid exposed > 5 ms }\noverlap { forbid gradients exposed > 5 ms }"),
              ElementsAre("a plan has one 'overlap' statement", "keep one of them"));
}
