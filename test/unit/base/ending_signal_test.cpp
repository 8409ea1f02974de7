//===- ending_signal_test.cpp - SIGTERM as a message ----------------------===//

#include "runtime/base/ending_signal.h"

#include "test/unit/child_process.h"

#include <csignal>
#include <thread>
#include <unistd.h>

namespace meshplan {
namespace {

TEST(EndingSignal, ThatIsHeldIsAFailure) {
  EXPECT_EQ(statusOfChild([] {
              holdEndingSignal();
              if (!takeEndingSignal(3).ok())
                return 1;
              ::kill(::getpid(), SIGTERM);
              Status status = takeEndingSignal(3);
              return status.message() == "rank 3 was asked to stop (SIGTERM)" && takeEndingSignal(3).ok() ? 0 : 2;
            }),
            0);
}

TEST(EndingSignal, TheFirstOneMayBeAWish) {
  EXPECT_EQ(statusOfChild([] {
              holdStopRequests();
              if (stopRequest())
                return 1;
              ::kill(::getpid(), SIGTERM);
              // Whichever rank looks first, all see the request.
              if (!takeEndingSignal(0).ok() || !stopRequest() || std::string(stopRequest()) != "SIGTERM")
                return 2;
              ::kill(::getpid(), SIGTERM);
              return takeEndingSignal(0).ok() ? 3 : 0;
            }),
            0);
}

TEST(EndingSignal, AnotherThreadTakesAWish) {
  EXPECT_EQ(statusOfChild([] {
              holdStopRequests();
              ::kill(::getpid(), SIGUSR1);
              std::string taken;
              std::thread([&] { taken = stopRequest() ? stopRequest() : "none"; }).join();
              return taken == "SIGUSR1" && std::string(stopRequest()) == "SIGUSR1" ? 0 : 1;
            }),
            0);
}

TEST(EndingSignal, TheFirstInterruptIsAWishAndTheSecondEnds) {
  EXPECT_EQ(statusOfChild([] {
              holdStopRequests();
              ::kill(::getpid(), SIGINT);
              return stopRequest() && std::string(stopRequest()) == "SIGINT" ? 0 : 1;
            }),
            0);
  EXPECT_EQ(statusOfChild([] {
              std::signal(SIGINT, [](int) { ::_exit(7); });
              holdStopRequests();
              ::raise(SIGINT);
              ::raise(SIGINT);
              return 1;
            }),
            7);
}

TEST(EndingSignal, AnInterruptThatIsIgnoredStaysIgnored) {
  EXPECT_EQ(statusOfChild([] {
              std::signal(SIGINT, SIG_IGN);
              holdStopRequests();
              ::raise(SIGINT);
              ::raise(SIGINT);
              return stopRequest() ? 1 : 0;
            }),
            0);
}

TEST(EndingSignal, AnInterruptMaySaySomethingFirst) {
  EXPECT_EQ(statusOfChild([] {
              int ends[2];
              if (::pipe(ends) != 0 || ::dup2(ends[1], STDERR_FILENO) < 0)
                return 1;
              static int reading;
              reading = ends[0];
              std::signal(SIGINT, [](int) {
                char text[8] = "";
                ::_exit(::read(reading, text, sizeof text) == 5 && std::string(text) == "gone\n" ? 7 : 2);
              });
              sayAtInterrupt("gone\n");
              ::raise(SIGINT);
              return 3;
            }),
            7);
}

} // namespace
} // namespace meshplan
