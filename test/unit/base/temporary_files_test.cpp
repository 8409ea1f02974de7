//===- temporary_files_test.cpp - temporary files after a signal ----------===//

#include "runtime/base/temporary_files.h"

#include "runtime/base/file.h"
#include "test/unit/temporary_directory.h"

#include <csignal>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

namespace meshplan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A child process in its own folder.
class TemporaryFiles : public testing::Test {
protected:
  /// How it ended: a signal, or 0 if it reached the end of `body`.
  int endOf(const std::function<void()> &body) {
    pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      body();
      ::_exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  }

  std::string make(const std::string &name) const {
    std::ofstream(folder / name) << "unfinished";
    return folder / name;
  }

  TemporaryDirectory folder;
};

TEST_F(TemporaryFiles, ListedOnesGoAndTheSignalEndsTheProcess) {
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) {
    EXPECT_EQ(endOf([&] {
                removeTemporaryFilesOnSignal();
                ListedFile first(make("first")), second(make("second"));
                make("finished");
                ::raise(signal);
              }),
              signal);
    EXPECT_THAT(folder.names(), ElementsAre("finished"));
  }
}

TEST_F(TemporaryFiles, OtherSignalsAndOtherProgramsAreLeftAlone) {
  EXPECT_EQ(endOf([&] {
              removeTemporaryFilesOnSignal();
              ListedFile listed(make("a"));
              ::raise(SIGKILL);
            }),
            SIGKILL);
  EXPECT_EQ(endOf([&] {
              ListedFile listed(make("b"));
              ::raise(SIGTERM);
            }),
            SIGTERM);
  EXPECT_THAT(folder.names(), ElementsAre("a", "b"));
}

TEST_F(TemporaryFiles, AnIgnoredSignalStaysIgnored) {
  EXPECT_EQ(endOf([&] {
              ::signal(SIGHUP, SIG_IGN);
              removeTemporaryFilesOnSignal();
              ListedFile listed(make("a"));
              ::raise(SIGHUP);
              make("later");
            }),
            0);
  EXPECT_THAT(folder.names(), ElementsAre("a", "later"));
}

TEST_F(TemporaryFiles, WhatIsNoLongerListedStays) {
  endOf([&] {
    removeTemporaryFilesOnSignal();
    {
      ListedFile listed(make("finished"));
    }
    ListedFile replaced(make("replaced"));
    replaced = ListedFile(make("listed"));
    ListedFile moved(std::move(replaced));
    ::raise(SIGTERM);
  });
  EXPECT_THAT(folder.names(), ElementsAre("finished", "replaced"));
}

TEST_F(TemporaryFiles, MoreThanCanBeListed) {
  endOf([&] {
    removeTemporaryFilesOnSignal();
    std::vector<ListedFile> all;
    for (int i = 0; i < 70; ++i)
      all.emplace_back(make("many" + std::to_string(i)));
    // The first one is finished: its slot is free again.
    all.front() = ListedFile();
    ListedFile last(make("last"));
    ::raise(SIGTERM);
  });
  EXPECT_THAT(folder.names(), ElementsAre("many0", "many64", "many65", "many66", "many67", "many68", "many69"));
}

TEST_F(TemporaryFiles, APauseHoldsASignalBackUntilTheFileIsListed) {
  EXPECT_EQ(endOf([&] {
              removeTemporaryFilesOnSignal();
              ListedFile listed;
              {
                SignalPause pause;
                ::raise(SIGTERM);
                listed = ListedFile(make("made meanwhile"));
              }
              make("not reached");
            }),
            SIGTERM);
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST_F(TemporaryFiles, AFileUnderConstructionIsListed) {
  EXPECT_EQ(endOf([&] {
              removeTemporaryFilesOnSignal();
              Expected<AtomicFile> file = AtomicFile::create(folder / "a");
              Expected<AtomicFile> committed = AtomicFile::create(folder / "b");
              if (!file || !committed->commit().ok())
                ::_exit(3);
              ::raise(SIGINT);
            }),
            SIGINT);
  EXPECT_THAT(folder.names(), ElementsAre("b"));
}

} // namespace
} // namespace meshplan
