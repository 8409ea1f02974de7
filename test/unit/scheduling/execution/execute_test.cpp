//===- execute_test.cpp - lists that run, and lists that do not -----------===//

#include "test/lib/problem/execution/execute.h"

#include "compiler/scheduling/algorithms.h"
#include "runtime/comm/threads/issue_order.h"
#include "test/lib/problem/execution/execution.h"
#include "test/lib/problem/execution/watch.h"
#include "test/unit/scheduling/problem_fixture.h"

#include <atomic>

using namespace meshplan;
using namespace meshplan::scheduling;
using testing::HasSubstr;

namespace {

/// A problem or several coordinates, with their lists.
std::vector<Coordinate> coordinatesOf(const std::string &text) {
  ProblemText parsed = parse(text);
  if (!parsed.coordinates.empty())
    return parsed.coordinates;
  return {{"", parsed.problem, parsed.solution.value_or(Solution())}};
}

std::string failureOf(const std::string &text, ExecutionOptions options = {}) {
  return execute(coordinatesOf(text), options).message();
}

/// On two ranks, with a copy, a view of what a collective gives, and an update in place.
constexpr const char *copied = R"(
lane compute
lane tp collectives
lane to_host copies
communicator tp 0:(1)2
buffer w 8 permanent
buffer x 8 permanent
buffer y 8
buffer z 8
buffer v 0 view z
buffer h 8 host
buffer w2 0 view w kept
operation linear on compute reads w x writes y
operation reduce on tp over tp reads y writes z
operation reshape on compute reads z writes v
operation offload on to_host reads v writes h
operation step on compute reads w h writes w2 overwrites w after linear
)";

/// Two coordinates that meet twice.
std::string twoCoordinates(const char *first, const char *second) {
  std::string problem = R"(
lane pp collectives
communicator pp 0:(1)2
operation there on pp over pp meets there )";
  return std::string("coordinate a") + problem + "b\noperation back on pp over pp meets back b\n" + first +
         "coordinate b" + problem + "a\noperation back on pp over pp meets back a\n" + second;
}

constexpr const char *inOrder = "start there\nwait there\nstart back\nwait back\n";
constexpr const char *crossed = "start back\nwait back\nstart there\nwait there\n";

} // namespace

TEST(Execute, EverySolver) {
  for (const char *text : {mlp, copied})
    for (const NamedSolver &solver : solvers()) {
      Problem problem = parse(text).problem;
      Coordinate coordinate{"", problem, llvm::cantFail(solver.solve(problem))};
      for (uint64_t seed = 0; seed < 10; ++seed) {
        Status status = execute(coordinate, {.seed = seed});
        EXPECT_TRUE(status.ok()) << status.message();
      }
    }
}

TEST(Execute, AWaitThatIsMissing) {
  EXPECT_THAT(failureOf(std::string(mlp) + "run linear\nstart reduce\nrun reshape\n"),
              HasSubstr("run reshape: buffer 'z' is not there"));
}

TEST(Execute, ABufferThatIsFreedInFlight) {
  EXPECT_THAT(failureOf(std::string(mlp) + "run linear\nstart reduce\nfree y\nwait reduce\n"),
              HasSubstr("wait reduce: buffer 'y' is not there"));
}

TEST(Execute, ABufferThatIsOverwrittenTooEarly) {
  std::string steps = "run linear\nstart reduce\nwait reduce\nrun reshape\nstart offload\nwait offload\nrun step\n";
  EXPECT_EQ(failureOf(copied + steps), "");
  EXPECT_THAT(failureOf(copied + steps + "run linear\n"), HasSubstr("run linear: buffer 'w' has wrong elements"));
}

TEST(Execute, WhatIsKeptMustBeThere) {
  EXPECT_THAT(failureOf(std::string(mlp) + "run linear\n"), HasSubstr("at the end: buffer 'u' is not there"));
}

TEST(Execute, StepsWithNothingToWorkOn) {
  EXPECT_THAT(failureOf(std::string(mlp) + "wait reduce\n"), HasSubstr("wait reduce: it is not in flight"));
  EXPECT_THAT(failureOf(std::string(mlp) + "run linear\nstart reduce\nstart reduce\n"),
              HasSubstr("start reduce: it is in flight already"));
  EXPECT_THAT(failureOf(std::string(mlp) + "free y\n"), HasSubstr("free y: it is not there"));
}

