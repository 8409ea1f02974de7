//===- status_test.cpp ----------------------------------------------------===//

#include "runtime/base/status.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

Status failIf(bool fails) { return fails ? Status(StatusCode::invalid, "wrong") : Status(); }

Expected<std::unique_ptr<int>> makeNumber(int number) {
  if (number < 0)
    return Status::error(StatusCode::notFound, "no number ", number);
  return std::make_unique<int>(number);
}

Status twoSteps(bool first, bool second, int &reached) {
  MESHPLAN_RETURN_IF_ERROR(failIf(first));
  reached = 1;
  MESHPLAN_RETURN_IF_ERROR(failIf(second));
  reached = 2;
  return Status();
}

Expected<int> addNumbers(int a, int b) {
  MESHPLAN_ASSIGN_OR_RETURN(std::unique_ptr<int> first, makeNumber(a));
  MESHPLAN_ASSIGN_OR_RETURN(auto second, makeNumber(b));
  return *first + *second;
}

TEST(Status, OkIsEmptyAndFailureCarriesCodeAndMessage) {
  Status ok;
  EXPECT_TRUE(ok.ok());
  EXPECT_EQ(ok.code(), StatusCode::ok);
  EXPECT_EQ(ok.message(), "");
  Status copy = Status::error(StatusCode::timeout, "rank ", 3, " after ", 0.5, " s");
  Status status = copy;
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::timeout);
  EXPECT_EQ(status.message(), "rank 3 after 0.5 s");
}

TEST(Status, ContextGoesInFront) {
  EXPECT_EQ(failIf(true).withContext("a.sched").message(), "a.sched: wrong");
  EXPECT_EQ(failIf(true).withContext("a.sched").code(), StatusCode::invalid);
  EXPECT_TRUE(failIf(false).withContext("a.sched").ok());
}

TEST(Status, ReturnIfErrorStopsAtTheFirstFailure) {
  int reached = 0;
  EXPECT_FALSE(twoSteps(true, false, reached).ok());
  EXPECT_EQ(reached, 0);
  EXPECT_FALSE(twoSteps(false, true, reached).ok());
  EXPECT_EQ(reached, 1);
  EXPECT_TRUE(twoSteps(false, false, reached).ok());
  EXPECT_EQ(reached, 2);
}

TEST(Expected, ValueOrFailure) {
  Expected<int> sum = addNumbers(2, 3);
  ASSERT_TRUE(sum.ok());
  EXPECT_EQ(*sum, 5);
  EXPECT_TRUE(sum.status().ok());
  EXPECT_EQ(addNumbers(2, -1).status().message(), "no number -1");
  EXPECT_EQ(addNumbers(-7, 1).status().message(), "no number -7");
}

TEST(StatusCode, EveryCodeHasAName) {
  for (int code = 0; code <= static_cast<int>(StatusCode::internal); ++code)
    EXPECT_NE(statusCodeName(static_cast<StatusCode>(code)), "unknown");
}

} // namespace
} // namespace meshplan
