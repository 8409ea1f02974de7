//===- failures_test.cpp - late, lost and disagreeing ranks ---------------===//

#include "test/conformance/helpers.h"

#include <thread>

namespace meshplan {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

const CollectiveLabel label = {.sequence = 12, .origin = "smollm2.plan:12 rowwise tp"};

Status sumOne(Group &group) {
  float input = 1, output = 0;
  return finish(group.startAllReduce(&input, &output, 1, DType::f32, Reduction::sum, label));
}

/// A rank that hangs until the run has ended.
Status stall(World &world) {
  MESHPLAN_ASSIGN_OR_RETURN(auto own, world.createGroup({world.rank()}, "self"));
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    MESHPLAN_RETURN_IF_ERROR(finish(own->startBarrier()));
  }
}

TEST(Failures, TimeoutNamesCollectiveAndMissingRanks) {
  Clock::time_point begin = Clock::now();
  std::vector<Status> statuses = runWorld(4, shortTimeout, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world, "tp"));
    if (world.rank() % 2 == 1)
      return stall(world);
    return sumOne(*group);
  });
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
  // Ranks 0 and 2 both wait. The first to time out ends the other, unless both time out at the same moment.
  auto timedOut = [](const std::string &rank) {
    return "rank " + rank +
           ": all-reduce 12 on 'tp' \\(smollm2.plan:12 rowwise tp\\): time-out after 0.2 s: ranks 1, 3 did not arrive";
  };
  size_t first = statuses[0].code() == StatusCode::timeout ? 0 : 2, other = 2 - first;
  EXPECT_EQ(statuses[first].code(), StatusCode::timeout);
  EXPECT_THAT(statuses[first].message(), testing::MatchesRegex(timedOut(std::to_string(first))));
  EXPECT_THAT(statuses[other].message(), testing::EndsWith("ranks 1, 3 did not arrive"));
  for (size_t stalled : {1, 3}) {
    EXPECT_EQ(statuses[stalled].code(), StatusCode::aborted);
    EXPECT_THAT(statuses[stalled].message(), testing::MatchesRegex(".*: aborted: " + timedOut("(0|2)")));
  }
  EXPECT_EQ(rootCause(statuses).message(),
            statuses[0].code() == StatusCode::timeout ? statuses[0].message() : statuses[2].message());
}

TEST(Failures, AWaitMayHaveALimitOfItsOwn) {
  std::vector<Status> statuses = runWorld(2, longTimeout, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world, "tp"));
    if (world.rank() == 1)
      return stall(world);
    MESHPLAN_ASSIGN_OR_RETURN(Pending barrier, group->startBarrier());
    Status status = barrier->wait(std::chrono::milliseconds(50));
    EXPECT_EQ(barrier->wait().message(), status.message()) << "a later wait returns the same";
    return status;
  });
  EXPECT_EQ(statuses[0].message(), "rank 0: barrier on 'tp': time-out after 0.05 s: rank 1 did not arrive");
}

TEST(Failures, ARankThatThrowsEndsTheOthers) {
  Clock::time_point begin = Clock::now();
  std::vector<Status> statuses = runWorld(3, longTimeout, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world, "tp"));
    MESHPLAN_RETURN_IF_ERROR(sumOne(*group));
    if (world.rank() == 1)
      throw std::runtime_error("out of memory");
    return sumOne(*group);
  });
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(rootCause(statuses).message(), "exception: out of memory");
  EXPECT_EQ(statuses[0].code(), StatusCode::peerLost);
  // On a device, the first sum may be done while its reader still runs.
  EXPECT_THAT(statuses[0].message(),
              AnyOf(HasSubstr("rank 0: all-reduce 12 on 'tp' (smollm2.plan:12 rowwise tp): aborted"),
                    HasSubstr("rank 0: waiting for the device: aborted")));
  EXPECT_THAT(statuses[2].message(), HasSubstr(": rank 1 failed: exception: out of memory"));
}

TEST(Failures, ARankThatFailsWithACollectiveInFlight) {
  // Its buffers are freed while the peers wait; they must not be used any more.
  std::vector<Status> statuses = runWorld(3, longTimeout, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world, "tp"));
    std::vector<float> input(100000, 1), output(100000);
    // If all three were there, the sum could finish before rank 1 leaves it.
    if (world.rank() == 0)
      static_cast<void>(stall(world));
    MESHPLAN_ASSIGN_OR_RETURN(
        Pending sum, group->startAllReduce(input.data(), output.data(), 100000, DType::f32, Reduction::sum, label));
    if (world.rank() == 1)
      return Status(StatusCode::internal, "numeric fault");
    return sum->wait();
  });
  EXPECT_EQ(rootCause(statuses).message(), "numeric fault");
  EXPECT_EQ(statuses[2].code(), StatusCode::peerLost);
  EXPECT_THAT(statuses[2].message(),
              HasSubstr("rank 1: all-reduce 12 on 'tp' (smollm2.plan:12 rowwise tp): ended before its wait"));
}

