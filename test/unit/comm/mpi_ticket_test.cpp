//===- mpi_ticket_test.cpp - waiting for another thread -------------------===//

#include "runtime/comm/mpi/ticket.h"

#include <gmock/gmock.h>
#include <thread>

namespace meshplan {
namespace {

using std::chrono::milliseconds;

TEST(Ticket, GivesUpWhenAPeerDoesNotStart) {
  Ticket ticket({3});
  EXPECT_FALSE(ticket.wait(milliseconds(10)));
  EXPECT_FALSE(ticket.progress().moving);
  EXPECT_THAT(ticket.progress().missing, testing::ElementsAre(3));
}

TEST(Ticket, AnArrivalIsNoReasonToWaitLonger) {
  Ticket ticket({1, 2});
  ticket.update({.moving = false, .missing = {2}});
  EXPECT_FALSE(ticket.wait(milliseconds(10)));
}

TEST(Ticket, WaitsAsLongAsDataMoves) {
  Ticket ticket({1});
  ticket.update({.moving = true, .missing = {1}});
  std::thread mover([&] {
    for (int step = 0; step < 20; ++step) {
      std::this_thread::sleep_for(milliseconds(10));
      ticket.update({.moving = true, .missing = {1}});
    }
    ticket.finish(Status());
  });
  EXPECT_TRUE(ticket.wait(milliseconds(100)));
  mover.join();
  EXPECT_TRUE(ticket.wait(milliseconds(0))) << "it stays ended";
}

TEST(Ticket, GivesUpWhenDataStops) {
  Ticket ticket({1});
  ticket.update({.moving = true, .missing = {1}});
  EXPECT_FALSE(ticket.wait(milliseconds(10)));
  EXPECT_TRUE(ticket.progress().moving);
}

TEST(Ticket, SaysThatItIsAboutToGiveUp) {
  Ticket ticket({1});
  int calls = 0;
  auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(ticket.wait(milliseconds(40), milliseconds(20), [&] { ++calls; }));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(40));
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(ticket.wait(milliseconds(40), milliseconds(20), [&] { ticket.finish(Status()); }));
}

TEST(Ticket, AnAbortDoesNotChangeWhatHasEnded) {
  Ticket ticket({1}), other({1});
  bool aborted = true;
  ticket.finish(Status());
  ticket.abort(Status(StatusCode::aborted, "late"));
  EXPECT_TRUE(ticket.result(aborted).ok());
  EXPECT_FALSE(aborted);
  other.abort(Status(StatusCode::peerLost, "rank 1 failed"));
  EXPECT_TRUE(other.wait(milliseconds(0)));
  EXPECT_EQ(other.result(aborted).message(), "rank 1 failed");
  EXPECT_TRUE(aborted);
}

} // namespace
} // namespace meshplan
