//===- file.cpp - mapped reading and atomic writing of files --------------===//

#include "runtime/base/file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace meshplan {

namespace {

Status systemError(const std::string &path, const char *what) {
  int error = errno;
  StatusCode code = error == ENOENT ? StatusCode::notFound : StatusCode::io;
  return Status::error(code, "cannot ", what, " '", path, "': ", std::strerror(error));
}

Status cannotWrite(const std::string &path, const char *reason) {
  return Status::error(StatusCode::invalid, "cannot write '", path, "': ", reason);
}

/// Closes a file descriptor at the end of its scope.
struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0)
      ::close(value);
  }
};

} // namespace

Expected<MappedFile> MappedFile::open(const std::string &path) {
  // O_NONBLOCK: opening a pipe must not wait for a writer. It has no effect on regular files. The map stays when the
  // descriptor is closed.
  Descriptor descriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat info;
  if (descriptor.value < 0 || ::fstat(descriptor.value, &info) != 0)
    return systemError(path, "open");
  if (!S_ISREG(info.st_mode))
    return Status::error(StatusCode::invalid, "cannot open '", path, "': it is not a regular file");
  size_t size = static_cast<size_t>(info.st_size);
  if (size == 0) // an empty map is an error of the system call
    return MappedFile(path, nullptr, 0);
  // Private and read-only: no write of this process can reach the file, and pages are shared with other processes all
  // the same.
  void *data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.value, 0);
  if (data == MAP_FAILED)
    return systemError(path, "map");
  return MappedFile(path, static_cast<const std::byte *>(data), size);
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : filePath(std::move(other.filePath)), data(std::exchange(other.data, nullptr)), size(std::exchange(other.size, 0)),
      listed(std::move(other.listed)) {}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(filePath, other.filePath);
  std::swap(data, other.data);
  std::swap(size, other.size);
  std::swap(listed, other.listed);
  return *this;
}

MappedFile::~MappedFile() {
  // Out of the list first, so that no fault handler maps a page where nothing is mapped any more.
  listed = ListedMap();
  if (data)
    ::munmap(const_cast<std::byte *>(data), size);
}

std::vector<std::span<const std::byte>> readAheadRequests(std::span<const std::byte> bytes, size_t pageSize) {
  // The request size that Linux serves as a whole; see the header.
  constexpr size_t longest = 512 << 10;
  // madvise takes whole pages, so a request begins with that of the first byte.
  size_t before = reinterpret_cast<uintptr_t>(bytes.data()) % pageSize;
  const std::byte *begin = bytes.data() - before, *end = bytes.data() + bytes.size();
  std::vector<std::span<const std::byte>> requests;
  if (bytes.empty())
    return requests;
  for (; begin < end; begin += requests.back().size())
    requests.emplace_back(begin, std::min<size_t>(longest, end - begin));
  return requests;
}

void willRead(std::span<const std::byte> bytes) {
  for (std::span<const std::byte> request : readAheadRequests(bytes, ::sysconf(_SC_PAGESIZE)))
    (void)::madvise(const_cast<std::byte *>(request.data()), request.size(), MADV_WILLNEED);
}

Expected<AtomicFile::Names> AtomicFile::chooseNames(const std::string &path) {
  // Refuses an impossible path at the start of a run, not at its end.
  struct stat info;
  bool exists = ::stat(path.c_str(), &info) == 0, isLoop = !exists && errno == ELOOP;
  // The final rename would replace a device or a pipe with a file.
  if (exists && !S_ISREG(info.st_mode))
    return cannotWrite(path, S_ISDIR(info.st_mode) ? "Is a directory" : "it is not a regular file");
  std::error_code ignored;
  if (isLoop)
    return cannotWrite(path, "its links form a cycle");
  bool isLink = std::filesystem::is_symlink(path, ignored);
  if (isLink && !exists)
    return cannotWrite(path, "it is a broken link");
  std::string target = isLink ? std::filesystem::canonical(path, ignored).string() : path;
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device device;
  std::uniform_int_distribution<size_t> draw(0, letters.size() - 1);
  std::string temporary = target + ".";
  // Random, so that processes that write the same path do not share a temporary file. It is in the same folder, since a
  // rename cannot cross file systems.
  for (int i = 0; i < 6; ++i)
    temporary += letters[draw(device)];
  return Names{std::move(target), std::move(temporary)};
}