TEST(Execute, RanksFitTheCommunicators) {
  EXPECT_EQ(ranksOf(coordinatesOf(mlp)), 3);
  EXPECT_EQ(ranksOf(coordinatesOf(copied)), 2);
  EXPECT_EQ(ranksOf(coordinatesOf("communicator inner 1:(2)2\ncommunicator dp 0:(1)2\nlane i collectives\nlane d "
                                  "collectives\noperation a on i over inner\noperation b on d over dp\n")),
            8);
  EXPECT_EQ(ranksOf(coordinatesOf(twoCoordinates(inOrder, inOrder))), 2);
}

TEST(Execute, SumsAreThoseOfAllRanksOfTheGroup) {
  std::vector<Coordinate> coordinates = coordinatesOf(mlp);
  Execution execution(coordinates, 1);
  std::vector<uint64_t> sum(5), part(5);
  for (int64_t rank = 0; rank < 3; ++rank) {
    execution.part(execution.placeOf(rank), 1).fill(part);
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] += part[i];
  }
  for (int64_t rank = 0; rank < 3; ++rank)
    EXPECT_TRUE(execution.result(execution.placeOf(rank), 1).isIn(sum));
  EXPECT_FALSE(execution.result(execution.placeOf(0), 1).isIn(part));
}

TEST(Execute, CoordinatesInOneOrder) {
  for (bool checksOrder : {false, true})
    EXPECT_EQ(failureOf(twoCoordinates(inOrder, inOrder), {.checksOrder = checksOrder}), "");
}

// The detector of hangs: without the check of the order, in which only builds with assertions differ from it.
TEST(Execute, AHangEndsAtTheTimeOut) {
  auto begin = std::chrono::steady_clock::now();
  Status status = execute(coordinatesOf(twoCoordinates(inOrder, crossed)),
                          {.timeout = std::chrono::milliseconds(300), .checksOrder = false});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_EQ(status.code(), StatusCode::timeout);
  EXPECT_THAT(status.message(), testing::MatchesRegex(".*: time-out after 0.3 s: rank [01] did not arrive"));
}

TEST(Execute, ACoordinateThatNeverComes) {
  Status status = execute(coordinatesOf(twoCoordinates(inOrder, "start there\nwait there\n")),
                          {.timeout = std::chrono::milliseconds(300)});
  EXPECT_EQ(status.code(), StatusCode::timeout);
  EXPECT_EQ(status.message(), "rank 0 of coordinate 'a': wait back: rank 0: all-reduce 1 on 'back' (back): time-out "
                              "after 0.3 s: rank 1 did not arrive");
}

TEST(Execute, BuildsWithAssertionsSeeTheOrder) {
  if (!checksIssueOrder)
    GTEST_SKIP() << "this build has no assertions";
  for (const char *first : {inOrder, "start there\nstart back\nwait there\nwait back\n"})
    EXPECT_EQ(execute(coordinatesOf(twoCoordinates(first, crossed)), {}).code(), StatusCode::invalid);
}

TEST(Execute, MeetingsOfOneLaunchFollowTheOtherLists) {
  // 'b' launches both at once; 'a' and 'c' have them in the other order than 'b' names them.
  std::vector<Coordinate> coordinates = coordinatesOf(R"(
coordinate a
lane pp collectives
communicator pp 0:(1)2
operation one on pp over pp meets second b
operation two on pp over pp meets first b
start one
wait one
start two
wait two
coordinate b
lane pp collectives
communicator pp 0:(1)2
operation both on pp over pp meets first a meets second a
start both
wait both
)");
  for (uint64_t seed = 0; seed < 10; ++seed)
    EXPECT_EQ(execute(coordinates, {.seed = seed}).message(), "");
}

TEST(Watch, CallsIfItLivesTooLong) {
  std::atomic<int> calls = 0;
  {
    Watch watch(std::chrono::milliseconds(1), [&] { ++calls; });
    while (calls == 0)
      std::this_thread::yield();
  }
  {
    Watch watch(std::chrono::hours(1), [&] { ++calls; });
  }
  EXPECT_EQ(calls, 1);
}
