//===- file.h - mapped reading and atomic writing of files ------*- C++ -*-===//
//
// Files are read through a memory map, so that a rank touches only the pages that it needs. They are written under a
// temporary name and renamed, so that a file is either complete or absent.
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

/// A whole file mapped for reading. Move only. The bytes live as long as the object. Thread safe after opening.
class MappedFile {
public:
  /// notFound: there is no such file; io: it cannot be read.
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

/// Splits `bytes` into read-ahead requests that together cover every page, in order, each starting at a page boundary.
/// The system serves only the first part of a long request (its read-ahead window, or one disk request) and drops the
/// rest. No request is longer than that.
std::vector<std::span<const std::byte>> readAheadRequests(std::span<const std::byte> bytes, size_t pageSize);

/// Tells the system that these bytes of a mapped file are read next, so that it reads them ahead in large requests. A
/// hint: if the system drops it, pages are read one fault at a time. No effect on bytes that are not of a file.
void willRead(std::span<const std::byte> bytes);

/// A file under construction. Through a link, the target of the link is written. The file appears under its name,
/// complete, when commit succeeds. Otherwise the destructor, or a signal that ends the process (temporary_files.h),
/// removes the temporary file. Several threads may write different ranges at the same time, and so may processes that
/// attach.
class AtomicFile {
public:
  struct Names {
    std::string path;      ///< the final path; a link is resolved
    std::string temporary; ///< the name during construction, in the same folder
  };

  /// Chooses the names of a new file; the temporary one is random. invalid, with path and reason, where no file can be
  /// created: at a folder, a device, or a dangling link.
  static Expected<Names> chooseNames(const std::string &path);

  /// Creates the temporary file. io, with path and reason, when the folder is not writable.
  static Expected<AtomicFile> create(const Names &names);
  static Expected<AtomicFile> create(const std::string &path);

  /// Opens the temporary file of another process. The destructor removes that file too, in case the other process has
  /// died: destroy this object after the other has committed.
  static Expected<AtomicFile> attach(const std::string &path, const std::string &temporary);

  /// Opens or creates a file at its final path, in a folder that is itself created under a temporary name. Any number
  /// of threads and processes may do so without coordination. The file stays when the object is destroyed; there is no
  /// commit.
  static Expected<AtomicFile> join(const std::string &path);

  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&) = delete;
  ~AtomicFile();

  Status resize(int64_t size);
  Status write(int64_t offset, std::span<const std::byte> bytes) const;

  const std::string &temporaryPath() const { return temporary; }

  /// Flushes to disk what this process has written.
  Status flush() const;

  /// Flushes to disk and renames. Call once, after all writes and their flushes, and only in the process that created
  /// the file.
  Status commit();

private:
  AtomicFile(std::string path, std::string temporary, int descriptor)
      : path(std::move(path)), temporary(std::move(temporary)), descriptor(descriptor), listed(this->temporary) {}
  AtomicFile(std::string path, int descriptor) : path(std::move(path)), descriptor(descriptor) {}

  std::string path, temporary; // empty temporary (join): the file stays
  int descriptor = -1;
  ListedFile listed;
};

/// Flushes a folder to disk, so that the creation, renaming or removal of its files is durable. io, with path and
/// reason.
Status flushFolder(const std::string &path);

/// Flushes the folder in which `path` is an entry, as flushFolder does.
Status flushParent(const std::string &path);

/// Creates a folder and its parents, as far as they do not exist, durably. notFound or io, with path and reason.
Status makeFolders(const std::string &path);

/// Writes a whole file. On failure the previous content is untouched.
Status writeFileAtomically(const std::string &path, std::span<const std::byte> bytes);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_BASE_FILE_H
