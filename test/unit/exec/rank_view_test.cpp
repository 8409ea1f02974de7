#include "runtime/exec/rank_view.h"

#include "test/unit/exec/loaded_schedule.h"

#include <gmock/gmock.h>
#include <map>
#include <set>

using namespace meshplan;
using testing::ElementsAre;

namespace {

std::vector<int64_t> firstHolders(const LoadedSchedule &loaded, int value) {
  std::vector<int64_t> ranks;
  for (int64_t rank = 0; rank < loaded.worldSize(); ++rank)
    if (loaded.view(rank).isFirstHolder(value))
      ranks.push_back(rank);
  return ranks;
}

} // namespace

TEST(RankViewTest, OneRankSpeaksForEachPart) {
  ScheduleBuilder builder({{"pp", 2}, {"dp", 4}, {"tp", 3}});
  int whole = builder.value({{8}}), byTp = builder.value({{8}, {6, {"tp"}}}), byDigit = builder.value({{8}});
  // The minor half of dp: coordinates 0, 1, 2, 3 hold parts 0, 1, 0, 1.
  builder.program().values[byDigit]->dims[0]->axes = {{1, 2, 2}};
  LoadedSchedule loaded(builder);
  EXPECT_THAT(firstHolders(loaded, whole), ElementsAre(0));
  EXPECT_THAT(firstHolders(loaded, byTp), ElementsAre(0, 1, 2));
  EXPECT_THAT(firstHolders(loaded, byDigit), ElementsAre(0, 3));
}

TEST(RankViewTest, PlacesAmongTheHoldersOfAPart) {
  ScheduleBuilder builder({{"pp", 2}, {"dp", 8}, {"tp", 3}});
  std::vector<int> values = {
      builder.value({}),    builder.value({{6, {"tp"}}}),      builder.value({{4}, {32, {"dp", "pp"}}}),
      builder.value({{8}}), builder.value({{8}, {9, {"tp"}}}), builder.flat(builder.value({{4}, {7, {"tp"}}}), {"dp"}),
      builder.value({{8}})};
  builder.program().values[values[3]]->dims[0]->axes = {{1, 2, 2}};
  builder.program().values[values[4]]->dims[0]->axes = {{1, 4, 2}, {1, 1, 2}};
  builder.program().values[values[6]]->dims[0]->axes = {{1, 4, 2}, {1, 1, 2}, {0, 1, 2}};
  LoadedSchedule loaded(builder);
  for (int value : values) {
    // The number of earlier ranks with the same part is the rank's index among them.
    std::map<std::string, int64_t> seen;
    for (int64_t rank = 0; rank < loaded.worldSize(); ++rank) {
      std::string part = testing::PrintToString(loaded.view(rank).slices(value));
      EXPECT_EQ(loaded.view(rank).indexAmongHolders(value), seen[part]++) << "value " << value << ", rank " << rank;
    }
    for (const auto &[part, holders] : seen)
      EXPECT_EQ(loaded.view(0).holders(value), holders) << "value " << value;
  }
}

TEST(RankViewTest, FirstHoldersHaveEveryElementOnce) {
  ScheduleBuilder builder({{"pp", 2}, {"dp", 4}, {"tp", 3}});
  std::vector<int> values = {
      builder.value({}), builder.value({{0, {"dp"}}}), builder.value({{7, {"tp", "pp"}}, {5, {"dp"}}}),
      builder.value({{2, {"dp"}}, {12, {"tp"}, 2, {8, 4}}}), builder.value({{5}, {9, {"pp", "dp", "tp"}}})};
  builder.program().values[values[1]]->dims[0]->axes = {{1, 1, 2}};
  builder.program().values[values[3]]->dims[0]->axes = {{1, 2, 2}, {0, 1, 2}};
  LoadedSchedule loaded(builder);
  for (int value : values) {
    std::vector<int64_t> shape = globalShapeOf(loaded.view(0).value(value));
    std::multiset<int64_t> elements;
    for (int64_t rank : firstHolders(loaded, value))
      for (int64_t element : elementsIn(loaded.view(rank).ranges(value), shape))
        elements.insert(element);
    std::multiset<int64_t> all;
    for (int64_t element = 0; element < elementCount(shape); ++element)
      all.insert(element);
    EXPECT_EQ(elements, all) << "value " << value;
  }
}

