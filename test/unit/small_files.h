//===- small_files.h - a full disk ------------------------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_SMALL_FILES_H
#define MESHPLAN_TEST_UNIT_SMALL_FILES_H

#include <csignal>
#include <sys/resource.h>

namespace meshplan {

/// Limits the size of this process's files, as on a full disk.
class SmallFiles {
public:
  explicit SmallFiles(rlim_t most) {
    handler = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before);
    struct rlimit small = before;
    small.rlim_cur = most;
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before);
    ::signal(SIGXFSZ, handler);
  }

private:
  void (*handler)(int);
  struct rlimit before;
};

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_SMALL_FILES_H
