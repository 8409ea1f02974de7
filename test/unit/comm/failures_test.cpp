//===- failures_test.cpp - messages about lost ranks ----------------------===//

#include "runtime/comm/failures.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

using std::chrono::milliseconds;

const std::string what = "rank 0: barrier on 'tp'";
const std::vector<int64_t> one = {3}, two = {1, 3}, three = {1, 3, 4};

TEST(TimeoutFailure, SaysWhoDoesNotAnswer) {
  auto message = [&](std::span<const int64_t> silent) {
    Status status = timeoutFailure(what, milliseconds(1500), two, silent);
    EXPECT_EQ(status.code(), StatusCode::timeout);
    return status.message();
  };
  std::string begin = what + ": time-out after 1.5 s: ranks 1, 3 did not arrive";
  EXPECT_EQ(message({}), begin);
  EXPECT_EQ(message(two), begin + ", and do not answer");
  EXPECT_EQ(message(one), begin + "; rank 3 does not answer");
}

TEST(TimeoutFailure, OfOneRank) {
  EXPECT_EQ(timeoutFailure(what, milliseconds(50), one).message(),
            what + ": time-out after 0.05 s: rank 3 did not arrive");
  EXPECT_EQ(timeoutFailure(what, milliseconds(600'000), one, one).message(),
            what + ": time-out after 600 s: rank 3 did not arrive, and does not answer");
}

TEST(StalledFailure, NamesTheRanksWhoseDataDoesNotMove) {
  Status status = stalledFailure(what, milliseconds(2000), three, two);
  EXPECT_EQ(status.code(), StatusCode::timeout);
  EXPECT_EQ(status.message(), what + ": time-out after 2 s: no data moves to or from ranks 1, 3, 4; ranks 1, 3 do not "
                                     "answer");
  EXPECT_EQ(stalledFailure(what, milliseconds(2000), one, one).message(),
            what + ": time-out after 2 s: no data moves to or from rank 3, which does not answer");
  EXPECT_EQ(stalledFailure(what, milliseconds(2000), one).message(),
            what + ": time-out after 2 s: no data moves to or from rank 3");
}

TEST(AbortedFailure, EndsWithItsCause) {
  Status status = abortedFailure(what, two, Status(StatusCode::timeout, "rank 2: time-out"));
  EXPECT_EQ(status.code(), StatusCode::aborted);
  EXPECT_EQ(status.message(), what + ": aborted while waiting for ranks 1, 3: rank 2: time-out");
  EXPECT_EQ(abortedFailure(what, {}, Status(StatusCode::internal, "broken")).message(), what + ": aborted: broken");
}

TEST(AbortedFailure, KeepsWhetherAPeerWasLost) {
  // The root cause is the first failure with another code; see rootCause.
  EXPECT_EQ(abortedFailure(what, {}, Status(StatusCode::peerLost, "rank 2 failed")).code(), StatusCode::peerLost);
  for (StatusCode code : {StatusCode::invalid, StatusCode::timeout, StatusCode::aborted, StatusCode::internal})
    EXPECT_EQ(abortedFailure(what, {}, Status(code, "x")).code(), StatusCode::aborted);
}

} // namespace
} // namespace meshplan
