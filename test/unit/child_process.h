//===- child_process.h - a test in a child process --------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_CHILD_PROCESS_H
#define MESHPLAN_TEST_UNIT_CHILD_PROCESS_H

#include <functional>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace meshplan {

/// Calls `body` in a child process, which exits with its result: for settings that last until a process ends, such as
/// signal handlers. Returns the child's exit status, or the negative number of the signal that ended it.
inline int statusOfChild(const std::function<int()> &body) {
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(body());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_CHILD_PROCESS_H
