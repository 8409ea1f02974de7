//===- run_program.cpp - detects lost output ------------------------------===//

#include "tools/command_line/command_line.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <iostream>
#include <unistd.h>

using namespace meshplan;

/// If the caller has closed a standard stream, the next file that is opened would get its number, and text would be
/// written into that file. A placeholder that cannot be written makes such writes fail.
static void holdStandardDescriptors() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
      ::open("/", O_RDONLY | O_DIRECTORY); // takes the least free number, which is this one
}

/// Flushes C and C++ output: std::cout has no buffer of its own. io_error: an earlier write failed for an unknown
/// reason.
static std::error_code flushStandardOutput() {
  bool lost = std::ferror(stdout) != 0;
  if (std::fflush(stdout) != 0)
    return {errno, std::generic_category()};
  return lost ? std::make_error_code(std::errc::io_error) : std::error_code();
}

int meshplan::runProgram(const std::string &program, const std::function<int()> &body,
                         const std::function<std::error_code()> &flush) {
  holdStandardDescriptors();
  int status = body();
  std::error_code own = flush ? flush() : std::error_code(), shared = flushStandardOutput();
  std::error_code failure = own ? own : shared;
  if (!failure)
    return status;
  std::cerr << program + ": error: cannot write the standard output: " + failure.message() + "\n" << std::flush;
  return status != 0 ? status : 1;
}
