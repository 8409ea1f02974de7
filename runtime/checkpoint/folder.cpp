//===- folder.cpp - the checkpoints of a training on disk -----------------===//

#include "runtime/checkpoint/folder.h"

#include "runtime/base/file.h"
#include "runtime/base/format.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace meshplan;

static constexpr std::string_view prefix = "step-", hiddenPrefix = ".step-";
static constexpr const char *recordFile = "/checkpoint.json", *lockFile = "/.lock";

static Status failed(const char *what, const std::string &path, int error) {
  return Status::error(error == ENOENT ? StatusCode::notFound : StatusCode::io, "cannot ", what, " '", path,
                       "': ", std::strerror(error));
}

static std::string nameOf(int64_t step) { return fmt::format("{}{:06}", prefix, step); }

std::string meshplan::checkpointPath(const std::string &folder, int64_t step) { return folder + "/" + nameOf(step); }

std::string meshplan::incompletePath(const std::string &folder, int64_t step) {
  return folder + "/." + nameOf(step) + ".incomplete";
}

static std::string removedPath(const std::string &folder, int64_t step) {
  return folder + "/." + nameOf(step) + ".removed";
}

/// The step in the name of a checkpoint; -1 if it is another name.
static int64_t stepOf(std::string_view name) {
  int64_t step = -1;
  if (!name.starts_with(prefix))
    return -1;
  const char *end = name.data() + name.size();
  auto [rest, error] = std::from_chars(name.data() + prefix.size(), end, step);
  // Written back and compared: "step-10" or "step-+00010" would be a second name of the same step.
  return error == std::errc() && rest == end && step >= 0 && nameOf(step) == name ? step : -1;
}

/// The names of all entries of a folder.
static Expected<std::vector<std::string>> namesIn(const std::string &folder) {
  std::error_code error;
  std::vector<std::string> names;
  std::filesystem::directory_iterator entry(folder, error), end;
  for (; !error && entry != end; entry.increment(error))
    names.push_back(entry->path().filename());
  if (error)
    return failed("open", folder, error.value());
  return names;
}

Expected<std::vector<SavedCheckpoint>> meshplan::listCheckpoints(const std::string &folder) {
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<std::string> names, namesIn(folder));
  std::vector<SavedCheckpoint> found;
  for (const std::string &name : names)
    if (int64_t step = stepOf(name); step >= 0)
      found.push_back({step, folder + "/" + name});
  std::ranges::sort(found, {}, &SavedCheckpoint::step);
  return found;
}

Expected<std::string> meshplan::findCheckpoint(const std::string &path) {
  struct stat info;
  if (::stat((path + recordFile).c_str(), &info) == 0)
    return path;
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<SavedCheckpoint> found, listCheckpoints(path));
  std::filesystem::path normal = std::filesystem::path(path + "/.").lexically_normal().parent_path();
  // "run/step-000010/" and "run/step-000010/." name the same folder.
  if (found.empty() && stepOf(normal.filename().string()) >= 0)
    return path; // reading it reports what it lacks
  if (found.empty())
    return Status::error(
        StatusCode::notFound, path,
        ": neither a checkpoint nor a folder of checkpoints; help: name a folder such as step-000010, or the folder "
        "that contains it");
  return found.back().path;
}

bool meshplan::isOfFolder(const std::string &checkpoint, const std::string &folder) {
  std::error_code ignored;
  std::filesystem::path parent = std::filesystem::path(checkpoint + "/..");
  return !checkpoint.empty() && std::filesystem::equivalent(parent, folder, ignored);
}

/// The owner that is recorded in the lock file, "process 1234 on node0"; "another process" if it cannot be read.
static std::string ownerOf(int descriptor) {
  char text[256];
  ssize_t size = ::pread(descriptor, text, sizeof text, 0);
  return size > 0 ? std::string(text, static_cast<size_t>(size)) : "another process";
}

static Status writeOwner(int descriptor, const std::string &path) {
  char host[128] = "";
  ::gethostname(host, sizeof host - 1);
  std::string owner = "process " + std::to_string(::getpid()) + " on " + host;
  bool isWritten = ::ftruncate(descriptor, 0) == 0 &&
                   ::pwrite(descriptor, owner.data(), owner.size(), 0) == static_cast<ssize_t>(owner.size());
  return isWritten ? Status() : failed("write", path, errno);
}

