//===- mpi_engine_test.cpp - the progress thread of one process -----------===//

#include "runtime/comm/mpi/engine.h"

#include <gmock/gmock.h>
#include <thread>

namespace meshplan {
namespace {

using std::chrono::milliseconds;

/// The time limit of waits that should succeed.
constexpr milliseconds longest = std::chrono::seconds(30);

/// One rank in its own world.
class EngineTest : public testing::Test {
protected:
  EngineTest() {
    MPI_Comm_dup(MPI_COMM_SELF, &communicator);
    MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  }
  ~EngineTest() override { MPI_Comm_free(&communicator); }

  /// Runs the body as the rank's thread, and returns how the engine ended.
  Status run(const std::function<void(Engine &)> &body, bool failed = false,
             EngineOptions options = {longest, {}, {}}) {
    Transport transport(communicator);
    Engine engine(transport, std::move(options));
    std::thread rank([&] {
      body(engine);
      engine.leave(failed);
    });
    Status end = engine.serve();
    rank.join();
    return end;
  }

  /// A sum of `input` over the ranks, written to `output`.
  StartedCollective sum(std::vector<int64_t> ranks, int64_t number = 0) {
    StartedCollective started{.group = "g", .ranks = std::move(ranks)};
    started.collective = {.kind = CollectiveKind::allReduce,
                          .dtype = DType::i32,
                          .input = input.data(),
                          .output = output.data(),
                          .count = static_cast<int64_t>(input.size())};
    started.participants = participantsOf(started.collective, static_cast<int64_t>(started.ranks.size()), 0);
    started.key.number = number;
    return started;
  }

  MPI_Comm communicator = MPI_COMM_NULL;
  std::vector<int32_t> input = {1, 2, 3}, output = {0, 0, 0};
};

TEST_F(EngineTest, ARankAloneAgreesWithItself) {
  Status end = run([&](Engine &engine) {
    EXPECT_EQ(engine.rank(), 0);
    EXPECT_EQ(engine.size(), 1);
    for (int32_t number = 0; number < 3; ++number) {
      auto ticket = engine.start(sum({0}, number), "sum");
      ASSERT_TRUE(ticket.ok()) << ticket.status().message();
      ASSERT_TRUE((*ticket)->wait(longest));
      bool aborted = true;
      EXPECT_TRUE((*ticket)->result(aborted).ok());
      EXPECT_FALSE(aborted);
      EXPECT_EQ(output, input);
      input[1] += 10;
    }
  });
  EXPECT_TRUE(end.ok()) << end.message();
}

TEST_F(EngineTest, NothingStartsAfterTheRunHasEnded) {
  Status end = run(
      [&](Engine &engine) {
        EXPECT_TRUE(engine.failure().ok());
        engine.abort(Status(StatusCode::peerLost, "the first"));
        engine.abort(Status(StatusCode::timeout, "the second"));
        EXPECT_EQ(engine.failure().message(), "the first");
        auto ticket = engine.start(sum({0}), "rank 0: sum");
        EXPECT_EQ(ticket.status().code(), StatusCode::peerLost);
        EXPECT_EQ(ticket.status().message(), "rank 0: sum: aborted: the first");
      },
      /*failed=*/true);
  EXPECT_TRUE(end.ok()) << "the rank says itself that it failed";
  EXPECT_EQ(output, std::vector<int32_t>(3, 0));
}

TEST_F(EngineTest, AReasonFromOutsideEndsTheRun) {
  EngineOptions options{longest, [] { return Status(StatusCode::aborted, "a signal"); }, {}};
  Status seen;
  Status end = run(
      [&](Engine &engine) {
        auto deadline = std::chrono::steady_clock::now() + longest;
        while (seen.ok() && std::chrono::steady_clock::now() < deadline) {
          std::this_thread::yield();
          seen = engine.failure();
        }
      },
      /*failed=*/true, std::move(options));
  EXPECT_EQ(seen.message(), "a signal");
  EXPECT_TRUE(end.ok()) << end.message();
}

TEST_F(EngineTest, WhoCannotBeToldEndsTheCollectiveAtOnce) {
  // Rank 1 is not in this world, so MPI rejects messages to it.
  Status cause;
  bool aborted = false;
  Status end = run(
      [&](Engine &engine) {
        auto ticket = engine.start(sum({0, 1}), "sum");
        ASSERT_TRUE(ticket.ok()) << ticket.status().message();
        ASSERT_TRUE((*ticket)->wait(std::chrono::seconds(10))) << "it waits for a rank that was told nothing";
        cause = (*ticket)->result(aborted);
        EXPECT_EQ(engine.failure().message(), cause.message());
      },
      /*failed=*/true);
  EXPECT_TRUE(end.ok()) << "the rank says itself that it failed";
  EXPECT_TRUE(aborted);
  EXPECT_THAT(cause.message(), testing::HasSubstr("rank 0: "));
  EXPECT_THAT(cause.message(), testing::HasSubstr("MPI_Isend"));
  EXPECT_EQ(output, std::vector<int32_t>(3, 0));
}

} // namespace
} // namespace meshplan
