//===- reported_orders_test.cpp - orders that have hung others ------------===//
//
// Orders of communication that users of other systems reported as hangs, as small programs of starts and waits. In
// builds with assertions each ends at once, with what crosses.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/threads/issue_order.h"
#include "runtime/comm/threads/run_threads.h"

#include <gmock/gmock.h>

using namespace meshplan;
using testing::HasSubstr;

namespace {

/// One rank's part in a test: sends and receives of one number, and collectives.
class Part {
public:
  explicit Part(World &world) : world(world) {}

  Status group(std::vector<int64_t> ranks, const std::string &name) {
    MESHPLAN_ASSIGN_OR_RETURN(groups[name], world.createGroup(std::move(ranks), name));
    return Status();
  }

  /// `to` is a rank of the world group "pp". The sequence number names the transfer on both sides.
  Status send(int64_t to, int64_t sequence) {
    return keep(groups["pp"]->startSend(&own, 1, DType::i64, to, label(sequence)));
  }
  Status receive(int64_t from, int64_t sequence) {
    return keep(groups["pp"]->startReceive(&received.emplace_back(), 1, DType::i64, from, label(sequence)));
  }
  Status allToAll(const std::string &name, int64_t sequence) {
    Group &group = *groups[name];
    std::vector<int64_t> ones(group.size(), 1);
    auto &buffer = buffers.emplace_back(2 * group.size());
    return keep(
        group.startAllToAll(buffer.data(), ones, buffer.data() + group.size(), ones, DType::i64, label(sequence)));
  }
  Status allReduce(const std::string &name, int64_t sequence) {
    return keep(
        groups[name]->startAllReduce(&own, &received.emplace_back(), 1, DType::i64, Reduction::sum, label(sequence)));
  }

  Status waitLast() { return pending.back()->wait(); }
  Status waitAll() {
    for (Pending &each : pending)
      MESHPLAN_RETURN_IF_ERROR(each->wait());
    return Status();
  }

private:
  static CollectiveLabel label(int64_t sequence) { return {sequence, "pipeline.plan:7"}; }
  Status keep(Expected<Pending> started) {
    MESHPLAN_ASSIGN_OR_RETURN(Pending next, std::move(started));
    pending.push_back(std::move(next));
    return Status();
  }

  World &world;
  std::map<std::string, std::unique_ptr<Group>> groups;
  int64_t own = 1;
  std::deque<int64_t> received;
  std::deque<std::vector<int64_t>> buffers;
  std::vector<Pending> pending; // last member: destroyed before the buffers
};

class ReportedOrders : public testing::Test {
protected:
  void SetUp() override {
    if (!checksIssueOrder)
      GTEST_SKIP() << "this build has no assertions";
  }

  /// The failure that caused the others, which comes long before the time-out.
  static std::string failureOf(int64_t ranks, const std::function<Status(World &, Part &)> &body) {
    auto begin = std::chrono::steady_clock::now();
    std::vector<Status> statuses = runThreads(ranks, {.timeout = std::chrono::seconds(600)}, [&](World &world) {
      Part part(world);
      Status status = body(world, part);
      return status.ok() ? part.waitAll() : status;
    });
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
    EXPECT_EQ(rootCause(statuses).code(), StatusCode::invalid);
    return rootCause(statuses).message();
  }

  static Status allRanks(World &world, Part &part, const std::string &name) {
    std::vector<int64_t> all;
    for (int64_t rank = 0; rank < world.size(); ++rank)
      all.push_back(rank);
    return part.group(std::move(all), name);
  }
};

} // namespace

// pytorch/pytorch#172668: two ranks with two stages each. Rank 0 sends forward 1 and then receives forward 0; rank 1
// sends forward 0 and then receives forward 1.

TEST_F(ReportedOrders, BothRanksOfAPipelineSendFirst) {
  std::string failure = failureOf(2, [](World &world, Part &part) -> Status {
    MESHPLAN_RETURN_IF_ERROR(allRanks(world, part, "pp"));
    int64_t peer = 1 - world.rank();
    MESHPLAN_RETURN_IF_ERROR(part.send(peer, world.rank()));
    return part.receive(peer, peer);
  });
  EXPECT_THAT(failure, HasSubstr("the ranks start what they share in different orders: "));
  EXPECT_THAT(failure, HasSubstr("rank 0 started send 0 on 'pp' (pipeline.plan:7) before receive 1 on 'pp' "
                                 "(pipeline.plan:7)"));
  EXPECT_THAT(failure, HasSubstr("rank 1 started send 1 on 'pp' (pipeline.plan:7) before receive 0 on 'pp' "
                                 "(pipeline.plan:7)"));
}

TEST_F(ReportedOrders, BothRanksOfAPipelineWaitForTheirSends) {
  std::string failure = failureOf(2, [](World &world, Part &part) -> Status {
    MESHPLAN_RETURN_IF_ERROR(allRanks(world, part, "pp"));
    int64_t peer = 1 - world.rank();
    MESHPLAN_RETURN_IF_ERROR(part.send(peer, world.rank()));
    MESHPLAN_RETURN_IF_ERROR(part.waitLast());
    return part.receive(peer, peer);
  });
  EXPECT_THAT(failure, HasSubstr("the ranks wait for each other: "));
  EXPECT_THAT(failure, HasSubstr("rank 0 waits for send 0 on 'pp' (pipeline.plan:7), which rank 1 has not started"));
  EXPECT_THAT(failure, HasSubstr("rank 1 waits for send 1 on 'pp' (pipeline.plan:7), which rank 0 has not started"));
}