Expected<CheckpointFolder> CheckpointFolder::open(const std::string &path, int64_t keep) {
  MESHPLAN_RETURN_IF_ERROR(makeFolders(path));
  std::string lockPath = path + lockFile;
  // The file is never removed: another process may have opened it, and would then lock a removed file. It is locked on
  // the file system and not by a process id in the file: an id says nothing on another machine, and may be reused on
  // this one.
  int descriptor = ::open(lockPath.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return failed("write", lockPath, errno);
  CheckpointFolder folder(path, keep, descriptor);
  // The kernel releases the lock when the process ends in any way, so a crashed run never blocks the next one.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      return failed("lock", lockPath, errno);
    return Status::error(StatusCode::invalid, path, ": ", ownerOf(descriptor),
                         " writes checkpoints there; help: end it, or name another folder");
  }
  MESHPLAN_RETURN_IF_ERROR(writeOwner(descriptor, lockPath));
  MESHPLAN_RETURN_IF_ERROR(folder.removeLeftovers());
  return folder;
}

CheckpointFolder::CheckpointFolder(CheckpointFolder &&other) noexcept
    : path(std::move(other.path)), keep(other.keep), lock(std::exchange(other.lock, -1)) {}

CheckpointFolder::~CheckpointFolder() {
  if (lock >= 0)
    ::close(lock);
}

static Status removeAll(const std::string &path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  return error ? failed("remove", path, error.value()) : Status();
}

Status CheckpointFolder::removeLeftovers() const {
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<std::string> names, namesIn(path));
  for (const std::string &name : names)
    // Hidden names are incomplete or half-removed checkpoints. The lock guarantees that no other run is writing them.
    if (name.starts_with(hiddenPrefix))
      MESHPLAN_RETURN_IF_ERROR(removeAll(path + "/" + name));
  return Status();
}

Status CheckpointFolder::checkGoesOn(int64_t step) const {
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<SavedCheckpoint> found, listCheckpoints(path));
  // Equal too: resuming from the last checkpoint is the usual case, and starting at it again saves nothing new.
  if (found.empty() || found.back().step <= step)
    return Status();
  std::string last = std::to_string(found.back().step);
  if (step == 0)
    return Status(StatusCode::invalid, path + ": it already has checkpoints, the last of step " + last +
                                           "; help: continue from it with --resume, or name another folder");
  return Status::error(StatusCode::invalid, path, ": it has checkpoints of steps after ", step,
                       ", where this run continues, the last of step ", last,
                       "; help: continue from that one, or name another folder");
}

/// Renames a folder to `target`. A folder that exists there is exchanged atomically and is then at `made`.
static Status putAt(const std::string &made, const std::string &target) {
  if (::rename(made.c_str(), target.c_str()) == 0)
    return Status();
  // A rename onto a folder with content fails, by either of these codes. Removing the old one first would leave a
  // moment without any.
  bool isTaken = errno == ENOTEMPTY || errno == EEXIST;
  if (isTaken && ::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0)
    return Status();
  return failed("write", target, errno);
}

Status CheckpointFolder::commit(int64_t step) {
  // The order makes the commit atomic: the content is durable before the rename, and the rename before an older
  // checkpoint is removed. After an exchange, discard removes the previous checkpoint of this step. What a crash
  // leaves:
  //
  //   before the rename        the incomplete folder; the earlier checkpoints are complete
  //   between both flushes     either name, and a complete content under it
  //   after the second flush   the new checkpoint, and possibly old ones too many, each of them complete
  //
  // The next run removes every hidden name (removeLeftovers), and old checkpoints when it commits.
  std::string made = incompletePath(path, step);
  MESHPLAN_RETURN_IF_ERROR(flushFolder(made));
  MESHPLAN_RETURN_IF_ERROR(putAt(made, checkpointPath(path, step)));
  MESHPLAN_RETURN_IF_ERROR(flushFolder(path));
  MESHPLAN_RETURN_IF_ERROR(discard(step));
  return removeOld(step);
}

Status CheckpointFolder::discard(int64_t step) { return removeAll(incompletePath(path, step)); }

Status CheckpointFolder::removeOld(int64_t newest) const {
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<SavedCheckpoint> found, listCheckpoints(path));
  int64_t others = static_cast<int64_t>(found.size()) - keep;
  std::vector<std::string> renamed;
  for (const SavedCheckpoint &old : found) {
    // Checkpoints of later steps than the newest are of another training (checkGoesOn); they are not this run's to
    // remove.
    if (keep == 0 || others-- <= 0 || old.step >= newest)
      break;
    renamed.push_back(removedPath(path, old.step));
    if (::rename(old.path.c_str(), renamed.back().c_str()) != 0)
      return failed("remove", old.path, errno);
  }
  // Renamed first, and durably: a half-removed folder must not look like a checkpoint, also after a crash of the
  // machine.
  if (!renamed.empty())
    MESHPLAN_RETURN_IF_ERROR(flushFolder(path));
  for (const std::string &removed : renamed)
    MESHPLAN_RETURN_IF_ERROR(removeAll(removed));
  return Status();
}
