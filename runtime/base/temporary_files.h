//===- temporary_files.h - files that a signal removes ----------*- C++ -*-===//
//
// No destructor runs when SIGTERM, SIGINT or SIGHUP ends a process, or when the process ends itself because a rank
// hangs. So a file under construction is listed here, and the code that ends the process removes the listed files.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_BASE_TEMPORARY_FILES_H
#define MESHPLAN_RUNTIME_BASE_TEMPORARY_FILES_H

#include <memory>
#include <string>
#include <utility>

namespace meshplan {

/// Handles the three signals from now on: removes the listed files, then ends the process as the default action does. A
/// signal that the process ignores (nohup) stays ignored. For programs only: a library must not change signal handlers.
void removeTemporaryFilesOnSignal();

/// Removes the listed files. For code that ends the process without running destructors.
void removeTemporaryFiles();

/// Lists a file during its lifetime. Move only. Thread safe. At most 64 files are listed at a time; further ones are
/// not removed.
class ListedFile {
public:
  ListedFile() = default;
  explicit ListedFile(const std::string &path);
  ListedFile(ListedFile &&other) noexcept;
  ListedFile &operator=(ListedFile &&other) noexcept;
  ~ListedFile();

private:
  size_t slot = 0;
  std::unique_ptr<char[]> text; ///< null: not listed
};

/// Removes a file that another process creates, if it exists, when this object is destroyed or a signal ends the
/// process.
class ForeignFile {
public:
  explicit ForeignFile(std::string path) : path(std::move(path)), listed(this->path) {}
  ForeignFile(const ForeignFile &) = delete;
  ForeignFile &operator=(const ForeignFile &) = delete;
  ~ForeignFile();

  /// The file is no longer this object's responsibility.
  void release() { path.clear(); }

private:
  std::string path;
  ListedFile listed;
};

/// Blocks the three signals during its lifetime, in every thread, so that a new file is listed before a handler runs.
/// Only for a few system calls. Other threads may hold one at the same time; one thread must not nest two.
class SignalPause {
public:
  SignalPause();
  SignalPause(const SignalPause &) = delete;
  SignalPause &operator=(const SignalPause &) = delete;
  ~SignalPause();

private:
  struct Mask;
  std::unique_ptr<Mask> before;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_BASE_TEMPORARY_FILES_H
