//===- run_rank_test.cpp - a rank that fails ends the others --------------===//

#include "runtime/comm/run_rank.h"

#include "test/unit/comm/recording_world.h"

#include <gmock/gmock.h>
#include <stdexcept>

namespace meshplan {
namespace {

class RunRank : public testing::Test {
protected:
  RunRank() {
    options.onFailure = [this](int64_t rank, const Status &failure) {
      EXPECT_EQ(rank, 2);
      EXPECT_EQ(world.aborts.size(), 1u) << "the others end before the launcher may lose patience";
      told.push_back(failure.message());
    };
  }

  RecordingWorld world{4, 2};
  RankOptions options;
  std::vector<std::string> told;
};

TEST_F(RunRank, SuccessDisturbsNobody) {
  EXPECT_TRUE(runRank(world, options, [](World &) { return Status(); }).ok());
  EXPECT_TRUE(world.aborts.empty());
  EXPECT_TRUE(told.empty());
}

TEST_F(RunRank, TheBodyGetsTheWorld) {
  World *given = nullptr;
  (void)runRank(world, options, [&](World &its) {
    given = &its;
    return Status();
  });
  EXPECT_EQ(given, &world);
}

TEST_F(RunRank, FailureIsReturnedToldAndEndsTheRun) {
  Status result = runRank(world, options, [](World &) { return Status(StatusCode::corrupted, "bad weights"); });
  EXPECT_EQ(result.code(), StatusCode::corrupted);
  EXPECT_EQ(result.message(), "bad weights");
  EXPECT_THAT(told, testing::ElementsAre("bad weights"));
  ASSERT_EQ(world.aborts.size(), 1u);
  EXPECT_EQ(world.aborts[0].code(), StatusCode::peerLost);
  EXPECT_EQ(world.aborts[0].message(), "rank 2 failed: bad weights");
}

TEST_F(RunRank, ExceptionsAreDefects) {
  auto message = [&](const RankBody &body) {
    world.aborts.clear();
    Status result = runRank(world, options, body);
    EXPECT_EQ(result.code(), StatusCode::internal);
    EXPECT_EQ(world.aborts.back().message(), "rank 2 failed: " + result.message());
    return result.message();
  };
  EXPECT_EQ(message([](World &) -> Status { throw std::runtime_error("out of memory"); }), "exception: out of memory");
  EXPECT_EQ(message([](World &) -> Status { throw 3; }), "exception of an unknown type");
}

TEST_F(RunRank, NoMemory) {
  Status result = runRank(world, options, [](World &) -> Status { throw std::bad_alloc(); });
  EXPECT_EQ(result.code(), StatusCode::outOfMemory);
  EXPECT_EQ(world.aborts.back().message(), "rank 2 failed: out of memory");
}

TEST_F(RunRank, NobodyNeedsToListen) {
  options.onFailure = nullptr;
  EXPECT_EQ(runRank(world, options, [](World &) { return Status(StatusCode::invalid, "wrong"); }).message(), "wrong");
  EXPECT_EQ(world.aborts.size(), 1u);
}

} // namespace
} // namespace meshplan
