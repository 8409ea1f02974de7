//===- report_diff_test.cpp - two reports compared ------------------------===//

#include "compiler/report/diff/report_diff.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

ParameterReport parameter(const std::string &name, const std::string &layout, int64_t rankBytes,
                          std::vector<int64_t> shape = {8, 4}) {
  return {{name}, "f32", layout, 128, rankBytes, true, std::move(shape)};
}

Report report(std::vector<ParameterReport> parameters) {
  Report report;
  report.axes = {{"tp", 2, {}}};
  report.worldSize = 2;
  report.parameters = std::move(parameters);
  return report;
}

} // namespace

TEST(CompareReports, GroupsLayersThatDifferAlike) {
  Report before = report({parameter("h.0.up", "[8, 4]", 128), parameter("h.0.down", "[8, 4]", 128),
                          parameter("h.1.up", "[8, 4]", 128), parameter("h.1.down", "[8, 4]", 128)});
  Report after = report({parameter("h.1.down", "[8, 4 over tp]", 64), parameter("h.1.up", "[8 over tp, 4]", 64),
                         parameter("h.0.up", "[8 over tp, 4]", 64), parameter("h.0.down", "[8, 4]", 128)});
  ReportDiff diff = compareReports(before, after);
  ASSERT_EQ(diff.parameters.size(), 2u);
  EXPECT_EQ(diff.parameters[0].name, "h.*.up");
  EXPECT_EQ(diff.parameters[0].count, 2);
  EXPECT_EQ(diff.parameters[0].layout.before, "[8, 4]");
  EXPECT_EQ(diff.parameters[0].layout.after, "[8 over tp, 4]");
  EXPECT_EQ(diff.parameters[0].rankBytes.before, 256);
  EXPECT_EQ(diff.parameters[0].rankBytes.after, 128);
  // A single one keeps its number.
  EXPECT_EQ(diff.parameters[1].name, "h.1.down");
  EXPECT_EQ(diff.sameParameters, 1);
}

TEST(CompareReports, TheSameLayoutOnAnotherMeshDiffers) {
  Report before = report({parameter("w", "[8 over tp, 4]", 64)}),
         after = report({parameter("w", "[8 over tp, 4]", 32)});
  EXPECT_EQ(compareReports(before, after).parameters.size(), 1u);
  EXPECT_TRUE(compareReports(before, before).parameters.empty());
}

TEST(CompareReports, AxesOfEitherMesh) {
  Report before = report({}), after = report({});
  after.axes = {{"dp", 3, {}}, {"tp", 4, {}}};
  after.worldSize = 12;
  ReportDiff diff = compareReports(before, after);
  ASSERT_EQ(diff.axes.size(), 2u);
  EXPECT_EQ(diff.axes[0].name, "tp");
  EXPECT_EQ(diff.axes[0].size.before, 2);
  EXPECT_EQ(diff.axes[0].size.after, 4);
  EXPECT_EQ(diff.axes[1].name, "dp");
  EXPECT_EQ(diff.axes[1].size.before, 0);
  EXPECT_EQ(diff.worldSize.after, 12);
}

TEST(CompareReports, CollectivesThatDiffer) {
  Report before = report({}), after = report({});
  before.axes[0].collectives = {{"all_reduce", 8, 800}, {"all_gather", 2, 20}};
  after.axes[0].collectives = {{"reduce_scatter", 5, 100}, {"all_gather", 2, 20}, {"all_reduce", 8, 400}};
  ReportDiff diff = compareReports(before, after);
  ASSERT_EQ(diff.collectives.size(), 2u);
  EXPECT_EQ(diff.collectives[0].kind, "all_reduce");
  EXPECT_EQ(diff.collectives[0].bytes.after, 400);
  EXPECT_EQ(diff.collectives[1].kind, "reduce_scatter");
  EXPECT_EQ(diff.collectives[1].count.before, 0);
  EXPECT_EQ(diff.collectives[1].count.after, 5);
}

TEST(ModelDifferences, NamesAndShapes) {
  Report before = report({parameter("a", "", 0), parameter("b", "", 0), parameter("c", "", 0, {})});
  Report after = report({parameter("d", "", 0), parameter("b", "", 0, {8, 5}), parameter("a", "", 0)});
  EXPECT_THAT(modelDifferences(before, after, "x.plan", "y.plan"),
              ElementsAre("'b' is [8, 4] in the model of x.plan and [8, 5] in that of y.plan",
                          "'c' is a parameter of the model of x.plan only",
                          "'d' is a parameter of the model of y.plan only"));
}

TEST(ModelDifferences, LayoutsAndTypesAreThePlans) {
  Report before = report({parameter("a", "[8, 4]", 128)}), after = report({parameter("a", "[8 over tp, 4]", 64)});
  after.parameters[0].dtype = "bf16";
  EXPECT_THAT(modelDifferences(before, after, "x.plan", "y.plan"), IsEmpty());
}
