//===- snapshot_test.cpp - which replica goes to disk ---------------------===//

#include "runtime/checkpoint/snapshot.h"

#include "test/unit/exec/loaded_schedule.h"

#include <gmock/gmock.h>
#include <map>

using namespace meshplan;
using testing::AllOf;
using testing::ElementsAre;
using testing::Ge;
using testing::Le;

namespace {

/// The number of elements that each rank writes, if every shard of every value is written by one of its holders.
std::vector<int64_t> writtenElements(const LoadedSchedule &loaded, std::span<const int> values) {
  std::vector<int64_t> elements(loaded.worldSize());
  std::map<std::pair<int, std::string>, int> writers;
  for (int64_t rank = 0; rank < loaded.worldSize(); ++rank) {
    RankView view = loaded.view(rank);
    std::vector<bool> written = writtenValues(view, values);
    EXPECT_EQ(written.size(), values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      writers[{values[i], testing::PrintToString(view.slices(values[i]))}] += written[i];
      elements[rank] += written[i] ? elementCount(view.shape(values[i])) : 0;
    }
  }
  for (const auto &[part, count] : writers)
    EXPECT_EQ(count, 1) << "value " << part.first;
  return elements;
}

} // namespace

TEST(WrittenValues, CopiesAreSplitByTheirBytes) {
  ScheduleBuilder builder({{"dp", 4}});
  std::vector<int> values;
  for (int64_t extent : {100, 1, 1, 98, 50, 50, 90, 10})
    values.push_back(builder.value({{extent}}));
  EXPECT_THAT(writtenElements(LoadedSchedule(builder), values), ElementsAre(100, 100, 100, 100));
}

TEST(WrittenValues, ALargeOneIsNotCut) {
  ScheduleBuilder builder({{"dp", 4}});
  std::vector<int> values = {builder.value({{1000}}), builder.value({{1}}), builder.value({})};
  EXPECT_THAT(writtenElements(LoadedSchedule(builder), values), ElementsAre(0, 1000, 0, 2));
}

TEST(WrittenValues, PartsThatOneRankHoldsAreItsOwn) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
  std::vector<int> values = {builder.value({{12, {"dp", "tp"}}}),
                             builder.value({{7, {"tp"}}}),
                             builder.value({{7, {"tp"}}}),
                             builder.value({{0}}),
                             builder.value({{5}}),
                             builder.flat(builder.value({{4}, {9, {"tp"}}}), {"dp"})};
  std::vector<int64_t> written = writtenElements(LoadedSchedule(builder), values);
  EXPECT_THAT(written, testing::Each(AllOf(Ge(2 + 6 + 2), Le(2 + 6 + 3 + 5))));
}

TEST(WrittenValues, NothingIsWrittenOfNothing) {
  ScheduleBuilder builder({{"dp", 2}});
  EXPECT_THAT(writtenValues(LoadedSchedule(builder).view(1), {}), ElementsAre());
}
