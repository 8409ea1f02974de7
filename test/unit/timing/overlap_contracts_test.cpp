#include "compiler/timing/overlap_contracts.h"
#include "test/unit/timing/times.h"

#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

class OverlapContractsTest : public testing::Test {
protected:
  OverlapContractsTest() {
    sources.add("p.plan", "plan p {\n}\n");
    plan.environment.mesh.axes = {{"dp", 2, {}}, {"tp", 2, {}}};
    cluster.name = "own";
    cluster.file = "own.json";
  }

  /// The errors, each with its notes and helps.
  std::vector<std::string> errorsFor(std::vector<BoundOverlapClause> clauses) {
    plan.overlap = std::move(clauses);
    Diagnostics diagnostics(sources);
    checkOverlap(plan, *stepTimes(programs, "step"), cluster, diagnostics);
    std::vector<std::string> texts;
    for (const Diagnostic &error : diagnostics.all()) {
      std::string text = error.message;
      for (const Note &note : error.notes)
        text += "\n" + std::to_string(note.range.line) + " " + note.message;
      texts.push_back(std::move(text));
    }
    return texts;
  }

  static BoundOverlapClause require(const std::string &purpose, double percent, AxisList axes = {}) {
    return {.purpose = purpose, .axes = std::move(axes), .hiddenPercent = percent, .text = "require " + purpose};
  }
  static BoundOverlapClause forbid(double seconds, const std::string &purpose = "") {
    return {.forbids = true, .purpose = purpose, .exposedSeconds = seconds, .text = "forbid " + purpose};
  }

  Sources sources;
  BoundPlan plan;
  Cluster cluster;
  std::vector<ProgramTimes> programs = exampleTimes();
};

} // namespace

TEST_F(OverlapContractsTest, HoldsAtTheLimit) {
  // 900 of 1500 ns of parameters are hidden, 600 of all are exposed.
  EXPECT_THAT(errorsFor({require("parameters", 60), require("gradients", 100), forbid(600e-9)}), IsEmpty());
}

TEST_F(OverlapContractsTest, NamesTheCollectiveItsWindowAndTheMachine) {
  EXPECT_THAT(
      errorsFor({require("parameters", 80)}),
      ElementsAre("parameters: 60.0 % of the time is hidden, must be at least 80.0 %\n"
                  "5 'all_gather over dp in model.layers.0' is exposed longest: 200 ns of 500 ns; beside it 300 "
                  "ns are computed: aten.mm.default in model.layers.0.mlp\n"
                  "0 to hide it, 200 ns more of computing would have to be between its start and its wait\n"
                  "0 in the step, 600 ns of 1.5 us are exposed, and 300 ns may be\n"
                  "0 times are estimates for own (own.json)"));
}

TEST_F(OverlapContractsTest, AWindowWithoutOperatorsAndOneThatIsLongEnough) {
  for (ProgramTimes &program : programs)
    program.operations[1].windowEnd = 0;
  EXPECT_THAT(errorsFor({require("parameters", 80)})[0], HasSubstr("; nothing is computed beside it\n"));
  for (ProgramTimes &program : programs)
    program.operations[1].windowEnd = 3;
  std::string text = errorsFor({require("parameters", 80)})[0];
  EXPECT_THAT(text, HasSubstr("beside it 600 ns are computed: aten.mm.default in model.layers.0.mlp and 1 other"));
  EXPECT_THAT(text, HasSubstr("its window is long enough, but other collectives are in front of it on its lane"));
}

TEST_F(OverlapContractsTest, LimitsTheExposedTime) {
  EXPECT_THAT(errorsFor({forbid(599e-9), forbid(500e-9, "parameters"), forbid(0, "gradients")}),
              ElementsAre(HasSubstr("communication: 600 ns are exposed, must be at most 599 ns\n"),
                          HasSubstr("parameters: 600 ns are exposed, must be at most 500 ns\n")));
}

TEST_F(OverlapContractsTest, AxesAreExactlyThoseOfTheCommunicator) {
  EXPECT_THAT(errorsFor({require("parameters", 10, {0}), require("gradients", 10, {1, 0})}), IsEmpty());
  EXPECT_THAT(errorsFor({require("gradients", 10, {0})}),
              ElementsAre("the step has no collectives that 'require gradients' is about"));
}

TEST_F(OverlapContractsTest, APartOfAnAxisCountsAsTheAxis) {
  programs[1].operations.push_back(collective("activations", "tp.1.2", 0, 100, 100));
  EXPECT_THAT(errorsFor({require("activations", 10, {1})}),
              ElementsAre(HasSubstr("activations over tp: 0.0 % of the time is hidden, must be at least 10.0 %")));
}

TEST_F(OverlapContractsTest, ANameOfAFoldIsAboutItsDigits) {
  plan.environment.mesh.axes = {{"dp", 8, {}}, {"tp", 2, {}}};
  plan.environment.mesh.folded = {{"edp", 4, {}, {{0, 1, 4}}}, {"ep", 4, {}, {{0, 4, 2}, {1, 1, 2}}}};
  programs[1].operations.push_back(collective("activations", "dp.4.2.tp", 0, 100, 100));
  programs[1].operations.push_back(collective("outputs", "dp.1.4", 0, 100, 100));
  EXPECT_THAT(errorsFor({require("activations", 10, {3})}), ElementsAre(HasSubstr("activations over ep: 0.0 %")));
  EXPECT_THAT(errorsFor({require("outputs", 10, {2})}), ElementsAre(HasSubstr("outputs over edp: 0.0 %")));
  for (AxisList others : {AxisList{2}, AxisList{2, 3}})
    EXPECT_THAT(errorsFor({require("activations", 10, others)}),
                ElementsAre("the step has no collectives that 'require activations' is about"));
}

TEST_F(OverlapContractsTest, OneRankHasNoCollectives) {
  programs = {exampleTimes()[1]};
  programs[0].operations.resize(1);
  programs[0].computed = {0};
  EXPECT_THAT(errorsFor({require("parameters", 10)}),
              ElementsAre("the step has no collectives that 'require parameters' is about"));
  plan.environment.mesh.axes = {{"dp", 1, {}}};
  EXPECT_THAT(errorsFor({require("parameters", 10)}), IsEmpty());
}