TEST(RankViewTest, PlacesInTheGlobalTensor) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
  int rows = builder.value({{5, {"dp"}}, {7, {"tp"}}}), parts = builder.value({{2}, {12, {"tp"}, 2, {8, 4}}});
  int flat = builder.flat(builder.value({{4}, {7, {"tp"}}}), {"dp"}), one = builder.value({});
  LoadedSchedule loaded(builder);
  for (int value : {rows, parts, flat, one})
    for (int64_t rank = 0; rank < 6; ++rank) {
      RankView view = loaded.view(rank);
      std::vector<int64_t> shape = globalShapeOf(view.value(value)), elements = elementsIn(view.ranges(value), shape);
      int64_t begin = isFlat(view.value(value)) ? view.run(value).offset : 0;
      for (int64_t element = 0; element < elementCount(view.shape(value)); ++element)
        EXPECT_EQ(view.globalPosition(value, element), positionOf(elements[begin + element], shape))
            << "value " << value << ", rank " << rank << ", element " << element;
    }
}

TEST(RankViewTest, ShapesAndRangesOfARank) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
  int value = builder.value({{5, {"dp"}}, {7, {"tp"}}}, DType::bf16);
  LoadedSchedule loaded(builder);
  EXPECT_EQ(loaded.view(4).rank(), 4);
  EXPECT_EQ(loaded.view(4).worldSize(), 6);
  EXPECT_EQ(loaded.view(4).dtype(value), DType::bf16);
  // Rank 4 is (1, 1): rows from ceil(5 / 2), columns from ceil(7 / 3) to ceil(14 / 3).
  EXPECT_THAT(loaded.view(4).shape(value), ElementsAre(2, 2));
  EXPECT_THAT(loaded.view(4).ranges(value), ElementsAre(ElementsAre(Range{3, 2}), ElementsAre(Range{3, 2})));
  EXPECT_THAT(loaded.view(4).peer(0).shape(value), ElementsAre(3, 3));
  EXPECT_EQ(loaded.view(4).peer(0).rank(), 0);
}

TEST(RankViewTest, IntegersThatDependOnTheRank) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
  int value = builder.value({{5, {"dp"}}, {7, {"tp"}}}), parts = builder.value({{12, {"tp"}, 2, {8, 4}}});
  LoadedSchedule loaded(builder);
  auto onRank = [&](int64_t rank, artifact::IntExpr expression) { return loaded.view(rank).evaluate(expression); };
  EXPECT_EQ(onRank(5, {42, -1, 0, 7, 7}), 42) << "only the constant counts";
  EXPECT_EQ(onRank(0, {0, value, 1, 1, 0}), 0);
  EXPECT_EQ(onRank(1, {0, value, 1, 1, 0}), 3);
  EXPECT_EQ(onRank(2, {0, value, 1, 1, 0}), 5);
  EXPECT_EQ(onRank(2, {0, value, 1, 0, 1}), 2);
  EXPECT_EQ(onRank(5, {0, value, 0, 1, 0}), 3);
  EXPECT_EQ(onRank(5, {100, value, 0, -2, 10}), 100 - 2 * 3 + 10 * 2);
  EXPECT_EQ(onRank(0, {1, value, 0, 0, 0}), 1);
  // With blocks of 2, the first of three ranks holds 4 of 8 and 2 of 4, the second 2 and 2, the third 2 and none.
  EXPECT_EQ(onRank(0, {0, parts, 0, 0, 1}), 6);
  EXPECT_EQ(onRank(1, {0, parts, 0, 0, 1}), 4);
  EXPECT_EQ(onRank(2, {0, parts, 0, 0, 1}), 2);
}

TEST(RankViewTest, GroupsOfCommunicators) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
  for (const char *name : {"dp", "tp", "turned"})
    builder.schedule().communicators.emplace_back(std::make_unique<artifact::CommunicatorT>())->name = name;
  builder.schedule().communicators[0]->axes = {{0, 1, 2}};
  builder.schedule().communicators[1]->axes = {{1, 1, 3}};
  builder.schedule().communicators[2]->axes = {{1, 1, 3}, {0, 1, 2}};
  LoadedSchedule loaded(builder);
  auto groupOf = [&](int64_t rank, int index) {
    return loaded.view(rank).group(*loaded.schedule().communicators()->Get(index));
  };
  EXPECT_THAT(groupOf(4, 0), ElementsAre(1, 4));
  EXPECT_THAT(groupOf(4, 1), ElementsAre(3, 4, 5));
  EXPECT_THAT(groupOf(4, 2), ElementsAre(0, 3, 1, 4, 2, 5)) << "dp varies fastest";
}

TEST(RankViewTest, AProgramOnDevicesOfItsOwn) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
  int value = builder.value({{5}});
  auto &axis = *builder.program().devices.emplace_back(std::make_unique<artifact::AxisT>());
  axis.name = "one";
  axis.size = 1;
  LoadedSchedule loaded(builder);
  EXPECT_EQ(loaded.view(0).worldSize(), 1);
  EXPECT_TRUE(loaded.view(0).isFirstHolder(value));
  EXPECT_THAT(loaded.view(0).shape(value), ElementsAre(5));
}
