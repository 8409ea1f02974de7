//===- verdicts_test.cpp - the findings of all ranks ----------------------===//

#include "runtime/verify/verdicts.h"

#include <gmock/gmock.h>

using namespace meshplan;
using testing::ElementsAre;

namespace {

Subject subject(SubjectKind kind) { return {.kind = kind}; }

Finding error(double largest, double own = 0, double magnitude = 0) { return {{largest, largest}, own, magnitude}; }

using Findings = std::vector<std::vector<Finding>>;

} // namespace

TEST(VerdictsTest, TheWorstRankSpeaks) {
  std::vector<Subject> subjects{subject(SubjectKind::output)};
  std::vector<Verdict> verdicts = judge(subjects, Findings{{error(1)}, {error(9)}, {error(5)}}, {{1}, {0}});
  EXPECT_EQ(verdicts[0].rank, 1);
  EXPECT_EQ(verdicts[0].deviation.error, 9);
  EXPECT_THAT(verdicts[0].wrongRanks, ElementsAre(1, 2));
  EXPECT_FALSE(verdicts[0].isRight());
}

TEST(VerdictsTest, GradientsAreComparedWithTheLargestOfAll) {
  std::vector<Subject> subjects{subject(SubjectKind::gradient), subject(SubjectKind::gradient),
                                subject(SubjectKind::output)};
  std::vector<Verdict> verdicts =
      judge(subjects, Findings{{error(1), error(1), error(1)}}, {{0, 0, 0}, {10, 3e6, 1e9}});
  EXPECT_DOUBLE_EQ(verdicts[0].deviation.bound, 3);
  EXPECT_DOUBLE_EQ(verdicts[1].deviation.bound, 3);
  EXPECT_DOUBLE_EQ(verdicts[2].deviation.bound, 1000) << "an output with itself";
}

TEST(VerdictsTest, NumbersOfParametersComeFromTheRanks) {
  std::vector<Subject> subjects{subject(SubjectKind::parameter), subject(SubjectKind::parameter)};
  Findings findings{{error(5, 1, 2e6), error(1)}, {error(7, 3, 1e6), error(9, 0, 7e6)}};
  std::vector<Verdict> verdicts = judge(subjects, findings, {{0, 0}, {0, 0}});
  EXPECT_DOUBLE_EQ(verdicts[0].deviation.own, 3);
  EXPECT_DOUBLE_EQ(verdicts[0].deviation.bound, 9);
  EXPECT_DOUBLE_EQ(verdicts[1].deviation.bound, 7) << "of the largest parameter of all";
  EXPECT_THAT(verdicts[1].wrongRanks, ElementsAre(1));
}

TEST(VerdictsTest, EachSubjectHasTheBoundOfItsOwnBits) {
  std::vector<Subject> subjects(2, subject(SubjectKind::parameter));
  subjects[1].isHalf = true;
  Findings findings{{error(3, 1, 1), error(3, 1, 1)}};
  std::vector<Verdict> verdicts = judge(subjects, findings, {{0, 0}, {0, 0}});
  EXPECT_DOUBLE_EQ(verdicts[0].deviation.bound, 3);
  EXPECT_TRUE(verdicts[0].isRight());
  EXPECT_DOUBLE_EQ(verdicts[1].deviation.bound, 1.5);
  EXPECT_FALSE(verdicts[1].isRight());
}
