//===- agree_test.cpp - the hash handshake, reports, wrong arguments ------===//

#include "runtime/comm/gather.h"
#include "test/conformance/helpers.h"

namespace meshplan {
namespace {

using testing::HasSubstr;

std::span<const std::byte> bytesOf(const std::string &text) { return std::as_bytes(std::span(text)); }

TEST(Agree, SameHashOnAllRanks) {
  expectOk(5, [](World &world) {
    std::string hash = "0123456789abcdef";
    return world.agree(bytesOf(hash));
  });
}

TEST(Agree, NamesTheRanksThatDiffer) {
  std::vector<Status> statuses = runWorld(5, longTimeout, [](World &world) {
    std::string hash = world.rank() == 2 || world.rank() == 4 ? "other" : "hash";
    return world.agree(bytesOf(hash));
  });
  for (const Status &status : statuses) {
    EXPECT_EQ(status.code(), StatusCode::invalid);
    EXPECT_THAT(
        status.message(),
        testing::MatchesRegex("ranks 2, 4 run a different program than rank 0: hash "
                              "[0-9a-f]+ of rank 2, [0-9a-f]+ of rank 0; help: give all ranks the same schedule"));
  }
}

TEST(Agree, HashesOfDifferentLengthDiffer) {
  std::vector<Status> statuses = runWorld(2, longTimeout, [](World &world) {
    std::string hash(static_cast<size_t>(world.rank()), '\0');
    return world.agree(bytesOf(hash));
  });
  EXPECT_THAT(statuses[0].message(), HasSubstr("rank 1 runs a different program than rank 0"));
}

TEST(Agree, ARankThatIsNotThere) {
  std::vector<Status> statuses = runWorld(2, shortTimeout, [](World &world) {
    std::string hash = "hash";
    return world.rank() == 0 ? world.agree(bytesOf(hash)) : Status();
  });
  EXPECT_EQ(statuses[0].message(),
            "rank 0: all-gather on 'world' (comparing the programs of the ranks): time-out after "
            "0.2 s: rank 1 did not arrive");
}

TEST(Gather, GivesTheFirstRankTheTextsOfAll) {
  expectOk(4, [](World &world) -> Status {
    std::vector<std::string> texts = {"zero", "", std::string(1'000'000, 'x'), std::string("a\0b", 3)};
    MESHPLAN_ASSIGN_OR_RETURN(std::vector<std::string> gathered, gatherAtFirst(world, texts[world.rank()]));
    EXPECT_EQ(gathered, world.rank() == 0 ? texts : std::vector<std::string>());
    return Status();
  });
}

/// Errors that a single rank can find are rejected at the start.
void expectRefused(const std::function<Status(World &)> &body, const std::string &message) {
  std::vector<Status> statuses = runWorld(1, longTimeout, body);
  EXPECT_EQ(statuses[0].code(), StatusCode::invalid);
  EXPECT_EQ(statuses[0].message(), message);
}

Status withGroup(World &world, const std::function<Expected<Pending>(Group &)> &start) {
  MESHPLAN_ASSIGN_OR_RETURN(auto group, worldGroup(world, "g"));
  return finish(start(*group));
}

TEST(Arguments, Groups) {
  auto create = [](std::vector<int64_t> ranks) {
    return [ranks](World &world) { return world.createGroup(ranks, "g").status(); };
  };
  expectRefused(create({0, 1}), "group 'g' has a rank outside of the world of 1");
  expectRefused(create({}), "group 'g' has a rank outside of the world of 1");
  expectRefused(create({0, 0}), "group 'g' has a rank twice");
  std::vector<Status> statuses = runWorld(2, longTimeout, [](World &world) -> Status {
    return world.rank() == 0 ? world.createGroup({1}, "g").status() : Status();
  });
  EXPECT_EQ(statuses[0].message(), "rank 0 is not in group 'g'");
}

TEST(Arguments, Collectives) {
  float data[4] = {};
  auto refused = [](const std::function<Expected<Pending>(Group &)> &start, const std::string &message) {
    expectRefused([&](World &world) { return withGroup(world, start); }, message);
  };
  refused([&](Group &g) { return g.startAllReduce(data, data, -1, DType::f32, Reduction::sum); },
          "rank 0: all-reduce on 'g': count -1 is negative");
  refused([&](Group &g) { return g.startAllReduce(nullptr, data, 4, DType::f32, Reduction::sum); },
          "rank 0: all-reduce on 'g': no buffer for 4 elements");
  refused([&](Group &g) { return g.startAllReduce(data, data, 4, DType::boolean, Reduction::sum); },
          "rank 0: all-reduce on 'g': bool values cannot be summed");
  refused([&](Group &g) { return g.startAllGather(data, data, std::vector<int64_t>{1, 2}, DType::f32); },
          "rank 0: all-gather on 'g': 2 receive counts for a group of 1 ranks");
  refused([&](Group &g) { return g.startReduceScatter(data, data, -4, DType::f32, Reduction::sum); },
          "rank 0: reduce-scatter on 'g': send count -4 is negative");
  refused([&](Group &g) { return g.startBroadcast(data, 4, DType::f32, 1); },
          "rank 0: broadcast on 'g': peer 1 in a group of 1 ranks");
  refused([&](Group &g) { return g.startSend(data, 4, DType::f32, 0); },
          "rank 0: send on 'g': rank 0 of the group is its own peer");
  refused([&](Group &g) { return g.startPermute(data, 1, 3, data, 0, -1, DType::f32); },
          "permute to 3 and from -1 in a group of 1 ranks");
}

} // namespace
} // namespace meshplan
