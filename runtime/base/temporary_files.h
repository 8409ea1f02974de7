//===- temporary_files.h - files that a signal removes -----------*- C++ -*-===//
//
// A process that SIGTERM, SIGINT or SIGHUP ends runs no destructor, and one that
// gives up a rank that hangs neither. A file that is being made is listed here,
// and who ends the process removes what is listed.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_BASE_TEMPORARY_FILES_H
#define MESHPLAN_RUNTIME_BASE_TEMPORARY_FILES_H

#include <memory>
#include <string>
#include <utility>

namespace meshplan {

/// Handles the three signals from now on: removes the listed files, then ends the process as the signal does by
/// itself. A signal that the process ignores (nohup) stays ignored. For programs: a library leaves signals alone.
void removeTemporaryFilesOnSignal();

/// Removes the listed files. For a process that ends without destructors.
void removeTemporaryFiles();

/// Lists a file while it lives. Move only; thread safe. At most 64 files are listed at a time, more are not.
class ListedFile {
public:
  ListedFile() = default;
  explicit ListedFile(const std::string &path);
  ListedFile(ListedFile &&other) noexcept;
  ListedFile &operator=(ListedFile &&other) noexcept;
  ~ListedFile();

private:
  size_t slot = 0;
  std::unique_ptr<char[]> text; ///< null: nothing is listed
};

/// For who knows the name of a file that another process makes: removes the file, if there is one, when it goes or when
/// a signal ends the process.
class ForeignFile {
public:
  explicit ForeignFile(std::string path) : path(std::move(path)), listed(this->path) {}
  ForeignFile(const ForeignFile &) = delete;
  ForeignFile &operator=(const ForeignFile &) = delete;
  ~ForeignFile();

  /// From now on somebody else sees to the file.
  void release() { path.clear(); }

private:
  std::string path;
  ListedFile listed;
};

/// Holds the three signals back while it lives, in every thread: a file that is made meanwhile is listed before a
/// handler looks. For a few system calls; nests with those of other threads, not with one of its own.
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