TEST(Failures, AbortEndsCollectivesOfAllGroups) {
  std::vector<Status> statuses = runWorld(4, longTimeout, [](World &world) -> Status {
    if (world.rank() == 3)
      return Status(StatusCode::invalid, "the loss is not a number");
    std::vector<int64_t> pair = world.rank() == 2 ? std::vector<int64_t>{2, 3} : std::vector<int64_t>{0, 1, 3};
    MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createGroup(pair, "g"));
    return sumOne(*group);
  });
  for (size_t rank : {0, 1, 2}) {
    EXPECT_EQ(statuses[rank].code(), StatusCode::peerLost);
    EXPECT_THAT(statuses[rank].message(), HasSubstr("rank 3 failed: the loss is not a number"));
  }
}

/// Both ranks run `start`, which differs between them. The failure's message must contain the expected text.
void expectDisagreement(const std::function<Expected<Pending>(Group &)> &start, const std::string &text) {
  std::vector<Status> statuses = runWorld(2, longTimeout, [&](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world, "tp"));
    return finish(start(*group));
  });
  EXPECT_EQ(rootCause(statuses).code(), StatusCode::invalid);
  EXPECT_THAT(rootCause(statuses).message(), testing::EndsWith("the ranks disagree: " + text));
  EXPECT_FALSE(statuses[0].ok());
  EXPECT_FALSE(statuses[1].ok());
}

float buffer[2][64];

TEST(Disagreement, Kind) {
  MESHPLAN_SKIP_IF_OMITTED(omissions().disagreement);
  expectDisagreement(
      [](Group &group) {
        float *own = buffer[group.index()];
        return group.index() == 0 ? group.startAllReduce(own, own, 4, DType::f32, Reduction::sum, label)
                                  : group.startBroadcast(own, 4, DType::f32, 0, label);
      },
      "rank 0 started all-reduce 12 on 'tp' (smollm2.plan:12 rowwise tp), "
      "rank 1 started broadcast 12 on 'tp' (smollm2.plan:12 rowwise tp)");
}

TEST(Disagreement, Sequence) {
  MESHPLAN_SKIP_IF_OMITTED(omissions().disagreement);
  expectDisagreement([](Group &group) { return group.startBarrier({.sequence = 7 + group.index(), .origin = ""}); },
                     "rank 0 started barrier 7 on 'tp', rank 1 started barrier 8 on 'tp'");
}

TEST(Disagreement, Count) {
  MESHPLAN_SKIP_IF_OMITTED(omissions().disagreement);
  expectDisagreement(
      [](Group &group) {
        float *own = buffer[group.index()];
        return group.startAllReduce(own, own, 8 >> group.index(), DType::f32, Reduction::sum);
      },
      "rank 0 has 8 elements, rank 1 has 4 elements");
}

TEST(Disagreement, DType) {
  MESHPLAN_SKIP_IF_OMITTED(omissions().disagreement);
  expectDisagreement(
      [](Group &group) {
        float *own = buffer[group.index()];
        return group.startAllReduce(own, own, 4, group.index() == 0 ? DType::f32 : DType::bf16, Reduction::sum);
      },
      "rank 0 has f32, rank 1 has bf16");
}

TEST(Disagreement, Reduction) {
  MESHPLAN_SKIP_IF_OMITTED(omissions().disagreement);
  expectDisagreement(
      [](Group &group) {
        float *own = buffer[group.index()];
        return group.startAllReduce(own, own, 4, DType::f32, group.index() == 0 ? Reduction::sum : Reduction::max);
      },
      "rank 0 has sum, rank 1 has max");
}

TEST(Disagreement, GatherCounts) {
  MESHPLAN_SKIP_IF_OMITTED(omissions().disagreement);
  expectDisagreement(
      [](Group &group) {
        std::vector<int64_t> counts = {4, 4 + group.index()};
        return group.startAllGather(buffer[group.index()], buffer[group.index()] + 32, counts, DType::f32);
      },
      "rank 0 has counts [4, 4], rank 1 has counts [4, 5]");
}

TEST(Disagreement, ScatterCounts) {
  MESHPLAN_SKIP_IF_OMITTED(omissions().disagreement);
  expectDisagreement(
      [](Group &group) {
        return group.startReduceScatter(buffer[group.index()], buffer[group.index()] + 32, 4 + group.index(),
                                        DType::f32, Reduction::sum);
      },
      "rank 0 has counts [4, 4], rank 1 has counts [5, 5]");
}

TEST(Disagreement, AllToAllCounts) {
  MESHPLAN_SKIP_IF_OMITTED(omissions().disagreement);
  expectDisagreement(
      [](Group &group) {
        std::vector<int64_t> sent = {1, 2}, received = {1, group.index() == 0 ? 1 : 2};
        return group.startAllToAll(buffer[group.index()], sent, buffer[group.index()] + 32, received, DType::f32);
      },
      "rank 0 sends 2 elements to rank 1, which expects 1");
}

TEST(Disagreement, SendAndReceive) {
  MESHPLAN_SKIP_IF_OMITTED(omissions().disagreement);
  expectDisagreement(
      [](Group &group) {
        return group.index() == 0 ? group.startSend(buffer[0], 3, DType::f32, 1)
                                  : group.startReceive(buffer[1], 5, DType::f32, 0);
      },
      "rank 0 sends 3 elements to rank 1, which expects 5");
}

TEST(Disagreement, Root) {
  MESHPLAN_SKIP_IF_OMITTED(omissions().disagreement);
  expectDisagreement(
      [](Group &group) { return group.startBroadcast(buffer[group.index()], 4, DType::f32, group.index()); },
      "rank 0 has root 0, rank 1 has root 1");
}

} // namespace
} // namespace meshplan
