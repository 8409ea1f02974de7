//===- gather_test.cpp - reports at the first rank ------------------------===//

#include "runtime/comm/gather.h"

#include "runtime/comm/threads/run_threads.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

/// The result of each rank if rank i contributes texts[i].
std::vector<std::vector<std::string>> gathered(const std::vector<std::string> &texts) {
  std::vector<std::vector<std::string>> results(texts.size());
  std::vector<Status> statuses = runThreads(static_cast<int64_t>(texts.size()), {}, [&](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(results[world.rank()], gatherAtFirst(world, texts[world.rank()]));
    return Status();
  });
  EXPECT_TRUE(rootCause(statuses).ok()) << rootCause(statuses).message();
  return results;
}

TEST(GatherAtFirst, TextsOfAnyLengthAndContent) {
  const std::vector<std::string> texts = {"", "one", std::string(300'000, 'x'), "", std::string("\0\xff\n", 3)};
  std::vector<std::vector<std::string>> results = gathered(texts);
  EXPECT_EQ(results[0], texts);
  for (size_t rank = 1; rank < texts.size(); ++rank)
    EXPECT_TRUE(results[rank].empty());
}

TEST(GatherAtFirst, ManyRanksAndOne) {
  for (size_t size : {1, 2, 9}) {
    std::vector<std::string> texts;
    for (size_t rank = 0; rank < size; ++rank)
      texts.push_back(std::string(rank, static_cast<char>('a' + rank)));
    EXPECT_EQ(gathered(texts)[0], texts);
  }
}

TEST(GatherAtFirst, EachCallIsOnItsOwn) {
  std::vector<Status> statuses = runThreads(3, {}, [](World &world) -> Status {
    for (int step = 0; step < 20; ++step) {
      std::string own = std::to_string(world.rank() * 1000 + step);
      MESHPLAN_ASSIGN_OR_RETURN(std::vector<std::string> all, gatherAtFirst(world, own));
      if (world.rank() == 0) {
        EXPECT_THAT(all, testing::ElementsAre(own, std::to_string(1000 + step), std::to_string(2000 + step)));
      }
    }
    return Status();
  });
  EXPECT_TRUE(rootCause(statuses).ok()) << rootCause(statuses).message();
}

TEST(GatherAtFirst, ARankThatDoesNotReport) {
  RankOptions options{.timeout = std::chrono::milliseconds(200)};
  std::vector<Status> statuses = runThreads(2, options, [](World &world) -> Status {
    return world.rank() == 0 ? gatherAtFirst(world, "report").status() : Status();
  });
  EXPECT_EQ(statuses[0].message(), "rank 0: all-gather on 'world' (gathering the reports of the ranks): time-out after "
                                   "0.2 s: rank 1 did not arrive");
}

TEST(ShareFromFirst, AllGetTheTextOfTheFirst) {
  for (std::string first : {"", "a text"}) {
    std::vector<std::string> texts{first, "another", "b"};
    std::vector<Status> statuses =
        runThreads(3, {}, [&](World &world) { return shareFromFirst(world, texts[world.rank()], "a test"); });
    EXPECT_TRUE(rootCause(statuses).ok()) << rootCause(statuses).message();
    EXPECT_THAT(texts, testing::Each(first));
  }
}

} // namespace
} // namespace meshplan
