//===- file.h - mapped reading and atomic writing of files -------*- C++ -*-===//
//
// Files are read through a memory map, so that a rank touches only the pages
// that it needs, and written under a temporary name, so that a file either is
// complete or does not exist.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_BASE_FILE_H
#define MESHPLAN_RUNTIME_BASE_FILE_H

#include "runtime/base/map_faults.h"
#include "runtime/base/status.h"
#include "runtime/base/temporary_files.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace meshplan {

/// A whole file mapped for reading. Move only; the bytes live as long as the
/// object. Thread safe after opening.
class MappedFile {
public:
  /// notFound when there is no such file, io when it cannot be read.
  static Expected<MappedFile> open(const std::string &path);

  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  const std::string &path() const { return filePath; }
  std::span<const std::byte> bytes() const { return {data, size}; }

private:
  MappedFile(std::string path, const std::byte *data, size_t size)
      : filePath(std::move(path)), data(data), size(size), listed(filePath, bytes()) {}

  std::string filePath;
  const std::byte *data = nullptr;
  size_t size = 0;
  ListedMap listed;
};

/// The requests that together name every page of `bytes`, in order, each from the begin of a page. A system takes of
/// one request as much as its own read-ahead or one request to the disk holds, and drops the rest: a request is no
/// longer than that.
std::vector<std::span<const std::byte>> readAheadRequests(std::span<const std::byte> bytes, size_t pageSize);

/// Tells the system that these bytes, of a mapped file, are read next, so that it fetches them from the disk in large
/// pieces and ahead of the reader. A hint: the system may drop it, and pages then come one fault at a time. Bytes of no
/// file stay as they are.
void willRead(std::span<const std::byte> bytes);

/// A file under construction; where the path is a link, of the file that it links to. It appears under its name, whole,
/// when commit succeeds; otherwise the temporary file is removed by the destructor, or by a signal that ends the
/// process (temporary_files.h). Several threads may write different ranges at the same time, and several processes that
/// attach to it.
class AtomicFile {
public:
  struct Names {
    std::string path;      ///< what is written in the end: a link's target
    std::string temporary; ///< where it is made, in the same folder
  };

  /// The names of a file that is to be made, of which the temporary one is drawn. io, with path and reason, where no
  /// file can be: at a folder, a device, a link to nothing.
  static Expected<Names> chooseNames(const std::string &path);

  /// io, with path and reason, when the folder cannot be written.
  static Expected<AtomicFile> create(const Names &names);
  static Expected<AtomicFile> create(const std::string &path);

  /// Opens the file that another process is making as `temporary`. Its destructor removes the temporary file too, in
  /// case that the other process is gone: destroy it after the other has committed.
  static Expected<AtomicFile> attach(const std::string &path, const std::string &temporary);

  /// A file of a folder that is made as a whole under a temporary name: opened at its own path, or made there, by any
  /// number of threads and processes that know nothing of each other. It stays when this goes; there is nothing to
  /// commit.
  static Expected<AtomicFile> join(const std::string &path);

  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&) = delete;
  ~AtomicFile();

  Status resize(int64_t size);
  Status write(int64_t offset, std::span<const std::byte> bytes) const;

  const std::string &temporaryPath() const { return temporary; }

  /// Flushes what this process has written.
  Status flush() const;

  /// Flushes to the disk and renames. Call once, after all writes and their flushes; only who created the file may.
  Status commit();

private:
  AtomicFile(std::string path, std::string temporary, int descriptor)
      : path(std::move(path)), temporary(std::move(temporary)), descriptor(descriptor), listed(this->temporary) {}
  AtomicFile(std::string path, int descriptor) : path(std::move(path)), descriptor(descriptor) {}

  std::string path, temporary; // no temporary one: the file stays
  int descriptor = -1;
  ListedFile listed;
};

/// Flushes a folder to the disk: that files have been made in it, renamed or removed. io, with path and reason.
Status flushFolder(const std::string &path);

/// Writes a whole file, or leaves what was there untouched.
Status writeFileAtomically(const std::string &path, std::span<const std::byte> bytes);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_BASE_FILE_H