// The same report, with receives first on odd ranks: rank 0 sends F1 and F2 and then receives B0, rank 1 receives F1,
// sends B0 and then receives F2.
TEST_F(ReportedOrders, ParityDoesNotOrderAPipeline) {
  std::string failure = failureOf(2, [](World &world, Part &part) -> Status {
    MESHPLAN_RETURN_IF_ERROR(allRanks(world, part, "pp"));
    constexpr int64_t f1 = 11, f2 = 12, b0 = 20;
    if (world.rank() == 0) {
      MESHPLAN_RETURN_IF_ERROR(part.send(1, f1));
      MESHPLAN_RETURN_IF_ERROR(part.send(1, f2));
      return part.receive(1, b0);
    }
    MESHPLAN_RETURN_IF_ERROR(part.receive(0, f1));
    MESHPLAN_RETURN_IF_ERROR(part.send(0, b0));
    return part.receive(0, f2);
  });
  EXPECT_THAT(failure, HasSubstr("rank 0 started send 12 on 'pp' (pipeline.plan:7) before receive 20 on 'pp'"));
  EXPECT_THAT(failure, HasSubstr("rank 1 started send 20 on 'pp' (pipeline.plan:7) before receive 12 on 'pp'"));
}

// NVIDIA/Megatron-LM#1810: dispatch and combine of experts become ready together, and ranks launch them in different
// orders. On one communicator the ranks disagree about its next collective; on two they cross.

TEST_F(ReportedOrders, DispatchAndCombineOnOneCommunicator) {
  std::string failure = failureOf(4, [](World &world, Part &part) -> Status {
    MESHPLAN_RETURN_IF_ERROR(allRanks(world, part, "ep"));
    constexpr int64_t dispatch = 3, combine = 4;
    MESHPLAN_RETURN_IF_ERROR(part.allToAll("ep", world.rank() == 2 ? combine : dispatch));
    return part.allToAll("ep", world.rank() == 2 ? dispatch : combine);
  });
  EXPECT_THAT(failure, HasSubstr("the ranks disagree: rank 0 started all-to-all 3 on 'ep' (pipeline.plan:7), rank 2 "
                                 "started all-to-all 4 on 'ep' (pipeline.plan:7)"));
}

TEST_F(ReportedOrders, DispatchAndGradientReductionOnTwoCommunicators) {
  std::string failure = failureOf(4, [](World &world, Part &part) -> Status {
    MESHPLAN_RETURN_IF_ERROR(allRanks(world, part, "ep"));
    MESHPLAN_RETURN_IF_ERROR(allRanks(world, part, "dp"));
    if (world.rank() != 2)
      MESHPLAN_RETURN_IF_ERROR(part.allToAll("ep", 3));
    MESHPLAN_RETURN_IF_ERROR(part.allReduce("dp", 4));
    return world.rank() == 2 ? part.allToAll("ep", 3) : Status();
  });
  EXPECT_THAT(failure, HasSubstr("rank 2 started all-reduce 4 on 'dp' (pipeline.plan:7) before all-to-all 3 on 'ep' "
                                 "(pipeline.plan:7)"));
  EXPECT_THAT(failure, testing::ContainsRegex("rank [013] started all-to-all 3 on 'ep' \\(pipeline.plan:7\\) before "
                                              "all-reduce 4 on 'dp' \\(pipeline.plan:7\\)"));
}

// NVIDIA/Megatron-LM#5100: four stages exchange shapes, each in the order send to the previous, receive from it, send
// to the next, receive from it.
TEST_F(ReportedOrders, AFixedOrderOfNeighbours) {
  for (bool waits : {false, true}) {
    std::string failure = failureOf(4, [waits](World &world, Part &part) -> Status {
      MESHPLAN_RETURN_IF_ERROR(allRanks(world, part, "pp"));
      int64_t rank = world.rank();
      for (int64_t neighbour : {rank - 1, rank + 1}) {
        if (neighbour < 0 || neighbour >= world.size())
          continue;
        MESHPLAN_RETURN_IF_ERROR(part.send(neighbour, 10 * rank + neighbour));
        if (waits)
          MESHPLAN_RETURN_IF_ERROR(part.waitLast());
        MESHPLAN_RETURN_IF_ERROR(part.receive(neighbour, 10 * neighbour + rank));
      }
      return Status();
    });
    if (waits)
      EXPECT_THAT(failure, testing::ContainsRegex("rank ([0-3]) waits for send [0-9]+ on 'pp' \\(pipeline.plan:7\\), "
                                                  "which rank [0-3] has not started"));
    else
      EXPECT_THAT(failure, testing::ContainsRegex("rank [0-3] started send [0-9]+ on 'pp' \\(pipeline.plan:7\\) before "
                                                  "receive [0-9]+ on 'pp'"));
  }
}

// The way out that the message names.
TEST_F(ReportedOrders, OnePermuteCrossesInBothDirections) {
  std::vector<Status> statuses = runThreads(2, {}, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("pp"));
    int64_t own = world.rank(), other = -1, peer = 1 - own;
    MESHPLAN_RETURN_IF_ERROR(waitFor(group->startPermute(&own, 1, peer, &other, 1, peer, DType::i64)));
    EXPECT_EQ(other, peer);
    return Status();
  });
  EXPECT_TRUE(rootCause(statuses).ok()) << rootCause(statuses).message();
}