Expected<AtomicFile> AtomicFile::create(const Names &names) {
  // No signal may end the process between creating the file and listing it for removal.
  SignalPause pause;
  // O_EXCL: a file of this name would be of another process that drew the same letters.
  int descriptor = ::open(names.temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return systemError(names.path, "write");
  return AtomicFile(names.path, names.temporary, descriptor);
}

Expected<AtomicFile> AtomicFile::create(const std::string &path) {
  MESHPLAN_ASSIGN_OR_RETURN(Names names, chooseNames(path));
  return create(names);
}

Expected<AtomicFile> AtomicFile::attach(const std::string &path, const std::string &temporary) {
  int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT)
    return Status::error(
        StatusCode::notFound, "cannot write '", path, "': '", temporary,
        "', which another process has created, is missing; help: name a folder that all processes share");
  if (descriptor < 0)
    return systemError(path, "write");
  return AtomicFile(path, temporary, descriptor);
}

Expected<AtomicFile> AtomicFile::join(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return systemError(path, "write");
  return AtomicFile(path, descriptor);
}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept
    : path(std::move(other.path)), temporary(std::move(other.temporary)),
      descriptor(std::exchange(other.descriptor, -1)), listed(std::move(other.listed)) {}

AtomicFile::~AtomicFile() {
  if (descriptor < 0)
    return;
  ::close(descriptor);
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}

Status AtomicFile::resize(int64_t size) {
  return ::ftruncate(descriptor, size) == 0 ? Status() : systemError(path, "write");
}

Status AtomicFile::write(int64_t offset, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    ssize_t written = ::pwrite(descriptor, bytes.data(), bytes.size(), offset);
    // Signals that ask for a stop must not fail a checkpoint.
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return systemError(path, "write");
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += written;
  }
  return Status();
}

Status AtomicFile::flush() const { return ::fsync(descriptor) == 0 ? Status() : systemError(path, "write"); }

Status AtomicFile::commit() {
  // Otherwise the rename could survive a crash of the machine while the data does not.
  MESHPLAN_RETURN_IF_ERROR(flush());
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return systemError(path, "write");
  // A signal that comes after the rename removes a name that no longer exists.
  ::close(std::exchange(descriptor, -1));
  listed = ListedFile();
  return Status();
}

Status flushFolder(const std::string &path) {
  Descriptor descriptor{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (descriptor.value < 0 || ::fsync(descriptor.value) != 0)
    return systemError(path, "write");
  return Status();
}

Status flushParent(const std::string &path) {
  std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return flushFolder(parent.empty() ? "." : parent.string());
}

Status makeFolders(const std::string &path) {
  std::error_code error;
  std::vector<std::string> made;
  // A path is not normalized: where it leads through a link, `..` is not the parent in the text.
  for (std::filesystem::path each = path; !each.empty() && !std::filesystem::exists(each, error);
       each = each.parent_path())
    made.push_back(each);
  if (!std::filesystem::create_directories(path, error) && error) {
    errno = error.value();
    return systemError(path, "make folder");
  }
  // A new folder is durable only when the entry in its parent is.
  for (const std::string &each : made)
    MESHPLAN_RETURN_IF_ERROR(flushParent(each));
  return Status();
}

Status writeFileAtomically(const std::string &path, std::span<const std::byte> bytes) {
  MESHPLAN_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path));
  MESHPLAN_RETURN_IF_ERROR(file.write(0, bytes));
  return file.commit();
}

} // namespace meshplan
