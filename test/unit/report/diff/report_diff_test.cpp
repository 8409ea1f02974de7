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
  // A single layer keeps its number.
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

TEST(CompareReports, MemoryIsThatOfTheLargestRank) {
  Report before = report({}), after = report({});
  before.memory = {{.largest = 10, .least = 1},
                   {.largest = 20, .least = 2},
                   {.largest = 30, .least = 3},
                   {.largest = 40, .least = 4}};
  after.memory = {{.largest = 50, .least = 5},
                  {.largest = 60, .least = 6},
                  {.largest = 70, .least = 7},
                  {.largest = 80, .least = 8}};
  ReportDiff diff = compareReports(before, after);
  auto bytes = [](Change<int64_t> change) { return std::pair(change.before, change.after); };
  EXPECT_EQ(bytes(diff.parameterBytes), std::pair(before.memory.parameters.largest, after.memory.parameters.largest));
  EXPECT_EQ(bytes(diff.constantBytes), std::pair(before.memory.constants.largest, after.memory.constants.largest));
  EXPECT_EQ(bytes(diff.inputBytes), std::pair(before.memory.inputs.largest, after.memory.inputs.largest));
  EXPECT_EQ(bytes(diff.peakBytes), std::pair(before.memory.peak.largest, after.memory.peak.largest));
}

TEST(CompareReports, EachWayInWhichAParameterDiffers) {
  Report before = report({parameter("w", "[8, 4]", 128)});
  auto after = [](auto change) {
    ParameterReport own = parameter("w", "[8, 4]", 128);
    change(own);
    return report({own});
  };
  EXPECT_EQ(compareReports(before, after([](ParameterReport &own) { own.dtype = "bf16"; })).parameters.size(), 1u);
  EXPECT_EQ(
      compareReports(before, after([](ParameterReport &own) { own.layout = "[8, 4 over tp]"; })).parameters.size(), 1u);
  EXPECT_EQ(compareReports(before, after([](ParameterReport &own) { own.rankBytes = 64; })).parameters.size(), 1u);
  ReportDiff trained = compareReports(before, after([](ParameterReport &own) { own.trainable = false; }));
  EXPECT_TRUE(trained.parameters.empty()) << "that is the model's";
  EXPECT_EQ(trained.sameParameters, 1);
}

TEST(CompareReports, LayersThatDifferInTypeOrLayoutAreNotOne) {
  Report before = report(
      {parameter("h.0.w", "[8, 4]", 128), parameter("h.1.w", "[8, 4]", 128), parameter("h.2.w", "[8 over tp, 4]", 64)});
  Report after = before;
  after.parameters[0].layout = after.parameters[1].layout = after.parameters[2].layout = "[8, 4 over tp]";
  after.parameters[1].dtype = "bf16";
  std::vector<std::string> names;
  for (const ParameterChange &change : compareReports(before, after).parameters)
    names.push_back(change.name);
  EXPECT_THAT(names, ElementsAre("h.0.w", "h.1.w", "h.2.w"));
}

TEST(CompareReports, CollectivesOverAnAxisThatOneMeshLacks) {
  Report before = report({}), after = report({});
  before.axes = {{"dp", 2, {{"all_reduce", 3, 30}}}, {"tp", 2, {{"all_gather", 1, 10}}}};
  after.axes = {{"tp", 4, {{"all_gather", 1, 10}}}, {"cp", 2, {{"permute", 5, 50}}}};
  std::vector<std::string> texts;
  for (const CollectiveChange &change : compareReports(before, after).collectives)
    texts.push_back(change.axis + " " + change.kind + " " + std::to_string(change.count.before) + " " +
                    std::to_string(change.count.after) + " " + std::to_string(change.bytes.before) + " " +
                    std::to_string(change.bytes.after));
  EXPECT_THAT(texts, ElementsAre("dp all_reduce 3 0 30 0", "cp permute 0 5 0 50"));
  // A kind over two axes has two lines; the same count with fewer bytes is a difference, too.
  after.axes = {{"dp", 2, {{"all_reduce", 3, 29}}}, {"tp", 2, {{"all_reduce", 3, 30}, {"all_gather", 1, 10}}}};
  texts.clear();
  for (const CollectiveChange &change : compareReports(before, after).collectives)
    texts.push_back(change.axis + " " + change.kind);
  EXPECT_THAT(texts, ElementsAre("dp all_reduce", "tp all_reduce"));
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
