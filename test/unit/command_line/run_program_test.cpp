//===- run_program_test.cpp - output that could not be written ------------===//

#include "test/unit/temporary_directory.h"
#include "tools/command_line/command_line.h"

#include <cstdio>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <iostream>
#include <unistd.h>

using namespace meshplan;
using testing::ExitedWithCode;

namespace {

std::error_code fails(std::errc code) { return std::make_error_code(code); }

/// Redirects standard output to a file that is open for reading only.
void loseOutput(const std::string &path) {
  ::close(::open(path.c_str(), O_CREAT | O_WRONLY, 0600));
  ::dup2(::open(path.c_str(), O_RDONLY), STDOUT_FILENO);
}

/// Each test runs in its own process, which it ends.
class RunProgram : public testing::Test {
protected:
  RunProgram() { GTEST_FLAG_SET(death_test_style, "fast"); }

  TemporaryDirectory directory;
};

TEST_F(RunProgram, TheStatusIsThatOfTheBody) {
  for (int status : {0, 1, 2, 77})
    EXPECT_EQ(runProgram("p", [&] { return status; }), status);
  int flushes = 0;
  EXPECT_EQ(runProgram(
                "p", [] { return 3; },
                [&] {
                  ++flushes;
                  return std::error_code();
                }),
            3);
  EXPECT_EQ(flushes, 1);
}

TEST_F(RunProgram, AStreamOfItsOwnThatFailsIsAnError) {
  auto full = [] { return fails(std::errc::no_space_on_device); };
  testing::internal::CaptureStderr();
  EXPECT_EQ(runProgram("meshplan", [] { return 0; }, full), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "meshplan: error: cannot write the standard output: No space left on device\n");
  testing::internal::CaptureStderr();
  EXPECT_EQ(runProgram("meshplan", [] { return 2; }, full), 2) << "the error of the body is the first";
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "meshplan: error: cannot write the standard output: No space left on device\n");
}

TEST_F(RunProgram, TextThatIsKeptIsWrittenAtTheEnd) {
  EXPECT_EXIT(
      {
        loseOutput(directory / "f");
        int status = runProgram("p", [] { return std::printf("text") < 0 ? 5 : 0; });
        ::_exit(status);
      },
      ExitedWithCode(1), "^p: error: cannot write the standard output: Bad file descriptor\n$");
  EXPECT_EXIT(
      {
        loseOutput(directory / "f");
        int status = runProgram("p", [] {
          std::cout << "text";
          return 4;
        });
        ::_exit(status);
      },
      ExitedWithCode(4), "^p: error: cannot write the standard output: Bad file descriptor\n$");
}

TEST_F(RunProgram, TextThatWasLostBeforeIsMissed) {
  EXPECT_EXIT(
      {
        loseOutput(directory / "f");
        std::setvbuf(stdout, nullptr, _IONBF, 0);
        int status = runProgram("p", [] {
          std::printf("text");
          return 0;
        });
        ::_exit(status);
      },
      ExitedWithCode(1), "^p: error: cannot write the standard output: Input/output error\n$");
}

TEST_F(RunProgram, TheStreamOfItsOwnIsNamedFirst) {
  EXPECT_EXIT(
      {
        loseOutput(directory / "f");
        int status = runProgram(
            "p", [] { return std::printf("text") < 0 ? 5 : 0; }, [] { return fails(std::errc::file_too_large); });
        ::_exit(status);
      },
      ExitedWithCode(1), "^p: error: cannot write the standard output: File too large\n$");
}

TEST_F(RunProgram, AClosedOutputDoesNotGoToTheNextFile) {
  std::string path = directory / "f";
  EXPECT_EXIT(
      {
        ::close(STDOUT_FILENO);
        int status = runProgram("p", [&] {
          int file = ::open(path.c_str(), O_CREAT | O_WRONLY, 0600);
          std::printf("text");
          return file > STDERR_FILENO ? 0 : 5;
        });
        ::_exit(status);
      },
      ExitedWithCode(1), "^p: error: cannot write the standard output: Bad file descriptor\n$");
  EXPECT_EQ(std::filesystem::file_size(path), 0u);
}

TEST_F(RunProgram, NoStandardDescriptorGoesToTheNextFile) {
  std::string path = directory / "f";
  EXPECT_EXIT(
      {
        ::close(STDIN_FILENO);
        ::close(STDERR_FILENO);
        int status =
            runProgram("p", [&] { return ::open(path.c_str(), O_CREAT | O_WRONLY, 0600) > STDERR_FILENO ? 7 : 5; });
        ::_exit(status);
      },
      ExitedWithCode(7), "");
}

TEST_F(RunProgram, ABodyThatPrintsNothingNeedsNoOutput) {
  EXPECT_EXIT(
      {
        ::close(STDOUT_FILENO);
        ::_exit(runProgram("p", [] { return 0; }));
      },
      ExitedWithCode(0), "^$");
}

} // namespace
