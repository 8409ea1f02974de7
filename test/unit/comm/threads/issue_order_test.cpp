//===- issue_order_test.cpp - cycles of starts and of waits ---------------===//

#include "runtime/comm/threads/issue_order.h"

#include <algorithm>
#include <functional>
#include <gmock/gmock.h>
#include <random>

using namespace meshplan;

namespace {

const std::string help = "; help: start it in one order on all ranks; sends of two ranks to each other are one permute";

/// A collective of a test: "A" of ranks 0 and 1.
struct Shared {
  int64_t number;
  std::vector<int64_t> members;
};

Status start(IssueOrder &order, int64_t rank, const Shared &shared) {
  return order.start(rank, shared.number, shared.members, std::string(1, static_cast<char>('A' + shared.number)));
}

} // namespace

TEST(IssueOrder, TheSameOrderOnAllRanksIsFine) {
  IssueOrder order(3);
  const Shared a{0, {0, 1}}, b{1, {0, 1, 2}}, c{2, {1, 2}};
  for (const auto &[rank, shared] : {std::pair(2, b), {2, c}, {0, a}, {1, a}, {0, b}, {1, b}, {1, c}})
    EXPECT_TRUE(start(order, rank, shared).ok());
  EXPECT_EQ(order.size(), 0u) << "all are done";
}

TEST(IssueOrder, TwoRanksWithTwoCollectives) {
  IssueOrder order(2);
  const Shared a{0, {0, 1}}, b{1, {0, 1}};
  EXPECT_TRUE(start(order, 0, a).ok());
  EXPECT_TRUE(start(order, 0, b).ok());
  EXPECT_TRUE(start(order, 1, b).ok());
  Status status = start(order, 1, a);
  EXPECT_EQ(status.code(), StatusCode::invalid);
  EXPECT_EQ(status.message(), "the ranks start what they share in different orders: rank 0 started A before B, rank 1 "
                              "started B before A" +
                                  help);
}

TEST(IssueOrder, NamesOnlyWhatIsShared) {
  IssueOrder order(2);
  const Shared a{0, {0, 1}}, own{1, {0}}, b{2, {0, 1}}, others{3, {1}};
  for (const auto &[rank, shared] : {std::pair(0, a), {0, own}, {0, b}, {1, b}, {1, others}})
    EXPECT_TRUE(start(order, rank, shared).ok());
  EXPECT_EQ(start(order, 1, a).message(), "the ranks start what they share in different orders: rank 0 started A "
                                          "before C, rank 1 started C before A" +
                                              help);
}

TEST(IssueOrder, ThreeRanksOfWhichNoTwoShareTwo) {
  IssueOrder order(3);
  const Shared a{0, {0, 1}}, b{1, {1, 2}}, c{2, {2, 0}};
  for (const auto &[rank, shared] : {std::pair(0, a), {0, c}, {1, b}, {1, a}, {2, c}})
    EXPECT_TRUE(start(order, rank, shared).ok());
  EXPECT_EQ(start(order, 2, b).message(), "the ranks start what they share in different orders: rank 1 started B "
                                          "before A, rank 0 started A before C, rank 2 started C before B" +
                                              help);
}

TEST(IssueOrder, ARankMayBeFarAhead) {
  IssueOrder order(2);
  for (int64_t rank : {0, 1})
    for (int64_t number = 0; number < 1000; ++number)
      EXPECT_TRUE(start(order, rank, {number, {0, 1}}).ok());
  EXPECT_EQ(order.size(), 0u);
}

TEST(IssueOrder, RanksThatWaitForEachOther) {
  IssueOrder order(3);
  const Shared a{0, {0, 1}}, b{1, {1, 2}}, c{2, {2, 0}};
  EXPECT_TRUE(start(order, 0, a).ok());
  EXPECT_TRUE(order.wait(0, 0).ok());
  EXPECT_TRUE(start(order, 1, b).ok());
  EXPECT_TRUE(order.wait(1, 1).ok());
  EXPECT_TRUE(start(order, 2, c).ok());
  Status status = order.wait(2, 2);
  EXPECT_EQ(status.code(), StatusCode::invalid);
  EXPECT_THAT(
      status.message(),
      testing::StartsWith("the ranks wait for each other: rank 2 waits for C, which rank 0 has not started; rank "
                          "0 waits for A, which rank 1 has not started; rank 1 waits for B, which rank 2 has "
                          "not started; help: "));
}

TEST(IssueOrder, AWaitThatHasEndedBlocksNobody) {
  IssueOrder order(2);
  const Shared a{0, {0, 1}}, b{1, {0, 1}};
  EXPECT_TRUE(start(order, 0, a).ok());
  EXPECT_TRUE(order.wait(0, 0).ok());
  EXPECT_TRUE(start(order, 1, a).ok()) << "rank 0 is about to wake";
  EXPECT_TRUE(start(order, 1, b).ok());
  EXPECT_TRUE(order.wait(1, 1).ok());
  order.endWait(0);
}

namespace {

using Lists = std::vector<std::vector<Shared>>;

/// Whether the lists can be merged into one, by removing from their fronts what all members have there.
bool canMerge(const Lists &lists) {
  std::vector<size_t> next(lists.size(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t rank = 0; rank < lists.size(); ++rank) {
      if (next[rank] == lists[rank].size())
        continue;
      const Shared &front = lists[rank][next[rank]];
      moved = std::ranges::all_of(front.members, [&](int64_t member) {
        return next[member] < lists[member].size() && lists[member][next[member]].number == front.number;
      });
      if (!moved)
        continue;
      for (int64_t member : front.members)
        ++next[member];
      break;
    }
  }
  for (size_t rank = 0; rank < lists.size(); ++rank)
    if (next[rank] < lists[rank].size())
      return false;
  return true;
}

/// Random collectives in one order on all ranks, with some neighbours exchanged on single ranks.
Lists randomLists(std::mt19937 &random, int64_t ranks, int64_t count, int exchanges) {
  Lists lists(ranks);
  for (int64_t number = 0; number < count; ++number) {
    std::vector<int64_t> members;
    while (members.empty())
      for (int64_t rank = 0; rank < ranks; ++rank)
        if (random() % 2)
          members.push_back(rank);
    for (int64_t member : members)
      lists[member].push_back({number, members});
  }
  for (int i = 0; i < exchanges; ++i)
    if (auto &list = lists[random() % ranks]; list.size() >= 2) {
      size_t at = random() % (list.size() - 1);
      std::swap(list[at], list[at + 1]);
    }
  return lists;
}

} // namespace

TEST(IssueOrder, FindsACycleIfAndOnlyIfThereIsOne) {
  std::mt19937 random(1);
  int cycles = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    auto ranks = static_cast<int64_t>(2 + random() % 4);
    Lists lists = randomLists(random, ranks, 12, static_cast<int>(random() % 3));
    IssueOrder order(ranks);
    std::vector<size_t> next(ranks, 0);
    size_t left = 0;
    for (const auto &list : lists)
      left += list.size();
    Status status;
    // The ranks start in a random interleaving.
    while (left > 0 && status.ok()) {
      auto rank = static_cast<int64_t>(random() % ranks);
      if (next[rank] == lists[rank].size())
        continue;
      status = start(order, rank, lists[rank][next[rank]++]);
      --left;
    }
    EXPECT_EQ(status.ok(), canMerge(lists)) << "trial " << trial << ": " << status.message();
    EXPECT_TRUE(!status.ok() || order.size() == 0);
    cycles += !status.ok();
  }
  EXPECT_GT(cycles, 300);
  EXPECT_LT(cycles, 2700);
}
