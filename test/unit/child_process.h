//===- child_process.h - a test in a process of its own ----------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_CHILD_PROCESS_H
#define MESHPLAN_TEST_UNIT_CHILD_PROCESS_H

#include <functional>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace meshplan {

/// Calls `body` in a child process, which ends with what it returns: for what stays as it is for the rest of a process,
/// such as handlers of signals. The child's exit status, or the number of the signal that has ended it, negative.
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
